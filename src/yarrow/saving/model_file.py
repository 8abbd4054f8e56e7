"""Model files: arrays and JSON metadata in the safetensors format, written whole or not at all.

A file is data, never code: nothing in it is ever executed, and what was damaged on the way is
refused. The safetensors header (https://github.com/huggingface/safetensors, "Format") holds one
metadata entry, `yarrow`: the JSON text

    {"version": 1, "metadata": {...}, "tensors": {name: sha256, ...}, "sha256": ...}

The last digest covers the text without itself, the others cover each tensor's type, shape and
bytes. Equal models have equal files.
"""

from __future__ import annotations

import contextlib
import json
import math
import mmap
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from yarrow.errors import ModelFileError, ParameterError
from yarrow.io.replacing import replacing
from yarrow.lazy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray

VERSION = 1
"""The newest format this version reads, and the one it writes."""

Tensors: TypeAlias = "dict[str, NDArray[Any]]"

_LONGEST_HEADER = 100_000_000  # the limit of the safetensors library
DTYPES = {
    "F64": "<f8", "F32": "<f4", "F16": "<f2", "BOOL": "|b1",
    "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1",
    "U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "|u1",
}  # fmt: skip
DTYPE_NAMES = {dtype: name for name, dtype in DTYPES.items()}
#: what views of memory call them
_CODES = {
    "F64": "d", "F32": "f", "BOOL": "?",
    "I64": "q", "I32": "i", "I16": "h", "I8": "b",
    "U64": "Q", "U32": "I", "U16": "H", "U8": "B",
}  # fmt: skip


def write(
    path: str | os.PathLike[str],
    tensors: Mapping[str, NDArray[Any] | memoryview],
    metadata: Mapping[str, Any],
) -> None:
    """Write `tensors` and JSON `metadata` to `path`; a crash at any moment leaves the old file.

    Metadata comes back as JSON gives it back: tuples as lists, keys as text. Infinity is allowed.
    """
    parts = dump(path, tensors, metadata)
    with replacing(path) as file:
        for part in parts:
            file.write(part)


