"""A model and how far it has come, in one file that a rename puts in its place."""

from __future__ import annotations

import os
from typing import Any

from yarrow.errors import ModelFileError
from yarrow.saving import model_file
from yarrow.saving.codec import restored


def save(path: str | os.PathLike[str], model: Any, done: int) -> None:
    """Write a model and the number of the last epoch or batch that it has learned.

    It is a model file like any other, so that `yarrow.load` reads it, too.
    """
    tensors, metadata = model._packed()
    model_file.write(path, tensors, metadata | {"done": done})


def load(path: str | os.PathLike[str], learner: Any) -> tuple[Any, int]:
    """The model and that number; the learner itself and -1, if there is no such file."""
    if not os.path.exists(path):
        return learner, -1
    tensors, metadata = model_file.read(path)
    done = metadata.get("done")
    if type(done) is not int or done < 0:
        raise ModelFileError(f"{os.fspath(path)}: does not say how far it has come.")
    return restored(path, tensors, metadata, None, type(learner)), done
