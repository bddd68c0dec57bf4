"""``tf.compat``: names of older versions, and text as bytes."""

from __future__ import annotations

import os
from typing import Any

from recordmill.compat.tensorflow.core.lazy import lazy

__getattr__, __dir__ = lazy(__name__, {}, {"v1": "compat.v1"})


def as_bytes(bytes_or_text: Any, encoding: str = "utf-8") -> bytes:
    """Text as bytes."""
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    if isinstance(bytes_or_text, bytes | bytearray):
        return bytes(bytes_or_text)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


def as_text(bytes_or_text: Any, encoding: str = "utf-8") -> str:
    """Bytes as text; as `as_bytes`."""
    return as_bytes(bytes_or_text, encoding).decode(encoding)


as_str = as_text


def as_str_any(value: Any, encoding: str = "utf-8") -> str:
    """Bytes as text, and anything else as it is spelled."""
    return as_text(value, encoding) if isinstance(value, bytes) else str(value)


def path_to_str(path: Any) -> Any:
    """Path as text; anything else as it is."""
    return os.fspath(path) if isinstance(path, os.PathLike) else path
