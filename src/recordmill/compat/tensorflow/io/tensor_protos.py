"""``tf.io.serialize_tensor``, ``parse_tensor`` and ``tf.make_tensor_proto``: tensors as ``TensorProto`` messages.

References
----------
tensorflow/core/framework/tensor.proto, tensor_shape.proto and types.proto (field numbers).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import field
from itertools import accumulate
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.messages import wire
from recordmill.compat.tensorflow.core import dtypes
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.dtypes import DType, as_dtype
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError, ResourceExhaustedError
from recordmill.compat.tensorflow.core.shapes import TensorShape
from recordmill.compat.tensorflow.core.tensor import Tensor, array_of
from recordmill.dataclass import dataclass

_NUMBERS = {
    "float32": 1, "float64": 2, "int32": 3, "uint8": 4, "int16": 5, "int8": 6, "string": 7, "int64": 9, "bool": 10,
    "bfloat16": 14, "uint16": 17, "float16": 19, "uint32": 22, "uint64": 23,
}  # fmt: skip
_NAMES = {number: name for name, number in _NUMBERS.items()}
_DTYPE, _SHAPE, _CONTENT, _STRINGS = 1, 2, 4, 8
# Lists of values: the attribute of each field.
_LISTS = {
    5: "float_val", 6: "double_val", 7: "int_val", 8: "string_val", 10: "int64_val", 11: "bool_val", 13: "half_val",
    16: "uint32_val", 17: "uint64_val",
}  # fmt: skip
# Fields that store values of a fixed size; the others store varints.
_FIXED: dict[int, np.dtype[Any]] = {5: np.dtype("<f4"), 6: np.dtype("<f8")}
# The list of each dtype.
_LIST_OF = {
    "float32": 5, "float64": 6, "int32": 7, "uint8": 7, "int16": 7, "int8": 7, "uint16": 7, "string": 8, "int64": 10,
    "bool": 11, "float16": 13, "bfloat16": 13, "uint32": 16, "uint64": 17,
}  # fmt: skip
# Dtypes whose values make_tensor_proto always stores in a list.
_ALWAYS_LISTED = ("string", "bool", "uint16")
_MASK = (1 << 64) - 1
# A message of a few bytes can claim any number of repeated values; more than these raise.
_MAX_REPEATED = 1 << 26


@dataclass(slots=True)
class Dim:
    """Length of one axis."""

    size: int = 0
    name: str = ""


@dataclass(slots=True)
class TensorShapeProto:
    """Shape of a tensor."""

    dim: list[Dim] = field(default_factory=list)
    unknown_rank: bool = False


@dataclass(slots=True)
class TensorProto:
    """Tensor as a message: its values are in `tensor_content` or in the list of the dtype."""

    dtype: int = 0
    tensor_shape: TensorShapeProto = field(default_factory=TensorShapeProto)
    tensor_content: bytes = b""
    float_val: list[float] = field(default_factory=list)
    double_val: list[float] = field(default_factory=list)
    int_val: list[int] = field(default_factory=list)
    string_val: list[bytes] = field(default_factory=list)
    int64_val: list[int] = field(default_factory=list)
    bool_val: list[int] = field(default_factory=list)
    half_val: list[int] = field(default_factory=list)
    uint32_val: list[int] = field(default_factory=list)
    uint64_val: list[int] = field(default_factory=list)

    def SerializeToString(self) -> bytes:
        """Return the serialized message."""
        dims = [_field(1, wire.VARINT, dim.size) if dim.size else b"" for dim in self.tensor_shape.dim]
        parts = [_field(_DTYPE, wire.VARINT, self.dtype), _block(_SHAPE, b"".join(_block(2, dim) for dim in dims))]
        if self.tensor_content:
            parts.append(_block(_CONTENT, self.tensor_content))
        for number, name in _LISTS.items():
            values = getattr(self, name)
            if number == _STRINGS:
                parts += [_block(number, value) for value in values]
            elif values and number in _FIXED:
                parts.append(_block(number, np.array(values, _FIXED[number]).tobytes()))
            elif values:
                parts.append(_block(number, b"".join(wire.varint(int(value) & _MASK) for value in values)))
        return b"".join(parts)

    @classmethod
    def FromString(cls, data: bytes) -> Self:
        """Parse a serialized message; WireError if it is malformed."""
        proto = cls()
        for number, kind, start, end in _fields(data, 0, len(data)):
            if number == _DTYPE and kind == wire.VARINT:
                proto.dtype = wire.read_varint(data, start, end)[0]
            elif number == _SHAPE and kind == wire.BYTES:
                proto.tensor_shape.dim += _read_dims(data, start, end)
            elif number == _CONTENT and kind == wire.BYTES:
                proto.tensor_content = data[start:end]
            elif number == _STRINGS and kind == wire.BYTES:
                proto.string_val.append(data[start:end])
            elif number in _LISTS and number != _STRINGS:
                getattr(proto, _LISTS[number]).extend(_read_numbers(data, number, kind, start, end))
        return proto


def make_tensor_proto(
    values: Any, dtype: Any = None, shape: Any = None, verify_shape: bool = False, allow_broadcast: bool = False
) -> TensorProto:
    """Convert values to a message; a single value fills the shape."""
    if isinstance(values, TensorProto):
        return values
    array = array_of(values, dtype)
    lengths = array.shape if shape is None else tuple(int(length or 0) for length in TensorShape(shape))
    if lengths != array.shape:
        if verify_shape:
            raise TypeError(f"values must have shape {lengths}, got {array.shape}")
        if allow_broadcast and array.size != 1:
            array = np.broadcast_to(array, lengths)
        elif math.prod(lengths) < array.size or not array.size:
            raise ValueError(f"{array.size} values do not fit into shape {lengths}")
    found = as_dtype(array.dtype)
    proto = TensorProto(_NUMBERS[found.name], TensorShapeProto([Dim(length) for length in lengths]))
    if array.size == math.prod(lengths) > 1 and found.name not in _ALWAYS_LISTED:
        proto.tensor_content = _little_endian(array).tobytes()
    elif found.name in ("float16", "bfloat16"):
        proto.half_val += array.reshape(-1).view(np.uint16).tolist()
    else:
        getattr(proto, _LISTS[_LIST_OF[found.name]]).extend(array.reshape(-1).tolist())
    return proto


@op("io.serialize_tensor")
def serialize_tensor(tensor: Any, name: Any = None) -> Tensor:
    """Serialize a tensor."""
    del name
    array = array_of(tensor)
    dtype = as_dtype(array.dtype)
    proto = TensorProto(_NUMBERS[dtype.name], TensorShapeProto([Dim(length) for length in array.shape]))
    if dtype == dtypes.string:
        proto.string_val += array.reshape(-1).tolist()
    else:
        proto.tensor_content = _little_endian(array).tobytes()
    return Tensor(array_of(proto.SerializeToString()))


@op("io.parse_tensor")
def parse_tensor(serialized: Any, out_type: Any, name: Any = None) -> Tensor:
    """Parse a tensor that `serialize_tensor` or TensorFlow has serialized."""
    del name
    wanted, array = as_dtype(out_type), array_of(serialized, dtypes.string)
    if array.ndim:
        raise InvalidArgumentError(f"serialized must be a scalar, got shape {list(array.shape)}")
    try:
        proto = TensorProto.FromString(array.item())
    except wire.WireError as error:
        raise InvalidArgumentError("Could not parse `serialized` as TensorProto", found=str(error)) from None
    if proto.dtype not in _NAMES:
        raise InvalidArgumentError(f"Cannot parse tensor from proto: dtype {proto.dtype} is not supported")
    found = _NAMES[proto.dtype]
    if found != wanted.name:
        raise InvalidArgumentError(f"Type mismatch between parsed tensor ({found}) and dtype ({wanted.name})")
    return Tensor(_read_values(proto, wanted))


def dtype_numbered(number: int) -> DType:
    """Return the dtype with this number; KeyError if there is none."""
    return as_dtype(_NAMES[number])


def _little_endian(array: NDArray[Any]) -> NDArray[Any]:
    return np.ascontiguousarray(array, array.dtype.newbyteorder("<"))


def _field(number: int, kind: int, value: int) -> bytes:
    return wire.varint(number << 3 | kind) + wire.varint(value)


def _block(number: int, content: bytes) -> bytes:
    return _field(number, wire.BYTES, len(content)) + content


def _fields(data: bytes, start: int, stop: int) -> Iterator[tuple[int, int, int, int]]:
    """Yield the number, the wire type and the content's bounds of each field."""
    while start < stop:
        number, kind, start = wire.read_tag(data, start, stop)
        end = wire.skip(data, number, kind, start, stop)
        if kind == wire.BYTES:
            start, end = wire.read_length(data, start, stop)
        yield number, kind, start, end
        start = end


