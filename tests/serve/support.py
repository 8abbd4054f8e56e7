"""What the tests of the service share: rows, and models compared by the bytes of their files."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from yarrow.serve.learning import Row
from yarrow.serve.service import Service

FEATURES = 8


def labelled_rows(n: int, seed: int = 0, classes: int = 3) -> list[tuple[dict[str, float], str]]:
    """Rows with names, and labels that depend on them."""
    source = random.Random(seed)
    found = []
    for _ in range(n):
        label = source.randrange(classes)
        row = {f"c{j}": round(source.gauss(j % classes == label, 1), 3) for j in range(FEATURES)
               if source.random() < 0.6}  # fmt: skip
        found.append((row, "abc"[label]))
    return found


def teach(service: Service, name: str, rows: Any, first: int = 0, source: str | None = None) -> Any:
    """Learn rows one event each, with ids by their number."""
    listed = [Row(x, y, 1.0, f"row {i}") for i, (x, y) in enumerate(rows, first)]
    return service.run(service.learning(name, listed, source))


def file_of(model: Any, path: Path) -> bytes:
    """The bytes of a model's file."""
    model.save(path)
    return path.read_bytes()


def service_file(service: Service, name: str, path: Path) -> bytes:
    """The bytes of a model's file in a service, when all replays are done."""
    champion = service.model(name).champion
    service.rebuilder.wait(champion, 60)
    return file_of(service.live(champion), path)


def files_of(folder: Path) -> bytes:
    """All bytes of a directory."""
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())
