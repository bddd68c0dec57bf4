"""``tf.compat``: the namespaces of TensorFlow 1 and 2, and conversion between str and bytes."""

from __future__ import annotations

from typing import Any

from recordmill.compat.tensorflow.core.lazy import make_lazy_attributes

__getattr__, __dir__ = make_lazy_attributes(__name__, {}, {"v1": "compat.v1", "v2": "compat.v2"})


def as_bytes(bytes_or_text: Any, encoding: str = "utf-8") -> bytes:
    """``tf.compat.as_bytes``: encode a str; bytes are returned unchanged."""
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    if isinstance(bytes_or_text, bytes | bytearray):
        return bytes(bytes_or_text)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


def as_text(bytes_or_text: Any, encoding: str = "utf-8") -> str:
    """``tf.compat.as_text``: decode bytes; a str is returned unchanged."""
    return as_bytes(bytes_or_text, encoding).decode(encoding)


as_str = as_text


def as_str_any(value: Any, encoding: str = "utf-8") -> str:
    """``tf.compat.as_str_any``: decode bytes, and convert any other value with `str`."""
    return as_text(value, encoding) if isinstance(value, bytes) else str(value)
