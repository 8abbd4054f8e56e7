#!/usr/bin/env bash
# Runs the C++ and the Python tests under AddressSanitizer and UBSan, then the C++ tests and the
# threaded Python tests under ThreadSanitizer. Arguments go to pytest.
# `make sanitize` prepares .venv and calls this.
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

# Python itself is not sanitized, so the sanitizer and the C++ library that it watches come first.
# --capture=sys leaves standard error to the sanitizer's report.
python_tests() { # sanitizers, library, arguments of pytest
  local env=build/sanitize-${1%%,*} libraries
  libraries="$($CXX -print-file-name="$2") $($CXX -print-file-name=libstdc++.so.6)"
  LD_PRELOAD=$libraries PYTHONMALLOC=malloc "$env/bin/python" -m pytest --capture=sys \
    tests --ignore=tests/core/test_core.py "${@:3}"
}

cpp_tests() { # sanitizers, arguments of pytest
  YARROW_SANITIZE=$1 .venv/bin/pytest tests/core/test_core.py "${@:2}"
}

export ASAN_OPTIONS=detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1
install_sanitized address,undefined
cpp_tests address,undefined "$@"
ASAN_OPTIONS=detect_leaks=0 python_tests address,undefined libasan.so -m "not slow" "$@"

install_sanitized thread
cpp_tests thread "$@"
python_tests thread libtsan.so -m threads "$@"
