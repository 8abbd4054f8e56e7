"""A river model behind FastAPI: `uvicorn benchmarks.serve_peers:app`.

With YARROW_BENCH_LOG=FILE each label is appended to a file and synced before it is acknowledged,
the simplest way to lose none.
"""

from __future__ import annotations

import json
import os
import threading
from typing import Any

from fastapi import FastAPI
from pydantic import BaseModel
from river import linear_model

app = FastAPI()
model = linear_model.PAClassifier()
lock = threading.Lock()
path = os.environ.get("YARROW_BENCH_LOG")
file = open(path, "ab") if path else None  # noqa: SIM115


class Row(BaseModel):
    """A row, and its label if it is to be learned."""

    row: dict[str, float]
    label: int | None = None


@app.post("/predict")
async def predict(row: Row) -> dict[str, Any]:
    """Predict a row."""
    return {"label": model.predict_one(row.row)}


@app.post("/learn")
def learn(row: Row) -> dict[str, Any]:
    """Learn a row; in a thread, as a sync would stop the event loop."""
    with lock:
        if file is not None:
            file.write(json.dumps([row.row, row.label]).encode() + b"\n")
            file.flush()
            os.fdatasync(file.fileno())
        model.learn_one(row.row, bool(row.label))
    return {}
