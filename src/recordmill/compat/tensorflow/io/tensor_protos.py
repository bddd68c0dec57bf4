"""``tf.io.serialize_tensor`` and ``parse_tensor``: tensors as TensorFlow's ``TensorProto`` messages.

References
----------
tensorflow/core/framework/tensor.proto, tensor_shape.proto and types.proto (field numbers).
"""

from __future__ import annotations

import base64
import math
from dataclasses import field
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.messages import wire
from recordmill.compat.tensorflow.core import dtypes
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.dtypes import DType, as_dtype
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError, ResourceExhaustedError
from recordmill.compat.tensorflow.core.tensor import Tensor, array_of
from recordmill.dataclass import dataclass

_NUMBERS = {
    "float32": 1, "float64": 2, "int32": 3, "uint8": 4, "int16": 5, "int8": 6, "string": 7, "int64": 9, "bool": 10,
    "uint16": 17, "float16": 19, "uint32": 22, "uint64": 23,
}  # fmt: skip
_DTYPES = {number: as_dtype(name) for name, number in _NUMBERS.items()}
_NAMES = {"float32": "float", "float64": "double", "float16": "half"}
_CONTENT, _STRINGS = 4, 8
# field of values: dtype of one that stands by itself; whole numbers are varints
_FIXED: dict[int, np.dtype[Any]] = {5: np.dtype("<f4"), 6: np.dtype("<f8")}
_LISTS = {
    "float32": 5, "float64": 6, "int32": 7, "uint8": 7, "int16": 7, "int8": 7, "uint16": 7, "string": 8, "int64": 10,
    "bool": 11, "float16": 13, "uint32": 16, "uint64": 17,
}  # fmt: skip
# A message of a few bytes may stand for any number of equal values; this many are believed.
_MOST_REPEATED = 1 << 26


@op("io.serialize_tensor")
def serialize_tensor(tensor: Any, name: Any = None) -> Tensor:
    """Serialize a tensor."""
    del name
    array = array_of(tensor)
    dtype = as_dtype(array.dtype)
    sizes = [_field(1, 0, size) if size else b"" for size in array.shape]
    shape = b"".join(_block(2, dim) for dim in sizes)
    parts: list[Any] = [_field(1, 0, _NUMBERS[dtype.name]), _block(2, shape)]
    if dtype == dtypes.string:
        parts += [_block(_STRINGS, item) for item in array.reshape(-1).tolist()]
    elif array.size:
        little = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
        # Joined from where they lie: large tensors are copied once.
        parts += [_field(_CONTENT, wire.BYTES, little.nbytes), little.reshape(-1).view(np.uint8).data]
    return Tensor(array_of(b"".join(parts)))


def dtype_numbered(number: int) -> DType:
    """Dtype by its number in TensorFlow's messages; KeyError for one that is not here."""
    return _DTYPES[number]


def _field(number: int, kind: int, value: int) -> bytes:
    return wire.varint(number << 3 | kind) + wire.varint(value)


def _block(number: int, content: bytes) -> bytes:
    return _field(number, wire.BYTES, len(content)) + content


@dataclass(slots=True)
class _Proto:
    """What was read of one message."""

    dtype: int = 0
    shape: list[int] = field(default_factory=list)
    content: bytes | None = None
    lists: dict[int, list[Any]] = field(default_factory=dict)


@op("io.parse_tensor")
def parse_tensor(serialized: Any, out_type: Any, name: Any = None) -> Tensor:
    """Read a tensor that `serialize_tensor`, or TensorFlow, has written."""
    del name
    wanted, given = as_dtype(out_type), array_of(serialized, dtypes.string)
    if given.ndim:
        shape = ",".join(map(str, given.shape))
        raise InvalidArgumentError(f"Expected `serialized` to be a scalar, got shape: [{shape}]")
    data: bytes = given.item()
    try:
        proto = _read(data)
    except wire.WireError as error:
        shown = base64.b64encode(data[:256]).decode()
        message = f"Could not parse `serialized` as TensorProto, base64: {shown}"
        raise InvalidArgumentError(message, found=str(error)) from None
    found = _DTYPES.get(proto.dtype)
    if found is None:
        raise InvalidArgumentError(f"Cannot parse tensor from proto: dtype {proto.dtype} is not supported")
    if found != wanted:
        names = [_NAMES.get(dtype.name, dtype.name) for dtype in (found, wanted)]
        raise InvalidArgumentError(f"Type mismatch between parsed tensor ({names[0]}) and dtype ({names[1]})")
    return Tensor(_values(proto, found))


