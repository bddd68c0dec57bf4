"""Mean images: compute, write and read them in MXNet's file format for arrays."""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.mxnet.base import ParameterError
from recordmill.compat.mxnet.recordio import write_file_atomically

Floats = NDArray[np.float32]
# A file contains a magic number, a reserved word, the number of arrays, the arrays and their names, in this order.
_LIST_HEADER = struct.pack("<QQQ", 0x112, 0, 1)
_NAME = struct.pack("<QQ", 1, 8) + b"mean_img"
# Magic numbers of versions 1 and 2 of the array header, and the storage type of dense arrays in version 2.
_VERSION_1, _VERSION_2, _DENSE = 0xF993FAC8, 0xF993FAC9, 0
# The header is followed by the context (device type and device number) and the dtype. These are their sizes in bytes.
_CONTEXT_BYTES, _DTYPE_BYTES = 8, 4
# Device type 1 (CPU), device number 0, and dtype 0 (float32).
_CPU_FLOAT32 = struct.pack("<iii", 1, 0, 0)


def load_mean_image(path: str, shape: tuple[int, ...], batches: Callable[[], Iterable[NDArray[Any]]]) -> Floats:
    """Load a mean image; if the file does not exist, first compute the mean of all images and write it."""
    if not os.path.exists(path):
        mean = _compute_mean(shape, batches()).astype("<f4")
        write_file_atomically(path, next(_iter_possible_headers(shape)) + _CPU_FLOAT32 + mean.tobytes() + _NAME)
    data = Path(path).read_bytes()
    for header in _iter_possible_headers(shape):
        start = len(header) + _CONTEXT_BYTES + _DTYPE_BYTES
        is_float32 = data[start - _DTYPE_BYTES : start] == bytes(_DTYPE_BYTES)
        size = 4 * int(np.prod(shape))
        if data.startswith(header) and is_float32 and len(data) >= start + size:
            return np.frombuffer(data[start : start + size], "<f4").astype(np.float32).reshape(shape)
    expected = f"one float32 array of shape {shape}"
    raise ParameterError("Invalid mean image file format", kind="bad_shape", shard=path, expected=expected)


def _iter_possible_headers(shape: tuple[int, ...]) -> Iterator[bytes]:
    """Yield the header of a mean image file in each version of MXNet's array format, newest version first.

    `shape` is the shape of the mean image. The header contains all bytes before the device type.
    """
    count = len(shape)
    yield _LIST_HEADER + struct.pack(f"<Iii{count}q", _VERSION_2, _DENSE, count, *shape)
    yield _LIST_HEADER + struct.pack(f"<Ii{count}q", _VERSION_1, count, *shape)
    yield _LIST_HEADER + struct.pack(f"<I{count}I", count, *shape)


def _compute_mean(shape: tuple[int, ...], batches: Iterable[NDArray[Any]]) -> Floats:
    """Sum images one by one in float32 and multiply by 1 / count, so that the mean is rounded as in MXNet."""
    total, count = np.zeros(shape, np.float32), 0
    for batch in batches:
        for image in batch:
            total += image
        count += len(batch)
    mean: Floats = total * (np.float32(1) / np.float32(count))
    return mean
