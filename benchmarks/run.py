"""Measures Yarrow beside its peers and writes RESULTS.md.

    python -m benchmarks.run                    all sections, each in a process of its own
    python -m benchmarks.run memory text        some of them
    python -m benchmarks.run --peers-only ...   without Yarrow: prints what there is to beat

Real data is read from the folder YARROW_DATA; generated files are kept in YARROW_BENCH_DATA.
"""

from __future__ import annotations

import argparse
import subprocess
import sys

from benchmarks.measure import Comparison, machine, publish, race, table
from benchmarks.sections import SECTIONS

OURS = "Yarrow"


def report(comparison: Comparison, repeat: int, peers_only: bool) -> str:
    """Runs a comparison; its tables as Markdown."""
    contenders = comparison.contenders
    if peers_only:
        contenders = {k: run for k, run in contenders.items() if not k.startswith(OURS)}
    best = race(contenders, repeat)
    rows = [[k, f"{t:.3f}", f"{t * comparison.scale:.2f}"] for k, t in best.items()]
    text = f"### {comparison.title}\n\n{table(['', 'seconds', comparison.unit], rows)}"
    if peers_only:
        return text
    bars = [bar.row() for bar in comparison.bars(best)]
    if bars:
        text += "\n\n" + table(["bar", "asked", "measured", ""], bars)
    return text + "".join(f"\n\n{note}" for note in comparison.notes(best))


def main() -> None:
    parser = argparse.ArgumentParser(description="Measures Yarrow beside its peers.")
    parser.add_argument("sections", nargs="*", help=f"{', '.join(SECTIONS)}; default: all")
    parser.add_argument("--repeat", type=int, default=5, help="runs per contender, best counts")
    parser.add_argument("--peers-only", action="store_true", help="leave Yarrow out; only print")
    options = parser.parse_args()
    if unknown := set(options.sections) - set(SECTIONS):
        parser.error(f"no section {', '.join(unknown)}; there are {', '.join(SECTIONS)}")

    if len(options.sections) != 1:  # each in a fresh process, so that none inherits a full memory
        flags = [f"--repeat={options.repeat}", *["--peers-only"] * options.peers_only]
        for name in options.sections or SECTIONS:
            subprocess.run([sys.executable, "-m", "benchmarks.run", name, *flags], check=True)
        return

    [name] = options.sections
    comparisons = SECTIONS[name]()
    texts = [report(c, options.repeat, options.peers_only) for c in comparisons]
    arguments = name if options.repeat == 5 else f"'{name} --repeat {options.repeat}'"
    command = f"`make bench ARGS={arguments}`, best of {options.repeat}. {machine()}"
    text = "\n\n".join([f"## {name}", command, *texts])
    if options.peers_only:
        print(text)
    else:
        publish(name, text)


if __name__ == "__main__":
    main()
