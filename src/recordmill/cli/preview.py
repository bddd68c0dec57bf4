"""Type and size of an encoded image, read from its first bytes."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable
from typing import Any

_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_JPEG_ALONE = frozenset((0x01, *range(0xD0, 0xD9)))
_TIFF_WIDTH, _TIFF_HEIGHT = 256, 257


def describe_image(data: bytes) -> str | None:
    """Tell type and size of an image."""
    for name, is_type, find_size in _TYPES:
        if is_type(data):
            try:
                found = find_size(data)
            except (struct.error, IndexError):
                found = None
            return name if found is None else f"{name} {found[0]}x{found[1]}"
    return None


Size = tuple[int, int] | None


def _jpeg(data: bytes) -> Size:
    """Walk the marker segments up to the frame header."""
    place = 2
    while place + 9 <= len(data):
        if data[place] != 0xFF:
            return None
        marker = data[place + 1]
        if marker == 0xFF:
            place += 1
        elif marker in _JPEG_ALONE:
            place += 2
        elif marker in _JPEG_FRAMES:
            height, width = struct.unpack_from(">HH", data, place + 5)
            return width, height
        else:
            place += 2 + max(2, struct.unpack_from(">H", data, place + 2)[0])
    return None


def _png(data: bytes) -> Size:
    width, height = struct.unpack_from(">II", data, 16)
    return width, height


def _gif(data: bytes) -> Size:
    width, height = struct.unpack_from("<HH", data, 6)
    return width, height


def _bmp(data: bytes) -> Size:
    width, height = struct.unpack_from("<ii", data, 18)
    return width, abs(height)


def _webp(data: bytes) -> Size:
    if data[12:16] == b"VP8X":
        return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
    if data[12:16] == b"VP8L":
        bits = struct.unpack_from("<I", data, 21)[0]
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    width, height = struct.unpack_from("<HH", data, 26)
    return width & 0x3FFF, height & 0x3FFF


def _tiff(data: bytes) -> Size:
    order = "<" if data[:2] == b"II" else ">"
    start = struct.unpack_from(order + "I", data, 4)[0]
    count = struct.unpack_from(order + "H", data, start)[0]
    found: dict[int, int] = {}
    for place in range(start + 2, start + 2 + 12 * count, 12):
        tag, kind = struct.unpack_from(order + "HH", data, place)
        if tag in (_TIFF_WIDTH, _TIFF_HEIGHT):
            found[tag] = struct.unpack_from(order + ("H" if kind == 3 else "I"), data, place + 8)[0]
    return (found[_TIFF_WIDTH], found[_TIFF_HEIGHT]) if len(found) == 2 else None


_TYPES: tuple[tuple[str, Callable[[bytes], bool], Callable[[bytes], Size]], ...] = (
    ("jpeg", lambda data: data[:3] == b"\xff\xd8\xff", _jpeg),
    ("png", lambda data: data[:8] == b"\x89PNG\r\n\x1a\n", _png),
    ("gif", lambda data: data[:6] in (b"GIF87a", b"GIF89a"), _gif),
    ("webp", lambda data: data[:4] == b"RIFF" and data[8:12] == b"WEBP", _webp),
    ("tiff", lambda data: data[:4] in (b"II*\0", b"MM\0*"), _tiff),
    ("bmp", lambda data: data[:2] == b"BM" and data[6:10] == b"\0\0\0\0" and len(data) > 26, _bmp),
)


# How much of a value is shown.
_NUM_VALUES = 16
_NUM_ROWS = 4
_TEXT_CHARS = 60
_SHOWN_NUMBERS = 6


def plain_value(value: Any) -> Any:
    """Value of a feature as JSON can hold it, shortened."""
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
    """Kind of the values of a feature, in the words of schemas."""
    if isinstance(value, list):
        return kind_of(value[0]) if value else ""
    if hasattr(value, "row_splits"):
        inner = kind_of(value.data)
        return "bytes" if inner == "uint8" else inner
    return str(value.dtype) if hasattr(value, "dtype") else type(value).__name__


def words(plain: Any) -> tuple[str, str]:
    """Shape and value of a feature in words."""
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
