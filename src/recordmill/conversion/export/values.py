"""Convert features to JSON values and to cells of a CSV table, without loss.

Numbers that JSON cannot express become ``"NaN"``, ``"Infinity"`` and ``"-Infinity"``, as in the JSON mapping of
Protocol Buffers.
"""

from __future__ import annotations

import base64
import json
import math
from typing import Any

import numpy as np

# Bytes that are not text are encoded in base64. In JSON, they are an object with this key; in CSV, a cell with this
# prefix.
BASE64_KEY = "base64"
_BASE64_PREFIX = "base64:"


def to_json(value: Any) -> Any:
    """Convert the value of a feature to JSON values.

    Bytes of printable UTF-8 text become a string, other bytes ``{"base64": "..."}``.
    """
    if isinstance(value, bytes):
        text = _decode_text(value)
        return {BASE64_KEY: base64.b64encode(value).decode()} if text is None else text
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.ndarray):
        is_finite = value.dtype.kind in "iub" or (value.dtype.kind == "f" and bool(np.isfinite(value).all()))
        return value.tolist() if is_finite else to_json(value.tolist())
    if isinstance(value, float):
        return value if math.isfinite(value) else "NaN" if math.isnan(value) else f"{'-' * (value < 0)}Infinity"
    if isinstance(value, str | int) or value is None:
        return value
    if isinstance(value, dict):
        return {str(name): to_json(entry) for name, entry in value.items()}
    return [to_json(entry) for entry in value]


def _decode_text(value: bytes) -> str | None:
    """Decode printable UTF-8 text, which may contain tabs and newlines. Return None for all other bytes."""
    try:
        text = value.decode("utf-8")
    except UnicodeDecodeError:
        return None
    is_text = text.isprintable() or all(char.isprintable() or char in "\t\n" for char in text)
    return text if is_text else None


def serialize_json(value: Any) -> bytes:
    """Serialize a value to one line of JSON, encoded as UTF-8."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode("utf-8", "replace")


def to_cell(value: Any) -> str:
    """Convert the value of a feature to a cell of a CSV table.

    Numbers and texts are written as they are, other bytes as ``base64:...``, lists of values as JSON.
    """
    if isinstance(value, bytes):
        text = _decode_text(value)
        if not text or text.startswith(_BASE64_PREFIX):
            return _BASE64_PREFIX + base64.b64encode(value).decode()
        return text
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        return value
    if isinstance(value, bool | int | float):
        return repr(value)
    return "" if value is None else serialize_json(to_json(value)).decode()
