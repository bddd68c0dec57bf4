"""Checks of values that raise: ``tf.debugging``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor, as_tensor
from recordmill.compat.tensorflow.ops import told
from recordmill.compat.tensorflow.ops.matching import pair_of

_ANY = "efdbhilqBHILQ?O"


@op("debugging.Assert", always=True)
def Assert(condition: Any, data: Any, summarize: int | None = None) -> None:
    """Refuse a condition that does not hold."""
    if bool(np.all(array_of(condition))):
        return
    count = 3 if summarize is None else summarize
    texts = []
    for one in data:
        flat = array_of(one).reshape(-1)
        shown = flat if count < 0 else flat[:count]
        texts.append(", ".join(told.number(value) for value in shown) + (", ..." if len(shown) < len(flat) else ""))
    raise InvalidArgumentError(f"Expected '{condition}' to be true. Summarized data: " + "\n".join(texts))


def _binary(sign: str, compute: Callable[..., Any], x: Any, y: Any, message: Any, summarize: Any) -> None:
    a, b = pair_of(as_tensor(x), y, _ANY, "Equal")
    held = np.asarray(compute(a, b))
    if held.all():
        return
    count = 3 if summarize is None else int(summarize)
    lines = [f"Condition x {sign} y did not hold."]
    if sign in ("==", "!="):
        wrong = np.argwhere(~held)[: None if count < 0 else count]
        places = tuple(wrong.T)
        wide = [np.broadcast_to(one, held.shape) for one in (a, b)]
        lines += [f"Indices of first {len(wrong)} different values:", str(wrong)]
        lines += [f"Corresponding {name} values:\n{one[places]}" for name, one in zip("xy", wide, strict=True)]
    for name, one in (("x", a), ("y", b)):
        flat = one.reshape(-1)[: None if count < 0 else count]
        lines += [f"First {len(flat)} elements of {name}:", str(flat)]
    raise InvalidArgumentError("\n".join([message, *lines] if message else lines))


def _equal(a: NDArray[Any], b: NDArray[Any]) -> Any:
    return a == b


def _differ(a: NDArray[Any], b: NDArray[Any]) -> Any:
    return a != b


@op("debugging.assert_equal", always=True)
def assert_equal(x: Any, y: Any, message: Any = None, summarize: Any = None) -> None:
    """Refuse values that are not equal."""
    _binary("==", _equal, x, y, message, summarize)


@op("debugging.assert_none_equal", always=True)
def assert_none_equal(x: Any, y: Any, summarize: Any = None, message: Any = None) -> None:
    """Refuse values that are equal."""
    _binary("!=", _differ, x, y, message, summarize)


@op("debugging.assert_less", always=True)
def assert_less(x: Any, y: Any, message: Any = None, summarize: Any = None) -> None:
    """Refuse values that are not smaller."""
    _binary("<", np.less, x, y, message, summarize)


@op("debugging.assert_less_equal", always=True)
def assert_less_equal(x: Any, y: Any, message: Any = None, summarize: Any = None) -> None:
    """Refuse values that are larger."""
    _binary("<=", np.less_equal, x, y, message, summarize)


@op("debugging.assert_greater", always=True)
def assert_greater(x: Any, y: Any, message: Any = None, summarize: Any = None) -> None:
    """Refuse values that are not larger."""
    _binary(">", np.greater, x, y, message, summarize)


@op("debugging.assert_greater_equal", always=True)
def assert_greater_equal(x: Any, y: Any, message: Any = None, summarize: Any = None) -> None:
    """Refuse values that are smaller."""
    _binary(">=", np.greater_equal, x, y, message, summarize)


def _unary(sign: str, compute: Callable[..., Any], x: Any, message: Any) -> None:
    array = array_of(x)
    if not np.all(compute(array, array.dtype.type(0))):
        shown = [told.number(one) for one in array.reshape(-1)[:3]]
        gap = "" if sign == "<=" else "\n"
        raise InvalidArgumentError(
            f"{message or ''}\nCondition x {sign} 0 did not hold element-wise:{gap}"
            f"x (shape={array.shape} dtype={array.dtype}) = \n{shown}"
        )


@op("debugging.assert_positive", always=True)
def assert_positive(x: Any, message: Any = None, summarize: Any = None) -> None:  # noqa: ARG001
    """Refuse values that are not above 0."""
    _unary(">", np.greater, x, message)


@op("debugging.assert_non_negative", always=True)
def assert_non_negative(x: Any, message: Any = None, summarize: Any = None) -> None:  # noqa: ARG001
    """Refuse values below 0."""
    _unary(">=", np.greater_equal, x, message)


@op("debugging.assert_negative", always=True)
def assert_negative(x: Any, message: Any = None, summarize: Any = None) -> None:  # noqa: ARG001
    """Refuse values that are not below 0."""
    _unary("<", np.less, x, message)


@op("debugging.assert_non_positive", always=True)
def assert_non_positive(x: Any, message: Any = None, summarize: Any = None) -> None:  # noqa: ARG001
    """Refuse values above 0."""
    _unary("<=", np.less_equal, x, message)


@op("debugging.assert_near", always=True)
def assert_near(
    x: Any,
    y: Any,
    rtol: Any = None,
    atol: Any = None,
    message: Any = None,
    summarize: Any = None,  # noqa: ARG001
) -> None:
    """Refuse values that differ by more than ``atol + rtol * abs(y)``, ten steps of the dtype unless given."""
    a, b = pair_of(as_tensor(x), y, "efd", "Sub")
    step = 10 * np.finfo(a.dtype).eps
    relative, absolute = (step if one is None else float(array_of(one)) for one in (rtol, atol))
    if not np.all(np.abs(a - b) <= absolute + relative * np.abs(b)):
        raise InvalidArgumentError(
            f"{message or ''}\nx and y not equal to tolerance rtol = {relative}, atol = {absolute}\n"
            f"x (shape={a.shape} dtype={a.dtype}) = {a}\ny (shape={b.shape} dtype={b.dtype}) = {b}"
        )


@op("debugging.check_numerics", always=True)
def check_numerics(tensor: Any, message: str) -> Tensor:
    """Refuse infinite values and those that are no numbers; otherwise give the tensor."""
    found = as_tensor(tensor)
    wrong = [name for name, test in (("Inf", np.isinf), ("NaN", np.isnan)) if np.any(test(found.values))]
    if wrong:
        raise InvalidArgumentError(f"{message} : Tensor had {' and '.join(wrong)} values [Op:CheckNumerics]")
    return found


@op("debugging.assert_all_finite", always=True)
def assert_all_finite(x: Any, message: str) -> Tensor:
    """Refuse infinite values and those that are no numbers; otherwise give the tensor."""
    return check_numerics(x, message)
