"""A model as few bytes, for stores that keep one for each of many keys.

It holds the tensors and the metadata of a model file and is read by the same codec with the same
schemas. What the reader knows beforehand, the parameters of the learner, is left out by a
preset dictionary of deflate; one checksum, deflate's own, stands for the digests of a file.
"""

from __future__ import annotations

import json
import math
import zlib
from typing import Any

from yarrow.errors import ModelFileError
from yarrow.lazy import np
from yarrow.saving import model_file
from yarrow.saving.codec import packed_settings, restored

_MOST = 1 << 31


def pack(model: Any, like: Any) -> bytes:
    """What `model` has learned; whoever reads it must have a learner `like` it."""
    tensors, metadata = model._packed()
    listed, pieces = {}, []
    for name, values in tensors.items():
        array = np.ascontiguousarray(values)
        listed[name] = [array.dtype.newbyteorder("<").str, list(array.shape)]
        pieces.append(array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes())
    header = json.dumps({"metadata": metadata, "tensors": listed}, separators=(",", ":")).encode()
    deflate = zlib.compressobj(9, zdict=_known(like))
    content = len(header).to_bytes(4, "little") + header + b"".join(pieces)
    return deflate.compress(content) + deflate.flush()


def unpack(content: bytes, like: Any) -> Any:
    """The model that `pack` made bytes of."""
    place = "<model>"
    try:
        inflate = zlib.decompressobj(zdict=_known(like))
        found = inflate.decompress(content, _MOST)
        if not inflate.eof or inflate.unused_data:
            raise ValueError
        start = 4 + int.from_bytes(found[:4], "little")
        header = json.loads(found[4:start])
        tensors = {}
        for name, (dtype, shape) in header["tensors"].items():
            if dtype not in model_file._NAMES or min(shape, default=0) < 0:
                raise ValueError
            end = start + math.prod(shape) * np.dtype(dtype).itemsize
            if end > len(found):
                raise ValueError
            tensors[name] = np.frombuffer(found[start:end], dtype=dtype).reshape(shape).copy()
            start = end
        if start != len(found) or not isinstance(header["metadata"], dict):
            raise ValueError
    except (zlib.error, ValueError, LookupError, TypeError, RecursionError):
        raise ModelFileError(
            f"{place}: damaged, or not of {type(like).__name__} with the same parameters."
        ) from None
    return restored(place, tensors, header["metadata"], None, type(like))


def _known(like: Any) -> bytes:
    """What nearly every model of this learner says of itself; the rest is empty as at first."""
    settings = packed_settings(like.get_params(deep=False))
    text = json.dumps({"parameters": settings, "made_with": settings}, separators=(",", ":"))
    return (_COMMON + text).encode()


_COMMON = (
    '{"metadata":{"kind":"model","yarrow":"0.1.0","estimator":"","rule":"","parameters":{},'
    '"classes":[],"declared":[],"class_weights":[],"rows":,"updates":,"n_features_in":null,'
    '"feature_names_in":null,"n_iter":null,"stream":null,"tensors":{"blocks":["<f4",[11,2,1]],'
    '"scale":["<f8",[1]],"ww":["<f8",[1]],"scale_sum":["<f8",[1]],"column_updates":["<f8",[1]],'
    '"column_memory":["<f8",[1]],"restarts":["<f8",[1]],"scalars":["<f8",[10]],'
    '"calibration_right":["<f8",[64]],"calibration_wrong":["<f8",[64]],"name_columns":["<i8",[1]],'
    '"name_kinds":["|u1",[10]],"name_offsets":["<u8",[11]],"name_bytes":["|u1",[20]]}}'
)
