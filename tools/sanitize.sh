#!/usr/bin/env bash
# Runs the C++ tests and a choice of the Python tests under AddressSanitizer and UBSan, then the C++
# tests and the threaded Python tests under ThreadSanitizer. Arguments of pytest, if there are any,
# replace the choice. `make sanitize` prepares .venv and calls this.
set -euo pipefail
cd "$(dirname "$0")/.."
export CXX=g++
if ! command -v $CXX >/dev/null; then
  echo "yarrow: the sanitizers need g++ (Debian, Ubuntu: apt install g++)." >&2
  exit 1
fi
# ThreadSanitizer stops where addresses are randomised widely, as newer kernels do.
if [ -z "${FIXED_ADDRESSES-}" ] && setarch -R true 2>/dev/null; then
  FIXED_ADDRESSES=1 exec setarch -R "$0" "$@"
fi

# A second environment, build/sanitize-*, borrows the packages of .venv and has its own yarrow.
install_sanitized() { # sanitizers
  local env=build/sanitize-${1%%,*}
  .venv/bin/python -m venv --without-pip "$env"
  local packages='import sysconfig; print(sysconfig.get_path("purelib"))'
  .venv/bin/python -c "$packages" >"$("$env/bin/python" -c "$packages")/borrowed.pth"
  .venv/bin/pip --python "$env/bin/python" install -qq --no-deps --no-build-isolation \
    -C build-dir="$env/core" -C cmake.build-type=Debug -C cmake.define.YARROW_SANITIZE="$1" .
}

# What reaches every loop, strategy and route of the core. Of the contract, which asks the same of
# every estimator with every choice of its parameters, what is about memory: features and classes
# that come at any time, rows that are refused and undone, state that is taken out and put back.
CHOSEN=(
  tests/linear_model tests/io tests/feature_selection
  tests/contract/test_threads.py tests/contract/test_without_labels.py
  tests/contract/test_bad_input.py::test_arrays_are_refused_whole
  tests/contract/test_names.py::test_features_and_classes_may_appear_at_any_time
  tests/contract/test_overflow.py::test_extreme_rows_are_learned_or_refused
  tests/contract/test_save_load.py::test_reading_changes_nothing
)
if [ $# -gt 0 ]; then CHOSEN=("$@"); fi

# Python itself is not sanitized, so the sanitizer and the C++ library that it watches come first.
# --capture=sys leaves standard error to the sanitizer's report.
python_tests() { # sanitizers, library, arguments of pytest
  local env=build/sanitize-${1%%,*} libraries
  libraries="$($CXX -print-file-name="$2") $($CXX -print-file-name=libstdc++.so.6)"
  LD_PRELOAD=$libraries PYTHONMALLOC=malloc "$env/bin/python" -m pytest -q -n auto \
    --capture=sys "${@:3}"
}

cpp_tests() { # sanitizers
  YARROW_SANITIZE=$1 .venv/bin/pytest -q tests/core/test_core.py
}

export ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1
export TSAN_OPTIONS=halt_on_error=1 # pytest's workers would end well in spite of a report
install_sanitized address,undefined
cpp_tests address,undefined
ASAN_OPTIONS=detect_leaks=0 python_tests address,undefined libasan.so -m "not slow" "${CHOSEN[@]}"

install_sanitized thread
cpp_tests thread
python_tests thread libtsan.so -m threads tests/contract/test_threads.py tests/contract/test_jobs.py
