"""``tf.io.decode_raw``: bytes as the numbers that they are in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.dtypes import as_dtype, string
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor, array_of

_ALLOWED = ("float16", "float32", "float64", "int32", "uint16", "uint8", "int16", "int8", "int64")


@op("io.decode_raw")
def decode_raw(
    input_bytes: Any, out_type: Any, little_endian: bool = True, fixed_length: int | None = None, name: Any = None
) -> Tensor:
    """Take byte strings for numbers."""
    del name
    dtype, strings = as_dtype(out_type), array_of(input_bytes, string)
    allowed = _ALLOWED if fixed_length is not None else (*_ALLOWED, "bool")
    if dtype.name not in allowed:
        raise InvalidArgumentError(
            f"Value for attr 'out_type' of {dtype.name} is not in the list of allowed values: {', '.join(allowed)}"
        )
    flat = strings.reshape(-1).tolist()
    if fixed_length is None:
        length = _common_length(flat, dtype.name, dtype.size)
    else:
        length = _checked_length(int(fixed_length), dtype.size)
        flat = [data[:length].ljust(length, b"\0") for data in flat]
    values = _numbers(b"".join(flat), dtype.numpy_dtype, little_endian)
    return Tensor(values.reshape(*strings.shape, length // dtype.size))


def _numbers(data: bytes, dtype: np.dtype[Any], little_endian: bool) -> NDArray[Any]:
    if dtype.kind == "b":
        return np.frombuffer(data, np.uint8).astype(np.bool_)
    return np.frombuffer(data, dtype.newbyteorder("<" if little_endian else ">")).astype(dtype, copy=False)


def _common_length(flat: list[bytes], name: str, itemsize: int) -> int:
    length = len(flat[0]) if flat else 0
    for data in flat:
        if len(data) != length:
            raise InvalidArgumentError(
                "DecodeRaw requires input strings to all be the same size, but element "
                f"{flat.index(data)} has size {length} != {len(data)}"
            )
    if length % itemsize:
        raise InvalidArgumentError(
            f"Input to DecodeRaw has length {length} that is not a multiple of {itemsize}, the size of {name}"
        )
    return length


def _checked_length(length: int, itemsize: int) -> int:
    if length <= 0:
        raise InvalidArgumentError(f"fixed_length ({length}) must be greater than zero.")
    if length % itemsize:
        raise InvalidArgumentError(f"fixed_length ({length}) must be a multiple of the size of out_type ({itemsize})")
    return length
