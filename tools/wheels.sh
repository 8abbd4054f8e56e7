#!/usr/bin/env bash
# Builds the wheels, one for Python 3.11 and one for 3.12 and later (the stable ABI), and runs a short
# choice of the tests on each Python of VERSIONS that is found, in a fresh environment with the wheel
# in it. `make wheels` prepares .venv and calls this; arguments of pytest replace the choice, and then
# all that tests need is installed.
set -euo pipefail
cd "$(dirname "$0")/.."
VERSIONS=(3.11 3.12 3.13)
CHOSEN=(
  'tests/test_docs.py::test_examples_print_what_the_page_says[README.md]'
  tests/saving/test_model_file.py tests/linear_model/test_perceptron.py
  tests/linear_model/test_custom_rule.py tests/io/test_csv_tables.py tests/cli/test_train.py
  tests/activity/log/test_store.py tests/activity/app/test_demo.py
)
needs=few-tests
if [ $# -gt 0 ]; then CHOSEN=("$@") needs=test; fi

# A Python of this version that can make environments and has the headers to build with: from PATH
# or from pyenv.
find_python() { # version
  local python
  for python in "$(command -v "python$1")" \
    "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"$1".*/bin/"python$1"; do
    "$python" - "$1" 2>/dev/null <<'PY' && echo "$python" && return
import ensurepip, os, sys, sysconfig, venv
has_headers = os.path.exists(sysconfig.get_path("include") + "/Python.h")
sys.exit("%d.%d" % sys.version_info[:2] != sys.argv[1] or not has_headers)
PY
  done
  return 0
}

# The wheel that a Python takes. That of .venv's own version is made of what `make` has compiled.
wheel_for() { # python, version
  local tools=build/wheels/tools core=build/wheels/core wheel tag=cp312-abi3
  if [ "$2" = 3.11 ]; then tag=cp311-cp311; fi
  wheel=$(find build/wheels -maxdepth 1 -name "*-$tag-*.whl")
  if [ -n "$wheel" ]; then
    echo "$wheel"
    return
  fi
  if .venv/bin/python -c "import sys; sys.exit('%d.%d' % sys.version_info[:2] != '$2')"; then
    tools=.venv core=build/core
  else
    tools/setup.sh "$1" $tools >&2
  fi
  . $tools/compiler
  "$tools/bin/python" tools/progress.py wheel --no-deps --no-build-isolation \
    -C build-dir="$core" --wheel-dir build/wheels . >&2
  find build/wheels -maxdepth 1 -name "*-$tag-*.whl"
}

rm -rf build/wheels
mkdir -p build/wheels
. .venv/compiler
found=() failed=()
for version in "${VERSIONS[@]}"; do
  python=$(find_python "$version")
  if [ -z "$python" ]; then
    echo "Python $version: not found."
    continue
  fi
  echo "Python $version: $python"
  found+=("$version")
  env=build/wheels/python$version
  if wheel=$(wheel_for "$python" "$version") && "$python" -m venv "$env" &&
    "$env/bin/pip" install -qq --no-compile "$wheel[$needs]" && # it is read once
    OPENBLAS_NUM_THREADS=1 "$env/bin/python" -m pytest -q -n auto -m "not slow" "${CHOSEN[@]}"
  then
    echo "Python $version: $(basename "$wheel") passed."
  else
    echo "Python $version: failed." >&2
    failed+=("$version")
  fi
done
echo "Tested on Python ${found[*]:-(none was found)}${failed:+; failed on ${failed[*]}}."
[ ${#failed[@]} = 0 ] && [ ${#found[@]} -gt 0 ]
