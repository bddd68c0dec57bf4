"""``tf.io.serialize_tensor``, ``parse_tensor`` and ``tf.make_tensor_proto``: tensors as ``TensorProto`` messages.

They need the extra ``recordmill[protobuf]``.
"""

from __future__ import annotations

import math
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core import dtypes
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.dtypes import DType, as_dtype
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError, ResourceExhaustedError
from recordmill.compat.tensorflow.core.shapes import TensorShape
from recordmill.compat.tensorflow.core.tensor import Tensor, array_of
from recordmill.compat.tensorflow.train import messages

# Numbers of the dtypes in TensorFlow's enum ``DataType``.
_NUMBERS = {
    "float32": 1, "float64": 2, "int32": 3, "uint8": 4, "int16": 5, "int8": 6, "string": 7, "int64": 9, "bool": 10,
    "bfloat16": 14, "uint16": 17, "float16": 19, "uint32": 22, "uint64": 23,
}  # fmt: skip
_NAMES = {number: name for name, number in _NUMBERS.items()}
# Maps each dtype to the field of ``TensorProto`` that lists its values.
_LISTS = {
    "float32": "float_val", "float64": "double_val", "int32": "int_val", "uint8": "int_val", "int16": "int_val",
    "int8": "int_val", "uint16": "int_val", "string": "string_val", "int64": "int64_val", "bool": "bool_val",
    "float16": "half_val", "bfloat16": "half_val", "uint32": "uint32_val", "uint64": "uint64_val",
}  # fmt: skip
# Dtypes whose values make_tensor_proto always stores in a list.
_ALWAYS_LISTED = ("string", "bool", "uint16")
# Largest number of repeated values. Without this limit, a message of a few bytes could request any amount of memory.
_MAX_REPEATED = 1 << 26


def make_tensor_proto(
    values: Any, dtype: Any = None, shape: Any = None, verify_shape: bool = False, allow_broadcast: bool = False
) -> Any:
    """``tf.make_tensor_proto``: convert values to a ``TensorProto``; a single value fills the shape."""
    if isinstance(values, messages.TensorProto):
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
    proto = _create_empty_proto(found, lengths)
    if array.size == math.prod(lengths) > 1 and found.name not in _ALWAYS_LISTED:
        proto.tensor_content = _to_little_endian(array).tobytes()
    elif found.name in ("float16", "bfloat16"):
        proto.half_val.extend(array.reshape(-1).view(np.uint16).tolist())
    else:
        getattr(proto, _LISTS[found.name]).extend(array.reshape(-1).tolist())
    return proto


@op("io.serialize_tensor")
def serialize_tensor(tensor: Any, name: Any = None) -> Tensor:
    """``tf.io.serialize_tensor``: serialize a tensor as a ``TensorProto``."""
    del name
    array = array_of(tensor)
    dtype = as_dtype(array.dtype)
    proto = _create_empty_proto(dtype, array.shape)
    if dtype == dtypes.string:
        proto.string_val.extend(array.reshape(-1).tolist())
    else:
        proto.tensor_content = _to_little_endian(array).tobytes()
    return Tensor(array_of(proto.SerializeToString()))


@op("io.parse_tensor")
def parse_tensor(serialized: Any, out_type: Any, name: Any = None) -> Tensor:
    """``tf.io.parse_tensor``: parse a ``TensorProto`` that `serialize_tensor` or TensorFlow has serialized."""
    del name
    wanted, array = as_dtype(out_type), array_of(serialized, dtypes.string)
    if array.ndim:
        raise InvalidArgumentError(f"serialized must be a scalar, got shape {list(array.shape)}")
    proto = messages.TensorProto()
    # This import follows `messages.TensorProto()`, which raises a clearer error if protobuf is not installed.
    from google.protobuf.message import DecodeError

    try:
        proto.MergeFromString(array.item())
    except DecodeError as error:
        raise InvalidArgumentError("Could not parse `serialized` as TensorProto", found=str(error)) from None
    if proto.dtype not in _NAMES:
        raise InvalidArgumentError(f"Cannot parse tensor from proto: dtype {proto.dtype} is not supported")
    found = _NAMES[proto.dtype]
    if found != wanted.name:
        raise InvalidArgumentError(f"Type mismatch between parsed tensor ({found}) and dtype ({wanted.name})")
    return Tensor(_read_proto_values(proto, wanted))


