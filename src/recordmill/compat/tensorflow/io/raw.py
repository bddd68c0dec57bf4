"""``tf.io.decode_raw`` and ``decode_compressed``: convert byte strings to numbers, and decompress byte strings."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.dtypes import as_dtype, string
from recordmill.compat.tensorflow.core.errors import DataLossError, InvalidArgumentError, UnimplementedError
from recordmill.compat.tensorflow.core.tensor import Tensor

_ALLOWED = ("float16", "float32", "float64", "int32", "uint16", "uint8", "int16", "int8", "int64")
_WINDOW_BITS = {"ZLIB": zlib.MAX_WBITS, "GZIP": zlib.MAX_WBITS | 16}


@op("io.decode_raw")
def decode_raw(
    input_bytes: Any, out_type: Any, little_endian: bool = True, fixed_length: int | None = None, name: Any = None
) -> Tensor:
    """``tf.io.decode_raw``: convert byte strings to numbers; `fixed_length` cuts strings or pads them with zeros."""
    del name
    dtype, strings = as_dtype(out_type), array_of(input_bytes, string)
    allowed = _ALLOWED if fixed_length is not None else (*_ALLOWED, "bool")
    if dtype.name not in allowed:
        raise InvalidArgumentError(f"out_type must be one of {', '.join(allowed)}, got {dtype.name}")
    flat: list[bytes] = strings.reshape(-1).tolist()
    if fixed_length is None:
        length = len(flat[0]) if flat else 0
        if any(len(data) != length for data in flat):
            raise InvalidArgumentError(
                "strings in input_bytes must have the same length; pass fixed_length to pad them"
            )
    else:
        length = int(fixed_length)
        if length <= 0:
            raise InvalidArgumentError(f"fixed_length must be positive, got {length}")
        flat = [data[:length].ljust(length, b"\0") for data in flat]
    if length % dtype.size:
        raise InvalidArgumentError(
            f"the string length must be a multiple of {dtype.size}, the size of {dtype.name}, got {length}"
        )
    data = b"".join(flat)
    if dtype.is_bool:
        values = np.frombuffer(data, np.uint8).astype(np.bool_)
    else:
        stored = dtype.numpy_dtype.newbyteorder("<" if little_endian else ">")
        values = np.frombuffer(data, stored).astype(dtype.numpy_dtype, copy=False)
    return Tensor(values.reshape(*strings.shape, length // dtype.size))


@op("io.decode_compressed")
def decode_compressed(bytes: Any, compression_type: str = "") -> Tensor:  # noqa: A002 (TensorFlow's name)
    """``tf.io.decode_compressed``: decompress each string; ZSTD is not supported."""
    array = array_of(bytes, string)
    if not compression_type:
        return Tensor(array)
    if compression_type == "ZSTD":
        raise UnimplementedError("compression_type='ZSTD' is not supported")
    if compression_type not in _WINDOW_BITS:
        raise InvalidArgumentError("Only ZLIB, ZSTD, GZIP or NONE are supported compressions")
    out = np.empty(array.shape, object)
    out.reshape(-1)[:] = [_inflate(item, _WINDOW_BITS[compression_type]) for item in array.reshape(-1).tolist()]
    return Tensor(out)


def _inflate(data: bytes, window_bits: int) -> bytes:
    stream = zlib.decompressobj(window_bits)
    try:
        # The output needs no size limit. It is at most 1032 times as large as the compressed data.
        found = stream.decompress(data)
    except zlib.error as error:
        message = str(error).replace("Error", "error", 1).replace(" while decompressing data", "")
        raise DataLossError(f"inflate() failed with {message}") from None
    if not stream.eof:
        raise DataLossError(f"a compressed string of {len(data)} bytes is truncated")
    return found
