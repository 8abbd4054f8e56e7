#!/bin/sh
# Makes an environment with the build tools in it, and a file `compiler` there, which names a C++20
# compiler. Where the machine has none, the compiler comes from PyPI (ziglang).
# Usage, from the project's root: tools/setup.sh PYTHON FOLDER
set -eu
python=$1
env=$PWD/$2

fail() {
  echo "yarrow: $*" >&2
  exit 1
}

"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
  fail "Python 3.11 or newer is needed and '$python' is not; name one: make PYTHON=python3.12 ..."
echo "Making $2 with the build tools ..."
"$python" -m venv "$env" ||
  fail "'$python' cannot make a virtual environment; install its venv module (python3-venv)."
pip() { "$env/bin/python" -m pip --disable-pip-version-check -qq "$@"; }
build_tools=$("$env/bin/python" -c 'import tomllib
print(*tomllib.load(open("pyproject.toml", "rb"))["build-system"]["requires"])')
# With setuptools, because a package that the tests need (strict-rfc3339) has no wheel to install.
# shellcheck disable=SC2086 # several words
pip install "pip>=23.1" "setuptools>=70.1" $build_tools cmake ninja

# True where $1 compiles and links a program with the parts of C++20 that old compilers lack.
builds_cpp20() {
  cat >"$env/probe.cpp" <<'EOF'
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
  "$1" -std=c++20 -pthread "$env/probe.cpp" -o "$env/probe" >"$env/probe.log" 2>&1 &&
    "$env/probe"
}

for name in ${CXX:-} c++ g++ clang++; do
  compiler=$(command -v "$name") && builds_cpp20 "$compiler" || continue
  echo "export CXX='$compiler'" >"$env/compiler"
  exit 0
done

echo "No C++20 compiler found; fetching one from PyPI (ziglang) ..."
pip install ziglang || fail "no C++20 compiler was found and none fetched; install g++ 11 or newer."
mkdir -p "$env/zig"
for tool in c++ ar ranlib; do
  flags=
  [ $tool = c++ ] && flags=-mcpu=baseline # else zig compiles for this very processor
  printf '#!/bin/sh\nexec "%s" -m ziglang %s "$@" %s\n' \
    "$env/bin/python" $tool "$flags" >"$env/zig/$tool"
  chmod +x "$env/zig/$tool"
done
builds_cpp20 "$env/zig/c++" ||
  fail "no C++20 compiler works here, not even ziglang ($2/probe.log); install g++ 11 or newer."
echo "export CXX='$env/zig/c++'" >"$env/compiler"
