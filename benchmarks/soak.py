"""A service under load for ten minutes: its memory stays flat and its slowest answers stay quick.

python -m benchmarks.soak [SECONDS]
"""

from __future__ import annotations

import random
import sys
import threading
import time
from pathlib import Path

from benchmarks.serve import served
from yarrow.serve.client import Client

PARTS = 10  # of the time, compared with each other
CLIENTS = 8
NAMES = 3_000


def main() -> None:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 600.0
    stop = threading.Event()
    taken: list[float] = []

    def work(url: str, seed: int) -> None:
        source = random.Random(seed)
        with Client(url) as client:
            while not stop.is_set():
                row = {f"f{source.randrange(NAMES)}": source.random() for _ in range(67)}
                began = time.perf_counter()
                found = client.predict("m", row)
                taken.append(time.perf_counter() - began)
                if source.random() < 0.5:
                    learned = client.feedback("m", found.ticket, source.choice(["a", "b"]))
                    if source.random() < 0.001:
                        client.undo("m", events=[learned.event])

    with served() as (service, client):
        client.create("m", {"learner": "arow"})
        threads = [threading.Thread(target=work, args=(service.url, n)) for n in range(CLIENTS)]
        for thread in threads:
            thread.start()
        print("part   answers/s   p99 of predictions   memory")
        memory = []
        for part in range(PARTS):
            taken.clear()
            time.sleep(seconds / PARTS)
            times = sorted(taken)
            status = Path(f"/proc/{service.process.pid}/status").read_text()
            memory.append(int(status.partition("VmRSS:")[2].split()[0]) / 1024)
            late = times[int(0.99 * len(times))] * 1e3
            rate = len(times) * PARTS / seconds
            print(
                f"{part:>4}   {rate:>9,.0f}   {late:>15.1f} ms   {memory[-1]:>4.0f} MB", flush=True
            )
        stop.set()
        for thread in threads:
            thread.join()
    grown = memory[-1] / memory[PARTS // 2]
    print(f"memory in the second half: {grown:.2f} times")
    sys.exit(grown > 1.1)


if __name__ == "__main__":
    main()