def _create_empty_proto(dtype: DType, shape: tuple[int, ...]) -> Any:
    return messages.TensorProto(dtype=_NUMBERS[dtype.name], tensor_shape={"dim": [{"size": size} for size in shape]})


def _to_little_endian(array: NDArray[Any]) -> NDArray[Any]:
    return np.ascontiguousarray(array, array.dtype.newbyteorder("<"))


def _read_proto_values(proto: Any, dtype: DType) -> NDArray[Any]:
    shape = tuple(dim.size for dim in proto.tensor_shape.dim)
    count, content = math.prod(shape), proto.tensor_content
    problem = f"Cannot parse tensor from proto: dtype {dtype.name}, shape {list(shape)}"
    if any(size < 0 for size in shape) or count >= 1 << 63:
        raise InvalidArgumentError(f"{problem}: a length is negative, or the shape is too large")
    listed = list(getattr(proto, _LISTS[dtype.name]))
    if content and dtype.name == "string":
        return _split_strings(content, count, problem).reshape(shape)
    if content:
        if len(content) != count * dtype.size:
            raise InvalidArgumentError(f"{problem}: expected {count * dtype.size} bytes of content, got {len(content)}")
        little = dtype.numpy_dtype.newbyteorder("<")
        return np.frombuffer(content, little).astype(dtype.numpy_dtype, copy=False).reshape(shape)
    if count > len(listed) and count > _MAX_REPEATED:
        raise ResourceExhaustedError(
            f"{problem}: {len(listed)} values cannot be repeated to fill a shape of more than {_MAX_REPEATED} values"
        )
    values = _convert_list_field(listed or [b"" if dtype.name == "string" else 0], dtype)
    if count <= len(values):
        return values[:count].reshape(shape)
    # The last value of a list is repeated to fill the shape.
    return np.concatenate((values, np.repeat(values[-1:], count - len(values)))).reshape(shape)


def _split_strings(content: bytes, count: int, problem: str) -> NDArray[Any]:
    """Return the strings in `content`, which stores the lengths of all strings as varints, then all strings."""
    lengths, start = [], 0
    if count <= len(content):
        for _ in range(count):
            length, start = _read_varint(content, start)
            lengths.append(length)
    ends = [start + total for total in accumulate(lengths)]
    if not ends or ends[-1] != len(content):
        raise InvalidArgumentError(f"{problem}: the string lengths do not match {len(content)} bytes of content")
    return _convert_list_field([content[end - n : end] for end, n in zip(ends, lengths, strict=True)], dtypes.string)


def _read_varint(content: bytes, start: int) -> tuple[int, int]:
    """Return the varint at a position (at most 10 bytes), and the position after it."""
    value = 0
    for number, byte in enumerate(content[start : start + 10]):
        value |= (byte & 0x7F) << 7 * number
        if byte < 0x80:
            return value, start + number + 1
    raise InvalidArgumentError("Cannot parse tensor from proto: the length of a string is not a valid varint")


def _convert_list_field(values: list[Any], dtype: DType) -> NDArray[Any]:
    """Convert the values of a list field to an array. The field stores 16-bit floats as integers with the same bits."""
    if dtype.name == "string":
        strings: NDArray[Any] = np.empty(len(values), object)
        strings[:] = values
        return strings
    if dtype.is_floating and dtype.size > 2:
        return np.array(values, dtype.numpy_dtype)
    integers = np.array(values, np.uint64 if dtype.name == "uint64" else np.int64)
    if dtype.is_floating:
        return integers.astype(np.uint16).view(dtype.numpy_dtype)
    return integers.astype(dtype.numpy_dtype)
