"""A model and how far it has come, in one file that a rename puts in its place."""

from __future__ import annotations

import os
from typing import Any

from yarrow.errors import ModelFileError, ParameterError
from yarrow.saving import model_file
from yarrow.saving.codec import packed_settings, restored


def save(path: str | os.PathLike[str], model: Any, done: int) -> None:
    """Write a model and how many epochs or batches it has learned.

    It is a model file like any other, so that `yarrow.load` reads it, too.
    """
    tensors, metadata = model._packed()
    model_file.write(path, tensors, metadata | {"done": done})


def load(path: str | os.PathLike[str], learner: Any) -> tuple[Any, int]:
    """The model and that number; the learner itself and 0, if there is no such file."""
    if not os.path.exists(path):
        return learner, 0
    tensors, metadata = model_file.read(path)
    done = metadata.get("done")
    if type(done) is not int or done < 0:
        raise ModelFileError(f"{os.fspath(path)}: does not say how far it has come.")
    model = restored(path, tensors, metadata, None, type(learner))
    ours, theirs = (packed_settings(each.get_params(deep=False)) for each in (learner, model))
    other = [name for name, value in ours.items() if value != theirs[name]]
    if other:
        raise ParameterError(
            f"{os.fspath(path)} is of a learner with another {other[0]}: remove the file, or go on "
            "with the same parameters."
        )
    return model, done
