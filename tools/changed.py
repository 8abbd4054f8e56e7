"""Print the tests of what changed since main: python tools/changed.py [BASE]

What counts is the difference between the files here, committed or not, and the commit at which this
branch left main. Of a module, the tests are those in the folder that mirrors its own, those that
name it, and the examples in it.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

#: what has no folder of tests that mirrors it
ELSEWHERE = {
    "core": ("tests/core", "tests/linear_model"),
    "docs": ("tests/test_docs.py",),
    "examples": ("tests/test_docs.py",),
    "tools": ("tests/test_setup.py", "tests/test_docs.py"),
    "README.md": ("tests/test_docs.py",),
    "Makefile": ("tests/test_setup.py",),
    "conftest.py": ("tests/test_setup.py",),
}


def changed(base: str) -> list[str]:
    """The files that differ from where this branch left the base, and those git does not know."""

    def git(*command: str) -> str:
        return subprocess.run(["git", *command], capture_output=True, text=True, check=True).stdout

    since = git("merge-base", base, "HEAD").strip()
    unknown = git("ls-files", "--others", "--exclude-standard")
    return sorted({*git("diff", "--name-only", since).splitlines(), *unknown.splitlines()})


def tests_of(name: str, root: Path) -> set[Path]:
    """The files and folders of tests that a changed file may break, and the file's own examples."""
    path = Path(name)
    if path.parts[0] in ELSEWHERE:
        return {root / found for found in ELSEWHERE[path.parts[0]]}
    if path.parts[0] == "tests":
        if path.name.startswith("test_") and path.suffix == ".py":
            return {root / path}
        return set() if len(path.parts) == 2 else {root / path.parent}
    inside = path.parts[2:] if path.parts[:2] == ("src", "yarrow") else path.parts
    if len(inside) == 1:
        found = {root / "tests" / f"test_{path.stem}.py"}
    else:  # the deepest that there is
        mirrors = [
            root.joinpath("tests", *inside[:depth]) for depth in range(len(inside) - 1, 0, -1)
        ]
        found = set([one for one in mirrors if one.exists()][:1])
    if path.suffix == ".py" and path.parts[0] == "src":
        package, module = ".".join(("yarrow", *inside[:-1])), re.escape(path.stem)
        imported = re.compile(
            rf"{re.escape(package)}\.{module}\b|from {re.escape(package)} import .*\b{module}\b"
        )
        tests = (root / "tests").rglob("test_*.py")
        found |= {one for one in tests if imported.search(one.read_text(encoding="utf-8"))}
        found.add(root / path)
    return found


def chosen(names: Iterable[str], root: Path) -> list[str]:
    """The tests to run: what exists, and no file beside its folder."""
    found = {one for name in names for one in tests_of(name, root) if one.exists()}
    kept = [one for one in found if not any(parent in found for parent in one.parents)]
    return sorted(str(one.relative_to(root)) for one in kept)


if __name__ == "__main__":
    base = sys.argv[1] if len(sys.argv) > 1 else "main"
    print(*chosen(changed(base), Path(__file__).parents[1]))
