"""Short forms of feature values: numbers as they are, images by type and size, other bytes by text or digest."""

from __future__ import annotations

import hashlib
from typing import Any

from recordmill.cli.image_header import describe_image

# How much of a value is shown.
_NUM_VALUES = 16
_NUM_ROWS = 4
_TEXT_CHARS = 60
_SHOWN_NUMBERS = 6


def plain_value(value: Any) -> Any:
    """Value of a feature as JSON can hold it, shortened.

    Parameters
    ----------
    value : bytes, number, ndarray, Ragged, or list of them
        As a data set gives it.

    Returns
    -------
    object
        A number or ``{"num_bytes", "image" or "text" or "sha256"}`` for one value; for several
        ``{"kind", "shape", "values"}`` with the first 16 numbers or 4 rows; None in a shape where it varies.
    """
    if isinstance(value, bytes | bytearray | memoryview):
        return _bytes(bytes(value))
    if hasattr(value, "dtype") and value.shape == ():
        return value.item()
    if hasattr(value, "dtype"):
        return {
            "kind": str(value.dtype),
            "shape": list(value.shape),
            "values": value.reshape(-1)[:_NUM_VALUES].tolist(),
        }
    if hasattr(value, "row_splits") or isinstance(value, list):
        return _rows(value)
    return value


def _rows(value: Any) -> dict[str, Any]:
    rows = [plain_value(value[place]) for place in range(min(len(value), _NUM_ROWS))]
    nested = any(isinstance(row, dict) and "shape" in row for row in rows)
    return {"kind": kind_of(value), "shape": [len(value), *([None] if nested else [])], "values": rows}


def _bytes(value: bytes) -> dict[str, Any]:
    plain: dict[str, Any] = {"num_bytes": len(value)}
    image = describe_image(value)
    text = None if image else _text(value)
    if image is not None:
        plain["image"] = image
    elif text is not None:
        plain["text"] = text
    else:
        plain["sha256"] = hashlib.sha256(value).hexdigest()
    return plain


def _text(value: bytes) -> str | None:
    """Begin of a text, or None for other bytes."""
    part = value[: 4 * _TEXT_CHARS]
    try:
        text = part.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start < len(part) - 3 or len(part) == len(value):
            return None
        text = part[: error.start].decode("utf-8")
    if not all(char.isprintable() or char in "\t\r\n" for char in text):
        return None
    return text if len(text) <= _TEXT_CHARS and len(part) == len(value) else text[:_TEXT_CHARS] + "…"


def kind_of(value: Any) -> str:
    """Kind of the values of a feature, in the words of schemas.

    Parameters
    ----------
    value : bytes, number, ndarray, Ragged, or list of them

    Returns
    -------
    str
    """
    if isinstance(value, list):
        return kind_of(value[0]) if value else ""
    if hasattr(value, "row_splits"):
        inner = kind_of(value.data)
        return "bytes" if inner == "uint8" else inner
    return str(value.dtype) if hasattr(value, "dtype") else type(value).__name__


def words(plain: Any) -> tuple[str, str]:
    """Shape and value of a feature in words.

    Parameters
    ----------
    plain : object
        As `plain_value` gives it.

    Returns
    -------
    (str, str)
    """
    if isinstance(plain, dict) and "num_bytes" in plain:
        return "", _bytes_words(plain)
    if isinstance(plain, dict):
        shape = "x".join("?" if size is None else str(size) for size in plain["shape"])
        values = ", ".join(_short(entry) for entry in plain["values"][:_SHOWN_NUMBERS])
        complete = plain["shape"] == [len(plain["values"])] and len(plain["values"]) <= _SHOWN_NUMBERS
        return shape, values + ("" if complete else ", …") if values else "none"
    return "", _short(plain)


def _short(entry: Any) -> str:
    if isinstance(entry, float):
        return f"{entry:.6g}"
    return words(entry)[1] if isinstance(entry, dict) else str(entry)


def _bytes_words(plain: dict[str, Any]) -> str:
    size = f"{plain['num_bytes']:,} bytes"
    if "image" in plain:
        return f"{plain['image']}, {size}"
    if "text" in plain:
        return f"{plain['text']!r}, {size}"
    return f"sha256 {plain['sha256'][:12]}…, {size}"
