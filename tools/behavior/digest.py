"""SHA-256 digests of results: arrays, ragged columns, bytes, numbers, text, and lists and dicts of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

import numpy as np

import recordmill as rm

DIGITS = 16  # hex digits kept of each digest
Results = Iterator[tuple[str, Any]]


def compute_digest(value: Any) -> str:
    """Return a short digest, which depends on values, types, dtypes, shapes and the order of keys."""
    state = sha256()
    for piece in _pieces(value):
        state.update(len(piece).to_bytes(8, "little"))
        state.update(piece)
    return state.hexdigest()[:DIGITS]


def _pieces(value: Any) -> Iterator[bytes]:
    if isinstance(value, np.ndarray) and value.dtype != object:
        yield f"array {value.dtype.newbyteorder('<').str} {value.shape}".encode()
        yield np.ascontiguousarray(value, value.dtype.newbyteorder("<")).tobytes()
    elif isinstance(value, rm.Ragged):
        yield b"ragged"
        yield from _pieces(np.asarray(value.row_splits))
        yield from _pieces(value.data)
    elif isinstance(value, Mapping):
        yield f"mapping {len(value)}".encode()
        for key, item in value.items():
            yield str(key).encode()
            yield from _pieces(item)
    elif isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.dtype == object):
        yield f"sequence {len(value)}".encode()
        for item in value:
            yield from _pieces(item)
    elif isinstance(value, bytes | bytearray | memoryview):
        yield b"bytes"
        yield bytes(value)
    elif isinstance(value, np.generic):
        yield from _pieces(np.asarray(value))
    elif value is None or isinstance(value, bool | int | float | str):
        yield f"{type(value).__name__} {value!r}".encode()
    else:
        raise TypeError(f"cannot compute the digest of a {type(value).__name__}")


def round_floats(array: Any, decimals: int = 5) -> Any:
    """Round results that depend on NumPy's SIMD implementation of exp, log and cos."""
    return np.round(np.asarray(array), decimals) + 0.0
