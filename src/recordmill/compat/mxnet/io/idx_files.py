"""Files of whole bytes in the form of MNIST's: a magic number, a length for each axis, and the bytes."""

from __future__ import annotations

import gzip
import math
import os
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.mxnet.base import MissingFileError, MXNetError, ParameterError

_GZIP = b"\x1f\x8b"
# Zeros, the number that stands for bytes, and the number of axes.
_BYTES = 0x0800
# What gzip can make of a byte, at most.
_MOST_GROWTH = 1032


def read_part(path: str, num_axes: int, num_parts: int, part_index: int) -> NDArray[np.uint8]:
    """Rows of one part of a file, which are read once its size was found to be what its head says."""
    if not 0 <= part_index < num_parts:
        message = "Check failed: param_.num_parts > param_.part_index"
        found = f"part_index {part_index} of num_parts {num_parts}"
        raise ParameterError(message, kind="bad_parameter", found=found)
    shape = _shape(path, num_axes)
    row_bytes = math.prod(shape[1:])
    share = float(shape[0]) / num_parts
    first, last = int(share * part_index), int(share * (part_index + 1))
    data = np.fromfile(path, np.uint8, (last - first) * row_bytes, offset=_head_bytes(num_axes) + first * row_bytes)
    return data.reshape(last - first, *shape[1:])


def read_whole(path: str, num_axes: int) -> NDArray[np.uint8]:
    """All rows of a file, which may be compressed by gzip."""
    _, size, is_packed = _head(path, num_axes)
    if not is_packed:
        return read_part(path, num_axes, 1, 0)
    try:
        with gzip.open(path) as file:
            shape = _checked(file.read(_head_bytes(num_axes)), num_axes, path, size * _MOST_GROWTH)
            made = np.empty(math.prod(shape), np.uint8)
            _fill(file, made, path)
            file.read(1)  # the checksum behind the data is looked at then
    except (OSError, EOFError, zlib.error) as error:
        raise MXNetError(f"invalid mnist format: {error}", kind="bad_compression", shard=path) from error
    return made.reshape(shape)


def _fill(file: Any, made: NDArray[np.uint8], path: str) -> None:
    done, view = 0, made.data
    while done < len(made):
        if not (more := file.readinto(view[done:])):
            expected, found = f"{len(made)} bytes of rows", f"{done} bytes"
            message = "the file ends before its last row"
            raise MXNetError(message, kind="truncated_payload", shard=path, expected=expected, found=found)
        done += more


def _head_bytes(num_axes: int) -> int:
    return 4 * (1 + num_axes)


def _shape(path: str, num_axes: int) -> list[int]:
    """Lengths of the axes, of a file that holds so many bytes."""
    head, size, is_packed = _head(path, num_axes)
    if is_packed:
        raise MXNetError(
            "invalid mnist format: the file is compressed", kind="compressed", shard=path, hint="gunzip it"
        )
    return _checked(head, num_axes, path, size)


def _head(path: str, num_axes: int) -> tuple[bytes, int, bool]:
    """First bytes of a file, its size, and whether it is compressed."""
    if not os.path.exists(path):
        raise MissingFileError(f'LocalFileSystem: Check failed: :Open "{path}": No such file or directory', shard=path)
    with Path(path).open("rb") as file:
        head, size = file.read(_head_bytes(num_axes)), os.fstat(file.fileno()).st_size
    return head, size, head.startswith(_GZIP)


def _checked(head: bytes, num_axes: int, path: str, size: int) -> list[int]:
    if len(head) < _head_bytes(num_axes):
        found, expected = f"{len(head)} bytes", f"a head of {_head_bytes(num_axes)} bytes"
        raise MXNetError("invalid mnist format", kind="truncated_header", shard=path, expected=expected, found=found)
    magic, *shape = np.frombuffer(head, ">i4").tolist()
    if magic != _BYTES + num_axes:
        expected, found = f"magic number {_BYTES + num_axes}", str(magic)
        raise MXNetError("invalid mnist format", kind="bad_magic", shard=path, offset=0, expected=expected, found=found)
    if shape[0] < 0 or min(shape[1:], default=1) < 1:
        message, found = "invalid mnist format: lengths that are none", str(tuple(shape))
        raise MXNetError(message, kind="bad_shape", shard=path, offset=4, found=found)
    if (needed := _head_bytes(num_axes) + math.prod(shape)) > size:
        message, expected = "the file ends before its last row", f"{needed} bytes for shape {tuple(shape)}"
        raise MXNetError(message, kind="truncated_payload", shard=path, expected=expected, found=f"{size} bytes")
    return shape  # type: ignore[no-any-return]
