"""Builds the C++ tests of the core with CMake, in build/, and runs each as one test.

The fuzzers' kept inputs are replayed too, through the compiler and the sanitizers in use here.
"""

import fcntl
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FUZZERS = ROOT / "tests" / "fuzz"
SANITIZE = os.environ.get("YARROW_SANITIZE", "")
BUILD = ROOT / "build" / (f"tests-{SANITIZE.partition(',')[0]}" if SANITIZE else "tests")
PATH = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])


def run(*command: str | Path) -> None:
    """Run a command; its output is the message of the failure."""
    cmd = [str(part) for part in command]
    done = subprocess.run(cmd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        pytest.fail(f"{' '.join(cmd)} ended with {done.returncode}\n{done.stdout}", pytrace=False)


@pytest.fixture(scope="module")
def cmake() -> str:
    program = shutil.which("cmake", path=PATH)
    assert program, "cmake is not installed"
    ninja = shutil.which("ninja", path=PATH)
    make = ["-G", "Ninja", f"-DCMAKE_MAKE_PROGRAM={ninja}"] if ninja else []
    BUILD.mkdir(parents=True, exist_ok=True)
    with (BUILD / "lock").open("w") as lock:  # another worker may be about to do the same
        fcntl.flock(lock, fcntl.LOCK_EX)
        run(program, "-S", ROOT, "-B", BUILD, *make, f"-DYARROW_SANITIZE={SANITIZE}")
        # All at once and in parallel; what does not compile is reported by its own test below.
        keep_going = ["--", "-k", "0"] if ninja else []
        subprocess.run([program, "--build", BUILD, *keep_going], capture_output=True)
    return program


@pytest.mark.parametrize("test", sorted(path.stem for path in Path(__file__).parent.glob("*.cpp")))
def test_core(cmake: str, test: str) -> None:
    run(cmake, "--build", BUILD, "--target", test)
    run(BUILD / test)


@pytest.mark.parametrize("fuzzer", sorted(path.stem for path in FUZZERS.glob("*.cpp")))
def test_kept_inputs_of_the_fuzzers(cmake: str, fuzzer: str) -> None:
    run(cmake, "--build", BUILD, "--target", fuzzer)
    run(BUILD / fuzzer, FUZZERS / "corpus" / fuzzer.removeprefix("text_"))
