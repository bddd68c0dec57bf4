"""``tf.debugging``: assertions on values and shapes, which raise immediately."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor, as_tensor
from recordmill.compat.tensorflow.ops.inputs import BOOL, NUMBERS, STRINGS, convert_pair

# Maps the name of each assertion on two values to its comparison function and its operator in messages.
BINARY: dict[str, tuple[Callable[..., Any], str]] = {
    "assert_equal": (np.equal, "=="),
    "assert_greater": (np.greater, ">"),
    "assert_greater_equal": (np.greater_equal, ">="),
    "assert_less": (np.less, "<"),
    "assert_less_equal": (np.less_equal, "<="),
    "assert_none_equal": (np.not_equal, "!="),
}
# Maps the name of each comparison with 0 to its comparison function and its operator in messages.
UNARY: dict[str, tuple[Callable[..., Any], str]] = {
    "assert_negative": (np.less, "<"),
    "assert_non_negative": (np.greater_equal, ">="),
    "assert_non_positive": (np.less_equal, "<="),
    "assert_positive": (np.greater, ">"),
}


@op("debugging.Assert", always=True)
def Assert(condition: Any, data: Any, summarize: int | None = None) -> None:
    """``tf.debugging.Assert``: raise InvalidArgumentError with `data` unless all values of `condition` are True."""
    if not np.all(array_of(condition)):
        count = 3 if summarize is None else summarize
        values = [array_of(one).reshape(-1)[: None if count < 0 else count].tolist() for one in data]
        raise InvalidArgumentError(f"assertion failed: {values}")


def _define_binary_assertion(name: str, function: Callable[..., Any], sign: str) -> None:
    @op(f"debugging.{name}", always=True)
    def assert_pair(x: Any, y: Any, message: Any = None, summarize: Any = None) -> None:  # noqa: ARG001
        a, b = convert_pair(as_tensor(x), y, NUMBERS + STRINGS + BOOL, name)
        if not np.all(function(a, b)):
            raise InvalidArgumentError(f"{message or name}: x {sign} y does not hold for x = {a}, y = {b}")

    assert_pair.__name__ = name
    assert_pair.__doc__ = f"Raise InvalidArgumentError unless ``x {sign} y`` holds everywhere."


def _define_unary_assertion(name: str, function: Callable[..., Any], sign: str) -> None:
    @op(f"debugging.{name}", always=True)
    def assert_sign(x: Any, message: Any = None, summarize: Any = None) -> None:  # noqa: ARG001
        array = array_of(x)
        if not np.all(function(array, array.dtype.type(0))):
            raise InvalidArgumentError(f"{message or name}: x {sign} 0 does not hold for x = {array}")

    assert_sign.__name__ = name
    assert_sign.__doc__ = f"Raise InvalidArgumentError unless ``x {sign} 0`` holds everywhere."


for _name, (_function, _sign) in BINARY.items():
    _define_binary_assertion(_name, _function, _sign)
for _name, (_function, _sign) in UNARY.items():
    _define_unary_assertion(_name, _function, _sign)


@op("debugging.check_numerics", always=True)
def check_numerics(tensor: Any, message: str) -> Tensor:
    """``tf.debugging.check_numerics``: return the tensor, or raise an error if it contains infinity or NaN."""
    checked = as_tensor(tensor)
    if not np.all(np.isfinite(checked.values)):
        raise InvalidArgumentError(f"{message}: the tensor contains infinity or NaN")
    return checked


@op("debugging.assert_shapes", always=True)
def assert_shapes(shapes: Any, data: Any = None, summarize: Any = None, message: Any = None) -> None:  # noqa: ARG001
    """``tf.debugging.assert_shapes``: raise ValueError if a tensor does not have its expected shape.

    Axes with the same symbol must have the same length.
    """
    known: dict[str, int] = {}
    for value, expected in shapes.items() if isinstance(shapes, dict) else shapes:
        shape = array_of(value).shape
        if not hasattr(expected, "__iter__"):
            raise ValueError(f"assert_shapes: each shape must be iterable, got {expected!r}")
        entries = list(expected)
        has_any_prefix = bool(entries) and (entries[0] is Ellipsis or entries[0] == "*")
        entries = entries[1:] if has_any_prefix else entries
        matches = len(shape) == len(entries) or (has_any_prefix and len(shape) > len(entries))
        lengths = shape[len(shape) - len(entries) :] if matches else ()
        if not matches or not all(_length_matches(*pair, known) for pair in zip(lengths, entries, strict=True)):
            raise ValueError(f"{message or 'assert_shapes'}: expected shape {tuple(expected)}, got {shape}")


def _length_matches(length: int, entry: Any, known: dict[str, int]) -> bool:
    if entry is None or entry == ".":
        return True
    is_named = isinstance(entry, str) and not entry.isdigit()
    return length == (known.setdefault(entry, length) if is_named else int(entry))
