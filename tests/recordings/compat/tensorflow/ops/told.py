"""Results of expressions as plain values that JSON keeps: under TensorFlow and under ours alike."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np


def told(compute: Callable[[], Any]) -> Any:
    """Tell what a call returns or raises."""
    try:
        return value(compute())
    except Exception as error:
        return {"raises": type(error).__name__, "text": text(str(error))}


def text(message: str) -> str:
    """The part of a message that does not depend on how the operation was run."""
    message = re.sub(r"\{\{.*?\}\} ?", "", message)
    message = re.split(r"\s*\[Op:|\t|allowed values:|; NodeDef|, node| name: ", message)[0]
    return re.sub(r"\s+", " ", message).strip()[:80]


def value(found: Any) -> Any:
    """A tensor as dtype, shape and values; floating-point numbers by all their digits."""
    if hasattr(found, "to_list"):
        return {"ragged": [_plain(one) for one in found.to_list()], "dtype": found.dtype.name}
    if hasattr(found, "numpy") and hasattr(found, "dtype"):
        array = np.asarray(found.numpy(), dtype=object if found.dtype.name == "string" else None)
        shape = [int(one) for one in found.shape]
        return {"dtype": found.dtype.name, "shape": shape, "values": [_plain(one) for one in array.ravel().tolist()]}
    if isinstance(found, list | tuple):
        return [value(one) for one in found]
    if isinstance(found, bool | int | float | str) or found is None:
        return _plain(found)
    return repr(found)


def _plain(one: Any) -> Any:
    if isinstance(one, list):
        return [_plain(inner) for inner in one]
    if isinstance(one, bytes):
        return one.decode("latin-1")
    return float.hex(one) if isinstance(one, float) else one
