"""A model as few bytes, for stores that keep one for each of many keys.

They hold the tensors and the metadata of a model file, whole: any reader makes the same model of
them, checked by the same schemas. What nearly all models say of themselves is left out by a preset
dictionary of deflate, and one checksum stands for the digests of a file:

    "YC", version (1 byte), CRC-32 of what follows (4, little-endian), the content deflated
    content = length of the header (4, little-endian), header, bytes of the tensors
    header  = JSON {"metadata": {...}, "tensors": {name: [type, shape], ...}}

The bytes of a tensor are little-endian, all first bytes of its numbers first, then all second ones:
so those that are alike stand together.
"""

from __future__ import annotations

import contextlib
import json
import zlib
from typing import Any

from yarrow.errors import ModelFileError
from yarrow.lazy import np
from yarrow.saving import model_file
from yarrow.saving.codec import Objects, restored

VERSION = 1
_MAGIC = b"YC"
_PLACE = "compact model"  #: in errors
_START = len(_MAGIC) + 1 + 4


def _largest(packed: int) -> int:
    """What so many packed bytes may hold, so that a few cannot take all memory."""
    return max(1 << 26, 64 * packed)


def pack(model: Any) -> bytes:
    """The exact training state of a model."""
    tensors, metadata = model._packed()
    if metadata.get("made_with") == metadata.get("parameters"):
        metadata.pop("made_with", None)  # which is then the default
    listed, pieces = {}, []
    for name, values in tensors.items():
        tensor = model_file.Tensor.of(_PLACE, name, values)
        listed[name] = [tensor.dtype, list(tensor.shape)]
        pieces.append(np.frombuffer(tensor.bytes, "u1").reshape(-1, tensor.itemsize).T.tobytes())
    header = json.dumps({"metadata": metadata, "tensors": listed}, separators=(",", ":")).encode()
    content = len(header).to_bytes(4, "little") + header + b"".join(pieces)
    deflated = _deflated(content, level=9)
    if len(content) > _largest(len(deflated)):  # nearly all zeros: no more than a reader takes
        deflated = _deflated(content, level=0)
    return _MAGIC + bytes([VERSION]) + zlib.crc32(deflated).to_bytes(4, "little") + deflated


def _deflated(content: bytes, level: int) -> bytes:
    deflate = zlib.compressobj(level, wbits=-zlib.MAX_WBITS, zdict=_DICTIONARIES[VERSION])
    return deflate.compress(content) + deflate.flush()


def unpack(packed: bytes, objects: Objects = None, cls: type | None = None) -> Any:
    """The model that `pack` made bytes of; `objects` are parameters that no file can hold."""
    with model_file.refusing(_PLACE):
        tensors, metadata = _parsed(_content(packed))
    return restored(_PLACE, tensors, metadata, objects, cls)


def _parsed(content: bytes) -> tuple[model_file.Tensors, dict[str, Any]]:
    place = 4 + int.from_bytes(content[:4], "little")
    tensors = {}
    try:
        header = json.loads(content[4:place])
        for name, (dtype, shape) in header["tensors"].items():
            if dtype not in model_file.DTYPE_NAMES:
                raise ValueError
            number = np.dtype(dtype)
            begin, place = place, place + model_file.size_of(shape) * number.itemsize
            planes = np.frombuffer(content[begin:place], "u1").reshape(number.itemsize, -1)
            tensors[name] = planes.T.copy().view(number).reshape(shape)
        if place == len(content) and isinstance(header["metadata"], dict):
            return tensors, header["metadata"]
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
        pass
    raise ModelFileError("damaged: its header contradicts itself")


def _content(packed: bytes) -> bytes:
    if not packed.startswith(_MAGIC) or len(packed) < _START:
        raise ModelFileError("not a model")
    version = packed[len(_MAGIC)]
    if version not in _DICTIONARIES:
        raise ModelFileError(
            f"written in format {version} by a newer Yarrow; this one reads up to format "
            f"{VERSION}: pip install --upgrade yarrow-learn"
        )
    deflated = packed[_START:]
    if zlib.crc32(deflated).to_bytes(4, "little") == packed[_START - 4 : _START]:
        with contextlib.suppress(zlib.error):
            inflate = zlib.decompressobj(-zlib.MAX_WBITS, zdict=_DICTIONARIES[version])
            content = inflate.decompress(deflated, _largest(len(deflated)))
            if inflate.eof and not inflate.unused_data:
                return content
    raise ModelFileError("damaged: it is not as it was packed")


#: by version, the words that come most often last. Never change one: bytes that were packed with it
#: could no longer be read.
_DICTIONARIES = {
    1: (
        b'"squared_error" "log_loss" "absolute" "epsilon":0.1,"variant":"scw1","eta":0.9,"phi":1.0,'
        b'"p":2.0,"power":0.5,"alpha":1.0,"beta":1.0,"step":1.0,"decay":0.0,"rank":10,"dual_hinge" '
        b'"logistic" "hinge" "float64" "top1" Regressor "sgd" "perceptron" "full" "projected" '
        b'"mixture":["<f8",[93]],"mixture_hits":["<f8",[2]],"mixture_weights":["<f8",[2]],'
        b'"YarrowClassifier" "RDAClassifier" "l1":1e-05,"gamma":1.0,"loss":"hinge","rho":0.0,"l2":'
        b'0.0,"Perceptron" "PassiveAggressiveClassifier","rule":"pa1","parameters":{"C":1.0,'
        b'"variant":"pa1","format":"parquet","table":{"label":"label","weight":null,"known":{'
        b'":"number","text","boolean","date"}}},["yes","no"] [true,false] [0,1],'
        b'{"metadata":{"kind":"model","yarrow":"0.1.0","estimator":"AROWClassifier","rule":"arow",'
        b'"parameters":{"r":1.0,"covariance":"diagonal","loss":"squared_hinge","fit_intercept":'
        b'true,"intercept_scaling":1.0,"max_iter":5,"shuffle":true,"random_state":0,'
        b'"early_stopping":false,"validation_fraction":0.1,"n_iter_no_change":5,"tol":0.001,'
        b'"dtype":"float32","hash_bits":null,"max_features":null,"when_full":"error",'
        b'"multiclass":"ovr","classes":null,"max_classes":10000,"class_weight":null,"k":5,'
        b'"cost":null,"rank":10,"average":false},"classes":[],"declared":[],"class_weights":[],'
        b'"rows":1000,"updates":100,"n_features_in":null,"feature_names_in":null,"n_iter":null,'
        b'"stream":null},"tensors":{"blocks":["<f4",[11,2,2]],"scale":["<f8",[2]],"ww":["<f8",[2]],'
        b'"scale_sum":["<f8",[2]],"column_updates":["<f8",[2]],"column_memory":["<f8",[2]],'
        b'"restarts":["<f8",[2]],"scalars":["<f8",[10]],"calibration_right":["<f8",[64]],'
        b'"calibration_wrong":["<f8",[64]],"name_columns":["<i8",[1]],"name_kinds":["|u1",[10]],'
        b'"name_offsets":["<u8",[11]],"name_bytes":["|u1",[20]]}}'
    ),
}
