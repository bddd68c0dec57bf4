"""Python operators of tensors, implemented as calls of operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from recordmill.compat.tensorflow.core.dispatch import run

_Method = Callable[..., Any]


def _unary(name: str) -> _Method:
    def method(self: Any) -> Any:
        return run(name, self)

    return method


def _binary(name: str) -> tuple[_Method, _Method]:
    """Return the method of an operator and the one with swapped operands."""

    def method(self: Any, other: Any) -> Any:
        return run(name, self, other)

    def swapped(self: Any, other: Any) -> Any:
        return run(name, other, self)

    return method, swapped


class Arithmetic:
    """Elementwise operators of dense and ragged tensors."""

    __slots__ = ()
    # NumPy's operators defer to these, so that `array + tensor` is a tensor.
    __array_priority__ = 100

    __add__, __radd__ = _binary("math.add")
    __sub__, __rsub__ = _binary("math.subtract")
    __mul__, __rmul__ = _binary("math.multiply")
    __truediv__, __rtruediv__ = _binary("math.truediv")
    __floordiv__, __rfloordiv__ = _binary("math.floordiv")
    __mod__, __rmod__ = _binary("math.floormod")
    __pow__, __rpow__ = _binary("math.pow")
    __and__, __rand__ = _binary("math.and")
    __or__, __ror__ = _binary("math.or")
    __xor__, __rxor__ = _binary("math.xor")
    __lt__, __gt__ = _binary("math.less")[0], _binary("math.greater")[0]
    __le__, __ge__ = _binary("math.less_equal")[0], _binary("math.greater_equal")[0]
    __neg__, __abs__, __invert__ = _unary("math.negative"), _unary("math.abs"), _unary("math.invert")

    def __eq__(self, other: object) -> Any:
        """Compare element by element; no tensor equals None."""
        return False if other is None else run("math.equal_or_false", self, other)

    def __ne__(self, other: object) -> Any:
        """Compare element by element; no tensor equals None."""
        return True if other is None else run("math.not_equal_or_true", self, other)

    __hash__ = None  # type: ignore[assignment]


class Operators(Arithmetic):
    """Operators of dense tensors and of the symbolic tensors of a map function that is being traced."""

    __slots__ = ()

    __matmul__, __rmatmul__ = _binary("linalg.matmul")

    def __getitem__(self, key: Any) -> Any:
        """Return the part of the tensor that an index selects."""
        return run("array.getitem", self, key)

    __hash__ = None
