"""Strings that were compressed one by one: ``tf.io.decode_compressed``."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.errors import DataLossError, InvalidArgumentError, UnimplementedError
from recordmill.compat.tensorflow.core.tensor import Tensor

_WINDOW_BITS = {"ZLIB": zlib.MAX_WBITS, "GZIP": zlib.MAX_WBITS | 16}


@op("io.decode_compressed")
def decode_compressed(bytes: Any, compression_type: str = "") -> Tensor:  # noqa: A002 (TensorFlow's name)
    """Decompress each string."""
    array = array_of(bytes, "string")
    if not compression_type:
        return Tensor(array)
    if compression_type == "ZSTD":
        raise UnimplementedError("ZSTD is not read here: decompress the strings in tf.numpy_function")
    if compression_type not in _WINDOW_BITS:
        raise InvalidArgumentError("Only ZLIB, ZSTD, GZIP or NONE are supported compressions")
    out = np.empty(array.shape, object)
    out.reshape(-1)[:] = [_inflated(one, _WINDOW_BITS[compression_type]) for one in array.reshape(-1).tolist()]
    return Tensor(out)


def _inflated(data: bytes, window_bits: int) -> bytes:
    stream = zlib.decompressobj(window_bits)
    try:
        found = stream.decompress(data)  # at most 1032 times as long, by its format
    except zlib.error as error:
        told = str(error).replace("Error", "error", 1).replace(" while decompressing data", "")
        raise DataLossError(f"inflate() failed with {told}") from None
    if not stream.eof:
        raise DataLossError(f"a compressed string of {len(data)} bytes ends before its data do")
    return found
