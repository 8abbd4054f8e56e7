#!/bin/sh
# Makes .venv with the build tools in it, and .venv/compiler, which names a C++20 compiler.
# Where the machine has none, the compiler comes from PyPI (ziglang).
# Usage, from the project's root: tools/setup.sh PYTHON
set -eu
python=$1

fail() {
  echo "yarrow: $*" >&2
  exit 1
}

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
  fail "Python 3.11 or newer is needed and '$python' is not; name one: make PYTHON=python3.12 ..."
"$python" -m venv .venv ||
  fail "'$python' cannot make a virtual environment; install its venv module (python3-venv)."
pip() { .venv/bin/python -m pip --disable-pip-version-check -qq "$@"; }
build_tools=$(.venv/bin/python -c 'import tomllib
print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"])')
# With setuptools, because a package that the tests need (strict-rfc3339) has no wheel to install.
# shellcheck disable=SC2086 # several words
pip install "pip>=23.1" "setuptools>=70.1" $build_tools cmake ninja

# True where $1 compiles and links a program with the parts of C++20 that old compilers lack.
builds_cpp20() {
  cat >.venv/probe.cpp <<'EOF'
#include <bit>
#include <concepts>
#include <cstdint>
#include <span>
#include <thread>
template <std::floating_point T>
bool is_one(std::span<const T> numbers) {
  return std::bit_cast<std::uint64_t>(numbers[0]) == 0x3ff0000000000000;
}
int main() {
  bool one = false;
  double number = 1;
  std::thread([&] { one = is_one(std::span<const double>(&number, 1)); }).join();
  return !one;
}
EOF
  "$1" -std=c++20 -pthread .venv/probe.cpp -o .venv/probe >.venv/probe.log 2>&1 && .venv/probe
}

for name in ${CXX:-} c++ g++ clang++; do
  compiler=$(command -v "$name") && builds_cpp20 "$compiler" || continue
  echo "export CXX='$compiler'" >.venv/compiler
  exit 0
done

echo "No C++20 compiler found; fetching one from PyPI (ziglang) ..."
pip install ziglang || fail "no C++20 compiler was found and none fetched; install g++ 11 or newer."
mkdir -p .venv/zig
for tool in c++ ar ranlib; do
  flags=
  [ $tool = c++ ] && flags=-mcpu=baseline # else zig compiles for this very processor
  printf '#!/bin/sh\nexec "%s" -m ziglang %s "$@" %s\n' \
    "$PWD/.venv/bin/python" $tool "$flags" >.venv/zig/$tool
  chmod +x .venv/zig/$tool
done
builds_cpp20 "$PWD/.venv/zig/c++" ||
  fail "no C++20 compiler works here, not even ziglang (.venv/probe.log); install g++ 11 or newer."
echo "export CXX='$PWD/.venv/zig/c++'" >.venv/compiler
