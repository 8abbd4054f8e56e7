"""Online learning for sparse streams: linear learners with a compiled core."""

__version__ = "0.1.0"

from yarrow._core import Situation
from yarrow.errors import YarrowError
from yarrow.linear_model import *  # noqa: F403
from yarrow.linear_model import __all__ as _learners

__all__ = ["Situation", "YarrowError", "__version__", *_learners]
