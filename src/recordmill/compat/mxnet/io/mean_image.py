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
from recordmill.compat.mxnet.recordio import replace_file

Floats = NDArray[np.float32]
# A file consists of magic number, reserved word and number of arrays, then the arrays, then their names.
_LIST_HEADER = struct.pack("<QQQ", 0x112, 0, 1)
_NAME = struct.pack("<QQ", 1, 8) + b"mean_img"
# Magic numbers of two versions of an array's header, and the code of dense storage in the newer one.
_VERSION_1, _VERSION_2, _DENSE = 0xF993FAC8, 0xF993FAC9, 0
# The header is followed by device type and device number, then by the dtype, which is 0 for float32.
_CONTEXT_BYTES, _DTYPE_BYTES = 8, 4
_CPU_FLOAT32 = struct.pack("<iii", 1, 0, 0)


def load_mean_image(path: str, shape: tuple[int, ...], batches: Callable[[], Iterable[NDArray[Any]]]) -> Floats:
    """Load a mean image; if the file does not exist, compute the mean of all images and write the file first."""
    if not os.path.exists(path):
        mean = _compute_mean(shape, batches()).astype("<f4")
        replace_file(path, next(_possible_headers(shape)) + _CPU_FLOAT32 + mean.tobytes() + _NAME)
    data = Path(path).read_bytes()
    for header in _possible_headers(shape):
        start = len(header) + _CONTEXT_BYTES + _DTYPE_BYTES
        is_float32 = data[start - _DTYPE_BYTES : start] == bytes(_DTYPE_BYTES)
        size = 4 * int(np.prod(shape))
        if data.startswith(header) and is_float32 and len(data) >= start + size:
            return np.frombuffer(data[start : start + size], "<f4").astype(np.float32).reshape(shape)
    expected = f"one float32 array of shape {shape}"
    raise ParameterError("Invalid mean image file format", kind="bad_shape", shard=path, expected=expected)


def _possible_headers(shape: tuple[int, ...]) -> Iterator[bytes]:
    """Yield the start of the file, up to the device type, in each version of the format, newest first."""
    count = len(shape)
    yield _LIST_HEADER + struct.pack(f"<Iii{count}q", _VERSION_2, _DENSE, count, *shape)
    yield _LIST_HEADER + struct.pack(f"<Ii{count}q", _VERSION_1, count, *shape)
    yield _LIST_HEADER + struct.pack(f"<I{count}I", count, *shape)


def _compute_mean(shape: tuple[int, ...], batches: Iterable[NDArray[Any]]) -> Floats:
    """Sum images in float32 one after another and multiply by one over their number, which rounds as MXNet does."""
    total, count = np.zeros(shape, np.float32), 0
    for batch in batches:
        for image in batch:
            total += image
        count += len(batch)
    mean: Floats = total * (np.float32(1) / np.float32(count))
    return mean
