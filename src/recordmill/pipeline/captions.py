"""Format values of samples as short texts: labels as class names, and long values shortened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from recordmill.value_text import LABEL_FEATURES, describe_value, find_class_name

_MAX_CHARS = 60
_MAX_LABELS = 6


def format_caption(sample: Mapping[str, Any], classes: Sequence[str] | None) -> str:
    """Return the class name of a sample, its label if the class has no name, or an empty text if there is no label."""
    name = next((name for name in LABEL_FEATURES if name in sample), None)
    return "" if name is None else format_label(sample[name], classes)


def format_label(value: Any, classes: Sequence[str] | None) -> str:
    """Return the class names of one or several label numbers; a label without a class name stays a number."""
    if classes and isinstance(value, int | float | np.number | np.ndarray):
        numbers = np.asarray(value).reshape(-1)
        if 0 < numbers.size <= _MAX_LABELS and numbers.dtype.kind in "iuf":
            return ", ".join(_format_class(number, classes) for number in numbers.tolist())
    return format_value(value)


def _format_class(number: float, classes: Sequence[str]) -> str:
    return find_class_name(number, list(classes)) or format_value(number)


def format_value(value: Any) -> str:
    """Return a value of a feature as a short text in one line."""
    text, is_shortened = describe_value(value, _MAX_CHARS)
    line = "".join(char if char.isprintable() else "\ufffd" for char in " ".join(text.split()))
    return f"{line[: _MAX_CHARS - 1]}…" if is_shortened and len(text) == _MAX_CHARS else line
