"""A process that makes services and is made to be killed: `test_killed.py` starts it.

It waits for orders, a line each: a directory, a level and a seed. For each it forks a service under
load (so nothing has to be imported anew), says its process id, and says when it has ended. Threads
learn rows, send some ids again, take labels back, erase some, promote a challenger.
What was acknowledged goes to a file.
"""

from __future__ import annotations

import contextlib
import os
import random
import sys
import threading
from pathlib import Path

from serve.support import labelled_rows

from yarrow.errors import YarrowError
from yarrow.serve import history, snapshots
from yarrow.serve.learning import Block, Row
from yarrow.serve.service import Service

THREADS = 4
ROWS = labelled_rows(500, seed=9)


def work(folder: Path, level: str, seed: int) -> None:
    """Learn under load until somebody ends it."""
    snapshots.AT_LEAST, snapshots.SHARE = 0.002, 0.5  # many of them
    acks = os.open(folder / "acks", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    service = Service(folder / "data", level=level)  # type: ignore[arg-type]
    try:
        if "m" not in service.models:
            service.run(service.creating("m", {"learner": "arow"}))
        if len(service.model("m").versions) == 1:
            service.run(service.challenging("m", {"learner": "arow", "parameters": {"r": 0.1}}))
    except YarrowError:
        os._exit(1)

    def load(thread: int) -> None:
        source = random.Random(seed * 100 + thread)
        i = seed * 100_000  # no id of another round, but for those that are sent again
        while True:
            choice = source.random()
            if choice < 0.03:
                target = f"{thread}-{source.randrange(max(1, seed * 100_000), i + 1)}"
                undo(thread, i, target, erase=choice < 0.01)
            elif choice < 0.035:
                promote(source.choice(list(service.model("m").versions)))
            elif choice < 0.1:
                stream = f"stream-{thread}"
                line = service.stream_position("m", stream) + 1
                text = b"".join(b"%d | c%d:1 x\n" % (1 + j % 2, (i + j) % 9) for j in range(5))
                block = Block("vw", 1, line, text, stream)
                answer = service.run(service.learning_block("m", block))
                os.write(acks, f"S {stream} {answer['line']}\n".encode())
            else:
                if choice > 0.2 or i == seed * 100_000:
                    i += 1
                id = f"{thread}-{i}"
                x, y = ROWS[(i * 7 + thread) % len(ROWS)]
                (answer,) = service.run(service.learning("m", [Row(x, y, 1.0, id)]))
                os.write(acks, f"L {id} {answer['event']}\n".encode())

    def promote(version: int) -> None:
        with contextlib.suppress(YarrowError):  # it is being made
            service.run(service.promoting("m", version))

    def undo(thread: int, i: int, target: str, erase: bool) -> None:
        try:
            chosen = history.Selection(ids=[target])
            operation = history.undoing(service, "m", chosen, id=f"undo {target}", erase=erase)
            answer = service.run(operation)
            os.write(acks, f"U {target} {answer['event']}\n".encode())
        except YarrowError:
            pass  # it was never sent

    threads = [threading.Thread(target=load, args=(n,)) for n in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main() -> None:
    """Carry out orders."""
    for order in sys.stdin:
        folder, level, seed = order.rstrip("\n").split("\t")
        process = os.fork()
        if process == 0:
            try:
                work(Path(folder), level, int(seed))
            finally:
                os._exit(1)
        print(process, flush=True)
        os.waitpid(process, 0)
        print("ended", flush=True)


if __name__ == "__main__":
    main()
