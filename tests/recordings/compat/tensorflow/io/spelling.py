"""What calls of TensorFlow, or of ours, return or raise, as JSON."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

# What TensorFlow puts around the sentence: its node, and the operation.
NODE = re.compile(r"\{\{function_node.*?\}\} ")
TAIL = re.compile(r"( \[Op:|\n|: goo\.gle/debug).*", re.DOTALL)


def flat(array: Any) -> list[Any]:
    """Return values that lose nothing: bytes in hexadecimal, floats as their bits."""
    values = np.asarray(array)
    if values.dtype.kind in "OSU":
        items = np.asarray(array, object).reshape(-1).tolist()
        return [(item.encode() if isinstance(item, str) else item).hex() for item in items]
    if values.dtype.kind == "f":
        return [f"{bits:x}" for bits in values.reshape(-1).view(f"u{values.dtype.itemsize}").tolist()]
    return list(values.reshape(-1).tolist())


def spell(value: Any) -> Any:
    """Return a result as JSON."""
    if isinstance(value, dict):
        return {name: spell(value[name]) for name in sorted(value)}
    if isinstance(value, list | tuple):
        return [spell(item) for item in value]
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if hasattr(value, "dense_shape"):
        return {name: spell(getattr(value, name)) for name in ("indices", "values", "dense_shape")}
    if hasattr(value, "flat_values"):
        splits = [[splits.dtype.name, splits.numpy().tolist()] for splits in value.nested_row_splits]
        return {"shape": list(value.shape), "splits": splits, "values": spell(value.flat_values)}
    array = value.numpy() if hasattr(value, "numpy") else value
    return {"dtype": value.dtype.name, "shape": list(value.shape), "values": flat(array)}


def outcome(act: Callable[[], Any]) -> dict[str, Any]:
    """Return what a call returns, or the class and the sentence of what it raises."""
    try:
        return {"result": spell(act())}
    except Exception as error:
        message = getattr(error, "message", None) or str(error)
        return {"error": type(error).__name__, "message": TAIL.sub("", NODE.sub("", message))}
