"""Convert values of features to JSON or text, shortened by default. Images are described by type and size."""

from __future__ import annotations

import base64
import hashlib
import struct
from collections.abc import Callable
from typing import Any

# `to_json_value` returns at most this many numbers, rows or characters of a value, unless `full` is True.
_MAX_VALUES = 16
_MAX_ROWS = 4
_MAX_CHARS = 60
# `format_value` prints at most this many numbers or rows of a value.
_MAX_PRINTED_VALUES = 6
_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_JPEG_ALONE = frozenset((0x01, *range(0xD0, 0xD9)))
_TIFF_WIDTH, _TIFF_HEIGHT = 256, 257
Size = tuple[int, int] | None
# Usual names of the feature that contains the label, in order of preference.
LABEL_FEATURES = ("label", "labels", "image/class/label", "class", "target", "y")


def to_json_value(value: Any, *, full: bool = False) -> Any:
    """Convert the value of a feature to JSON values; unless `full`, shorten long values and flag them as truncated."""
    if isinstance(value, bytes | bytearray | memoryview):
        return _bytes_to_json(bytes(value), full)
    if hasattr(value, "dtype") and value.shape == ():
        return value.item()
    if hasattr(value, "dtype"):
        values = value.reshape(-1) if full else value.reshape(-1)[:_MAX_VALUES]
        plain = {"kind": str(value.dtype), "shape": list(value.shape), "values": values.tolist()}
        return plain | _flag_truncation(len(values) < value.size)
    if hasattr(value, "row_splits") or isinstance(value, list):
        return _rows_to_json(value, full)
    return value


def _flag_truncation(is_truncated: bool) -> dict[str, bool]:
    return {"truncated": True} if is_truncated else {}


def _rows_to_json(value: Any, full: bool) -> dict[str, Any]:
    count = len(value) if full else min(len(value), _MAX_ROWS)
    rows = [to_json_value(value[row], full=full) for row in range(count)]
    nested = any(isinstance(row, dict) and "shape" in row for row in rows)
    plain = {"kind": find_value_kind(value), "shape": [len(value), *([None] if nested else [])], "values": rows}
    return plain | _flag_truncation(count < len(value))


def _bytes_to_json(value: bytes, full: bool) -> dict[str, Any]:
    plain: dict[str, Any] = {"num_bytes": len(value)}
    image = describe_image(value)
    text = None if image else _decode_text(value, None if full else _MAX_CHARS)
    if image is not None:
        plain["image"] = image
    elif text is not None:
        plain |= {"text": text} | _flag_truncation(len(text.encode()) < len(value))
    else:
        plain["sha256"] = hashlib.sha256(value).hexdigest()
    if full and text is None:
        plain["base64"] = base64.b64encode(value).decode()
    return plain


def _decode_text(value: bytes, max_chars: int | None) -> str | None:
    """Decode the first characters of UTF-8 bytes; return None if the bytes are not text."""
    part = value if max_chars is None else value[: 4 * max_chars]
    try:
        text = part.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start < len(part) - 3 or len(part) == len(value):
            return None
        text = part[: error.start].decode("utf-8")
    return text[:max_chars] if all(char.isprintable() or char in "\t\r\n" for char in text) else None


def find_value_kind(value: Any) -> str:
    """Return the data type of a feature value, such as ``"int64"`` or ``"bytes"``."""
    if isinstance(value, list):
        return find_value_kind(value[0]) if value else ""
    if hasattr(value, "row_splits"):
        inner = find_value_kind(value.data)
        return "bytes" if inner == "uint8" else inner
    return str(value.dtype) if hasattr(value, "dtype") else type(value).__name__


def format_value(plain: Any) -> tuple[str, str]:
    """Format a result of `to_json_value`: return the shape and the value as two strings."""
    if isinstance(plain, dict) and "num_bytes" in plain:
        return "", _format_bytes(plain)
    if isinstance(plain, dict):
        shape = "x".join("?" if size is None else str(size) for size in plain["shape"])
        values = ", ".join(_format_element(entry) for entry in plain["values"][:_MAX_PRINTED_VALUES])
        is_complete = plain["shape"] == [len(plain["values"])] and len(plain["values"]) <= _MAX_PRINTED_VALUES
        return shape, values + ("" if is_complete else ", …") if values else "none"
    return "", _format_element(plain)


def format_number(number: float | None) -> str:
    """Format a number for a table: integers with separators, floats with six digits, None as an empty text."""
    if number is None:
        return ""
    return f"{number:,}" if isinstance(number, int) else f"{number:.6g}"


def _format_element(entry: Any) -> str:
    if isinstance(entry, float):
        return f"{entry:.6g}"
    return format_value(entry)[1] if isinstance(entry, dict) else str(entry)


def _format_bytes(plain: dict[str, Any]) -> str:
    size = f"{plain['num_bytes']:,} bytes"
    if "image" in plain:
        return f"{plain['image']}, {size}"
    if "text" in plain:
        text = plain["text"] + ("…" if "truncated" in plain else "")
        return f"{text!r}, {size}"
    return f"sha256 {plain['sha256'][:12]}…, {size}"