def _read_dims(data: bytes, start: int, stop: int) -> list[Dim]:
    dims = []
    for number, kind, first, last in _fields(data, start, stop):
        if number == 2 and kind == wire.BYTES:
            dim = Dim()
            for part, part_kind, begin, end in _fields(data, first, last):
                if part == 1 and part_kind == wire.VARINT:
                    dim.size = wire.signed(wire.read_varint(data, begin, end)[0])
            dims.append(dim)
    return dims


def _read_numbers(data: bytes, number: int, kind: int, start: int, stop: int) -> list[Any]:
    dtype = _FIXED.get(number)
    if dtype is None:
        return wire.read_varints(data, start, stop) if kind in (wire.VARINT, wire.BYTES) else []
    if kind not in (wire.BYTES, wire.FIXED32 if dtype.itemsize == 4 else wire.FIXED64):
        return []
    if (stop - start) % dtype.itemsize:
        raise wire.WireError(start, "a packed list ends inside a value")
    found: list[Any] = np.frombuffer(data[start:stop], dtype).tolist()
    return found


def _read_values(proto: TensorProto, dtype: DType) -> NDArray[Any]:
    shape = tuple(dim.size for dim in proto.tensor_shape.dim)
    count, content = math.prod(shape), proto.tensor_content
    problem = f"Cannot parse tensor from proto: dtype {dtype.name}, shape {list(shape)}"
    if any(size < 0 for size in shape) or count >= 1 << 63:
        raise InvalidArgumentError(problem)
    listed = getattr(proto, _LISTS[_LIST_OF[dtype.name]])
    if content and dtype.name == "string":
        return _split_strings(content, count, problem).reshape(shape)
    if content:
        if len(content) != count * dtype.size:
            raise InvalidArgumentError(f"{problem}, {len(content)} bytes of content")
        little = dtype.numpy_dtype.newbyteorder("<")
        return np.frombuffer(content, little).astype(dtype.numpy_dtype, copy=False).reshape(shape)
    if count > len(listed) and count > _MAX_REPEATED:
        raise ResourceExhaustedError(f"{problem}: {len(listed)} values stand for {count}")
    values = _convert_list(listed or [b"" if dtype.name == "string" else 0], dtype)
    if count <= len(values):
        return values[:count].reshape(shape)
    # The last value of a list stands for all that follow.
    return np.concatenate((values, np.repeat(values[-1:], count - len(values)))).reshape(shape)


def _split_strings(content: bytes, count: int, problem: str) -> NDArray[Any]:
    """Split strings whose lengths precede all of them."""
    lengths, start = [], 0
    if count <= len(content):
        for _ in range(count):
            length, start = wire.read_varint(content, start, len(content))
            lengths.append(length)
    ends = [start + total for total in accumulate(lengths)]
    if not ends or ends[-1] != len(content):
        raise InvalidArgumentError(f"{problem}, {len(content)} bytes of content")
    return _convert_list([content[end - n : end] for end, n in zip(ends, lengths, strict=True)], dtypes.string)


def _convert_list(values: list[Any], dtype: DType) -> NDArray[Any]:
    """Return the values of a list; integers are truncated to the dtype, half floats are stored as their bits."""
    if dtype.name == "string":
        strings: NDArray[Any] = np.empty(len(values), object)
        strings[:] = values
        return strings
    if dtype.is_floating and dtype.size > 2:
        return np.array(values, dtype.numpy_dtype)
    integers = np.array(values, np.int64)
    if dtype.is_floating:
        return integers.astype(np.uint16).view(dtype.numpy_dtype)
    return integers.astype(dtype.numpy_dtype)
