"""Short texts for values of samples: labels with their class names, and shortened values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

# Names of features that hold the label of a sample, in the order of preference.
LABEL_FEATURES = ("label", "labels", "image/class/label", "class", "target", "y")
_MAX_CHARS = 60
_MAX_VALUES = 6


def find_label_feature(sample: Mapping[str, Any]) -> str | None:
    """Return the name of the feature that holds the label; None if there is none."""
    return next((name for name in LABEL_FEATURES if name in sample), None)


def format_caption(sample: Mapping[str, Any], classes: Sequence[str] | None) -> str:
    """Return the class name of a sample, or its label if the class has no name; empty without a label."""
    name = find_label_feature(sample)
    return "" if name is None else format_label(sample[name], classes)


def format_label(value: Any, classes: Sequence[str] | None) -> str:
    """Return the class names of one or several label numbers; labels without a class name as they are."""
    if classes and isinstance(value, int | float | np.number | np.ndarray):
        numbers = np.asarray(value).reshape(-1)
        if 0 < numbers.size <= _MAX_VALUES and numbers.dtype.kind in "iuf":
            return ", ".join(_format_class(number, classes) for number in numbers.tolist())
    return format_value(value)


def _format_class(number: float, classes: Sequence[str]) -> str:
    is_class = 0 <= number < len(classes) and int(number) == number
    return str(classes[int(number)]) if is_class else _format_number(number)


def format_value(value: Any) -> str:
    """Return a value of a feature as a short text in one line."""
    if isinstance(value, bytes | bytearray | memoryview):
        return _format_bytes(bytes(value[: 4 * _MAX_CHARS]), len(value))
    if isinstance(value, str):
        return _format_printable(value)
    if hasattr(value, "row_splits") or isinstance(value, list | tuple):
        shown = ", ".join(format_value(row) for row in islice(value, _MAX_VALUES))
        return _format_printable(f"[{shown}{', …' if len(value) > _MAX_VALUES else ''}]")
    array = np.asarray(value)
    if array.ndim == 0:
        return _format_number(array.item())
    if array.ndim == 1 and array.size <= _MAX_VALUES:
        return ", ".join(map(_format_number, array.tolist()))
    return f"{array.dtype}[{'x'.join(map(str, array.shape))}]"


def _format_bytes(head: bytes, num_bytes: int) -> str:
    """Return the bytes as text if they begin with UTF-8 text, otherwise their number."""
    # A character may be cut at the end of `head`.
    text = head.decode("utf-8", "ignore" if num_bytes > len(head) else "replace")
    is_text = all(char.isprintable() or char in "\t\r\n" for char in text) and "\ufffd" not in text
    if not is_text or (num_bytes and not text) or len(text.encode()) < len(head) - 3:
        return f"{num_bytes:,} bytes"
    return _format_printable(text)


def _format_printable(text: str) -> str:
    """Replace line breaks and unprintable characters, and shorten the text."""
    line = " ".join(text[: 2 * _MAX_CHARS].split())
    line = "".join(char if char.isprintable() else "\ufffd" for char in line)
    return line if len(line) <= _MAX_CHARS else line[: _MAX_CHARS - 1] + "…"


def _format_number(number: Any) -> str:
    return f"{number:.6g}" if isinstance(number, float) else _format_printable(str(number))