def _read(data: bytes) -> _Proto:
    proto, place = _Proto(), 0
    while place < len(data):
        number, kind, place = wire.read_tag(data, place, len(data))
        first, end = place, wire.skip(data, number, kind, place, len(data))
        if kind == wire.BYTES:
            first, end = wire.read_length(data, place, len(data))
        if number == 1 and kind == wire.VARINT:
            proto.dtype = wire.read_varint(data, first, end)[0]
        elif number == 2 and kind == wire.BYTES:
            proto.shape += _sizes(data, first, end)
        elif number == _CONTENT and kind == wire.BYTES:
            proto.content = data[first:end]
        elif number == _STRINGS and kind == wire.BYTES:
            proto.lists.setdefault(number, []).append(data[first:end])
        elif number in _LISTS.values() and number != _STRINGS:
            proto.lists.setdefault(number, []).extend(_numbers(data, number, kind, first, end))
        place = end
    return proto


def _sizes(data: bytes, start: int, stop: int) -> list[int]:
    found, place = [], start
    while place < stop:
        number, kind, place = wire.read_tag(data, place, stop)
        end = wire.skip(data, number, kind, place, stop)
        if number == 2 and kind == wire.BYTES:
            found.append(_size(data, *wire.read_length(data, place, stop)))
        place = end
    return found


def _size(data: bytes, start: int, stop: int) -> int:
    found, place = 0, start
    while place < stop:
        number, kind, place = wire.read_tag(data, place, stop)
        end = wire.skip(data, number, kind, place, stop)
        if number == 1 and kind == wire.VARINT:
            found = wire.signed(wire.read_varint(data, place, stop)[0])
        place = end
    return found


def _numbers(data: bytes, number: int, kind: int, start: int, stop: int) -> list[Any]:
    dtype = _FIXED.get(number)
    if dtype is None:
        return wire.read_varints(data, start, stop) if kind in (wire.VARINT, wire.BYTES) else []
    if kind not in (wire.BYTES, wire.FIXED32 if dtype.itemsize == 4 else wire.FIXED64):
        return []
    if (stop - start) % dtype.itemsize:
        raise wire.WireError(start, "a packed list ends inside a value")
    found: list[Any] = np.frombuffer(data[start:stop], dtype).tolist()
    return found


def _values(proto: _Proto, dtype: DType) -> NDArray[Any]:
    shape, count = tuple(proto.shape), math.prod(proto.shape)
    refusal = f"Cannot parse tensor from proto: dtype {dtype.name}, shape {list(shape)}"
    if any(size < 0 for size in shape) or count >= 1 << 63:
        raise InvalidArgumentError(refusal)
    if proto.content is not None and dtype.name != "string":
        if len(proto.content) != count * dtype.size:
            raise InvalidArgumentError(f"{refusal}, {len(proto.content)} bytes of content")
        little = dtype.numpy_dtype.newbyteorder("<")
        return np.frombuffer(proto.content, little).astype(dtype.numpy_dtype, copy=False).reshape(shape)
    if proto.content:
        return _strings_in(proto.content, count, refusal).reshape(shape)
    listed = _listed(proto.lists.get(_LISTS[dtype.name], []), dtype)
    if count > len(listed) and count > _MOST_REPEATED:
        raise ResourceExhaustedError(f"{refusal}: {len(listed)} values stand for {count}")
    if not len(listed):
        listed = np.zeros(1, dtype.numpy_dtype) if dtype.name != "string" else array_of([b""])
    if count <= len(listed):
        return listed[:count].reshape(shape)
    return np.concatenate((listed, np.repeat(listed[-1:], count - len(listed)))).reshape(shape)


def _strings_in(content: bytes, count: int, refusal: str) -> NDArray[Any]:
    """Strings whose lengths stand in front of all of them."""
    if count > len(content):
        raise InvalidArgumentError(f"{refusal}, {len(content)} bytes of content")
    lengths, place = [], 0
    for _ in range(count):
        length, place = wire.read_varint(content, place, len(content))
        lengths.append(length)
    ends = [place + total for total in accumulate(lengths)]
    if (ends[-1] if ends else place) != len(content):
        raise InvalidArgumentError(f"{refusal}, {len(content)} bytes of content")
    strings: NDArray[Any] = np.empty(count, object)
    strings[:] = [content[end - length : end] for end, length in zip(ends, lengths, strict=True)]
    return strings


def _listed(values: list[Any], dtype: DType) -> NDArray[Any]:
    """Values of a list; whole numbers lose what is above the dtype's bits, half floats are their bits."""
    if dtype.name == "string":
        strings: NDArray[Any] = np.empty(len(values), object)
        strings[:] = values
        return strings
    if dtype.is_floating and dtype.size > 2:
        return np.array(values, dtype.numpy_dtype)
    whole = np.array(values, np.int64)
    if dtype.name == "float16":
        return whole.astype(np.uint16).view(np.float16)
    return whole.astype(dtype.numpy_dtype)