def describe_value(value: Any, max_chars: int) -> tuple[str, bool]:
    """Return a value as text of at most `max_chars` characters, and True if it was shortened."""
    if isinstance(value, bytes | bytearray | memoryview):
        return _describe_bytes(bytes(value), max_chars)
    if isinstance(value, str):
        return value[:max_chars], len(value) > max_chars
    if hasattr(value, "row_splits") or isinstance(value, list | tuple):
        return _describe_rows(value, max_chars)
    numbers = [value]
    if hasattr(value, "reshape"):
        numbers = value.reshape(-1)[: max_chars + 1].tolist()
    text = ", ".join(map(_format_element, numbers))
    return text[:max_chars], len(text) > max_chars


def _describe_bytes(value: bytes, max_chars: int) -> tuple[str, bool]:
    image = describe_image(value)
    text = None if image else _decode_text(value, max_chars + 1)
    if text is not None:
        return text[:max_chars], len(text) > max_chars
    size = f"{len(value):,} bytes"
    return f"{image}, {size}" if image else size, True


def _describe_rows(rows: Any, max_chars: int) -> tuple[str, bool]:
    parts: list[str] = []
    num_chars, is_shortened = 0, False
    for row in rows:
        if num_chars > max_chars:
            is_shortened = True
            break
        text, is_part = describe_value(row, max_chars)
        is_shortened |= is_part
        parts.append(text)
        num_chars += len(text) + 2
    text = ", ".join(parts)
    return text[:max_chars], is_shortened or len(text) > max_chars


def find_class_name(label: float, classes: list[str] | None) -> str | None:
    """Return the class name of a label number; None if the label has no class name."""
    if not classes or not 0 <= label < len(classes) or int(label) != label:
        return None
    return classes[int(label)]


def describe_image(data: bytes) -> str | None:
    """Return the type and size of an image, such as ``"jpeg 640x480"``; None for other bytes."""
    for name, is_type, read_size in _TYPES:
        if is_type(data):
            try:
                size = read_size(data)
            except (struct.error, IndexError):
                size = None
            return name if size is None else f"{name} {size[0]}x{size[1]}"
    return None


def _read_jpeg_size(data: bytes) -> Size:
    """Read the width and height of a JPEG from its frame header. Skip the marker segments before this header."""
    offset = 2
    while offset + 9 <= len(data):
        if data[offset] != 0xFF:
            return None
        marker = data[offset + 1]
        if marker == 0xFF:
            offset += 1
        elif marker in _JPEG_ALONE:
            offset += 2
        elif marker in _JPEG_FRAMES:
            height, width = struct.unpack_from(">HH", data, offset + 5)
            return width, height
        else:
            offset += 2 + max(2, struct.unpack_from(">H", data, offset + 2)[0])
    return None


def _read_png_size(data: bytes) -> Size:
    width, height = struct.unpack_from(">II", data, 16)
    return width, height


def _read_gif_size(data: bytes) -> Size:
    width, height = struct.unpack_from("<HH", data, 6)
    return width, height


def _read_bmp_size(data: bytes) -> Size:
    width, height = struct.unpack_from("<ii", data, 18)
    return width, abs(height)


def _read_webp_size(data: bytes) -> Size:
    if data[12:16] == b"VP8X":
        return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
    if data[12:16] == b"VP8L":
        bits = struct.unpack_from("<I", data, 21)[0]
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    width, height = struct.unpack_from("<HH", data, 26)
    return width & 0x3FFF, height & 0x3FFF


def _read_tiff_size(data: bytes) -> Size:
    order = "<" if data[:2] == b"II" else ">"
    start = struct.unpack_from(order + "I", data, 4)[0]
    count = struct.unpack_from(order + "H", data, start)[0]
    sizes: dict[int, int] = {}
    for offset in range(start + 2, start + 2 + 12 * count, 12):
        tag, kind = struct.unpack_from(order + "HH", data, offset)
        if tag in (_TIFF_WIDTH, _TIFF_HEIGHT):
            sizes[tag] = struct.unpack_from(order + ("H" if kind == 3 else "I"), data, offset + 8)[0]
    return (sizes[_TIFF_WIDTH], sizes[_TIFF_HEIGHT]) if len(sizes) == 2 else None


_TYPES: tuple[tuple[str, Callable[[bytes], bool], Callable[[bytes], Size]], ...] = (
    ("jpeg", lambda data: data[:3] == b"\xff\xd8\xff", _read_jpeg_size),
    ("png", lambda data: data[:8] == b"\x89PNG\r\n\x1a\n", _read_png_size),
    ("gif", lambda data: data[:6] in (b"GIF87a", b"GIF89a"), _read_gif_size),
    ("webp", lambda data: data[:4] == b"RIFF" and data[8:12] == b"WEBP", _read_webp_size),
    ("tiff", lambda data: data[:4] in (b"II*\0", b"MM\0*"), _read_tiff_size),
    ("bmp", lambda data: data[:2] == b"BM" and data[6:10] == b"\0\0\0\0" and len(data) > 26, _read_bmp_size),
)