def dump(
    path: object,
    tensors: Mapping[str, NDArray[Any] | memoryview],
    metadata: Mapping[str, Any],
) -> list[bytes | memoryview]:
    """Return the content of a file, in parts; `path` is its name in errors."""
    ready = {name: Tensor.of(path, name, array) for name, array in tensors.items()}
    document = _document(
        {
            "version": VERSION,
            "metadata": metadata,
            "tensors": {name: tensor.digest() for name, tensor in ready.items()},
        }
    )
    widest_first = sorted(ready.items(), key=lambda item: -item[1].itemsize)  # keeps all aligned
    header: dict[str, Any] = {"__metadata__": {"yarrow": document}}
    end = 0
    for name, tensor in widest_first:
        begin, end = end, end + tensor.bytes.nbytes
        dtype = DTYPE_NAMES[tensor.dtype]
        header[name] = {"dtype": dtype, "shape": tensor.shape, "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    text += b" " * (-(8 + len(text)) % 64)
    if len(text) > _LONGEST_HEADER:
        raise ModelFileError(f"{path}: the metadata is too long; keep names in a tensor instead.")
    return [len(text).to_bytes(8, "little") + text, *(tensor.bytes for _, tensor in widest_first)]


def read(
    path: str | os.PathLike[str], *, arrays: bool = True
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the tensors and the metadata of a file made by `write`.

    The arrays are memory-mapped copy-on-write: they may be changed in place, which never
    changes the file, and they stay valid when the file is replaced. Without `arrays` they are
    views of memory where these will do: they need no numpy.
    """
    with open(path, "rb") as file:
        empty = os.fstat(file.fileno()).st_size == 0  # which cannot be mapped
        content = bytearray() if empty else mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    return parse(path, content, arrays=arrays)


def parse(
    path: object, content: mmap.mmap | bytearray, *, arrays: bool = True
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the tensors and the metadata of a file's content; `path` is its name in errors."""
    if len(content) < 8:
        raise ModelFileError(f"{path}: not a Yarrow model: it has only {len(content)} bytes.")
    start = 8 + int.from_bytes(content[:8], "little")
    header = _header(path, content, start)
    body = _body(path, header.pop("__metadata__"))
    tensors = _tensors(path, content, start, header)
    if tensors.keys() != body["tensors"].keys():
        raise ModelFileError(f"{path}: damaged: its header does not list the tensors saved.")
    for name, digest in body["tensors"].items():
        if Tensor.of(path, name, tensors[name]).digest() != digest:
            raise ModelFileError(f"{path}: damaged: tensor {name!r} is not as it was saved.")
    found = {name: tensors[name] for name in body["tensors"]}
    return as_arrays(found) if arrays else found, body["metadata"]


def as_arrays(tensors: Mapping[str, Any]) -> dict[str, NDArray[Any]]:
    """Views of memory as arrays."""
    return {name: np.asarray(view) for name, view in tensors.items()}


@contextlib.contextmanager
def refusing(path: object, objects: Mapping[str, Any] | None = None) -> Iterator[None]:
    """Whatever is wrong with what a file says becomes one kind of error, which names the file.

    Schemas find nearly all of it, before anything is made. A parameter that is not allowed is the
    user's own if there are `objects`.
    """
    try:
        yield
    except ModelFileError as error:
        raise ModelFileError(f"{_named(path)}: {str(error).rstrip('.')}.") from error
    except ParameterError as error:
        if objects:
            raise
        raise _misfit(path, error) from error
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RuntimeError,
            MemoryError) as error:  # fmt: skip
        raise _misfit(path, error) from error


def _misfit(path: object, error: Exception) -> ModelFileError:
    problem = str(error).rstrip(".")
    return ModelFileError(f"{_named(path)}: does not fit its own settings: {problem}.")


def _named(path: object) -> object:
    return os.fspath(path) if isinstance(path, os.PathLike) else path


class Tensor(NamedTuple):
    """Numbers as the file holds them: little-endian, in C order."""

    dtype: str
    shape: tuple[int, ...]
    itemsize: int
    bytes: memoryview

    @classmethod
    def of(cls, path: object, name: str, values: NDArray[Any] | memoryview) -> Tensor:
        if name == "__metadata__":
            raise ModelFileError(f"{path}: a tensor cannot be named {name!r}.")
        if isinstance(values, memoryview) and sys.byteorder == "little":  # no need for numpy
            kinds = {"f": "f", "d": "f", "?": "b"}
            kind = kinds.get(values.format, "u" if values.format.isupper() else "i")
            dtype = f"{'<' if values.itemsize > 1 else '|'}{kind}{values.itemsize}"
            return cls(dtype, values.shape or (), values.itemsize, values.cast("B"))
        array = np.asarray(values, order="C")
        array = array.astype(array.dtype.newbyteorder("<"), copy=False)
        if array.dtype.str not in DTYPE_NAMES:
            raise ModelFileError(
                f"{path}: tensor {name!r} has the type {array.dtype}; use numbers."
            )
        data = array.reshape(-1).view(np.uint8).data
        return cls(array.dtype.str, array.shape, array.itemsize, data)

    def digest(self) -> str:
        return _sha256(f"{self.dtype} {self.shape} ".encode(), self.bytes)


def _sha256(*parts: bytes | memoryview) -> str:
    import hashlib  # loads OpenSSL, which `import yarrow` need not wait for

    digest = hashlib.sha256()
    for part in parts:
        digest.update(part)
    return digest.hexdigest()


def _document(body: Mapping[str, Any]) -> str:
    return json.dumps({**body, "sha256": _sha256(json.dumps(body).encode())})


def _header(path: object, content: mmap.mmap | bytearray, start: int) -> dict[str, Any]:
    if content[8:9] != b"{" or start > 8 + _LONGEST_HEADER:
        raise ModelFileError(f"{path}: not a Yarrow model.")
    if start > len(content):
        raise ModelFileError(f"{path}: truncated: it ends inside its header.")
    try:
        header = json.loads(content[8:start])
        if "yarrow" in header["__metadata__"]:
            return dict(header)
    except (ValueError, RecursionError):  # not UTF-8, or not JSON
        raise ModelFileError(f"{path}: damaged: its header cannot be read.") from None
    except (KeyError, TypeError):
        pass
    raise ModelFileError(f"{path}: not a Yarrow model, though it is a safetensors file.")


def _body(path: object, entries: dict[str, Any]) -> dict[str, Any]:
    try:
        body = json.loads(entries["yarrow"])
        version = body["version"]
        if type(version) is int and version > VERSION:
            raise ModelFileError(
                f"{path}: written in format {version} by a newer Yarrow; "
                f"this one reads up to format {VERSION}: pip install --upgrade yarrow-learn"
            )
        del body["sha256"]
        whole = [_document(body)] == list(entries.values())  # nothing added, nothing altered
        if whole and version == VERSION and isinstance(body["tensors"], dict):
            if not isinstance(body["metadata"], dict):
                raise ModelFileError(f"{path}: its metadata is not a JSON object.")
            return dict(body)
    except ModelFileError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        pass
    raise ModelFileError(f"{path}: damaged: its metadata is not as it was saved.")


def _tensors(
    path: object, content: mmap.mmap | bytearray, start: int, header: dict[str, Any]
) -> dict[str, Any]:
    """Map the header's tensors, which must fill the rest of the file without gap or overlap."""
    tensors = {}
    try:
        filled = 0
        for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
            dtype, shape = entry["dtype"], tuple(entry["shape"])
            begin, end = entry["data_offsets"]
            itemsize = int(DTYPES[dtype][-1])
            if (begin, end) != (filled, filled + size_of(shape) * itemsize):
                raise ValueError
            if start + end > len(content):
                raise ModelFileError(f"{path}: truncated: it ends inside tensor {name!r}.")
            part: Any = memoryview(content)[start + begin : start + end]
            if (start + begin) % itemsize:  # not so in our own files; compiled code relies on it
                part = memoryview(bytearray(part))
            tensors[name] = _numbers(part, dtype, shape)
            filled = end
        if start + filled != len(content):
            raise ModelFileError(f"{path}: damaged: data follows its last tensor.")
    except ModelFileError:
        raise
    except (ValueError, LookupError, TypeError, AttributeError, ArithmeticError):
        raise ModelFileError(f"{path}: damaged: its header contradicts itself.") from None
    return tensors


def size_of(shape: Sequence[int]) -> int:
    """How many numbers there are of a shape; ValueError if there can be no such array.

    The product of what a file says may take hours, if that is many numbers of many digits.
    """
    if len(shape) > 32 or not all(0 <= size < 2**63 for size in shape):
        raise ValueError
    return math.prod(shape)


def _numbers(part: Any, dtype: str, shape: tuple[int, ...]) -> Any:
    """Bytes as numbers: a view of memory, or an array where a view cannot say it."""
    viewable = dtype in _CODES and sys.byteorder == "little"
    if viewable and len(shape) == 1:
        return part.cast(_CODES[dtype])
    if viewable and shape and 0 not in shape:
        return part.cast(_CODES[dtype], shape)
    return np.ndarray(shape, np.dtype(DTYPES[dtype]), part)
