"""Forged model files: a file of every kind, changed at random, its digests made anew.

Whatever a file says, it is either refused with `ModelFileError` or gives a model that works: one
that predicts finite numbers, learns or refuses a row by name, and can be saved again. `files`
makes the files, `changes` changes them, `judging` looks at what comes of it; `long_run` does so
for hours (`python -m forging`).
"""

from forging.changes import forged, with_extreme_parameters
from forging.files import KINDS, files_of
from forging.judging import judge

__all__ = ["KINDS", "files_of", "forged", "judge", "with_extreme_parameters"]
