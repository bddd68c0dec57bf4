"""Python operators of tensors. Each operator calls a TensorFlow operation, such as "math.add" for ``+``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from recordmill.compat.tensorflow.core.dispatch import call_operation

_Method = Callable[..., Any]


def _make_unary_method(name: str) -> _Method:
    def unary_method(self: Any) -> Any:
        return call_operation(name, self)

    return unary_method


def _make_binary_methods(name: str) -> tuple[_Method, _Method]:
    """Return the two methods of a binary operator, such as ``__add__`` and ``__radd__``."""

    def binary_method(self: Any, other: Any) -> Any:
        return call_operation(name, self, other)

    def reflected_method(self: Any, other: Any) -> Any:
        return call_operation(name, other, self)

    return binary_method, reflected_method


class ElementwiseOperators:
    """Elementwise operators of dense and ragged tensors."""

    __slots__ = ()
    # With this attribute, NumPy's operators call the tensor's operators, so that `array + tensor` is a tensor.
    __array_priority__ = 100

    __add__, __radd__ = _make_binary_methods("math.add")
    __sub__, __rsub__ = _make_binary_methods("math.subtract")
    __mul__, __rmul__ = _make_binary_methods("math.multiply")
    __truediv__, __rtruediv__ = _make_binary_methods("math.truediv")
    __floordiv__, __rfloordiv__ = _make_binary_methods("math.floordiv")
    __mod__, __rmod__ = _make_binary_methods("math.floormod")
    __pow__, __rpow__ = _make_binary_methods("math.pow")
    __and__, __rand__ = _make_binary_methods("math.and")
    __or__, __ror__ = _make_binary_methods("math.or")
    __xor__, __rxor__ = _make_binary_methods("math.xor")
    __lt__, __gt__ = _make_binary_methods("math.less")[0], _make_binary_methods("math.greater")[0]
    __le__, __ge__ = _make_binary_methods("math.less_equal")[0], _make_binary_methods("math.greater_equal")[0]
    __neg__, __abs__, __invert__ = (
        _make_unary_method("math.negative"),
        _make_unary_method("math.abs"),
        _make_unary_method("math.invert"),
    )

    def __eq__(self, other: object) -> Any:
        """Implement ``==``: compare element by element; if `other` is None, return a single False."""
        return False if other is None else call_operation("math.equal_or_false", self, other)

    def __ne__(self, other: object) -> Any:
        """Implement ``!=``: compare element by element; if `other` is None, return a single True."""
        return True if other is None else call_operation("math.not_equal_or_true", self, other)

    __hash__ = None  # type: ignore[assignment]


class TensorOperators(ElementwiseOperators):
    """Operators of dense tensors, and of symbolic tensors while a map function is traced."""

    __slots__ = ()

    __matmul__, __rmatmul__ = _make_binary_methods("linalg.matmul")

    def __getitem__(self, key: Any) -> Any:
        """Return the part of the tensor that the index, slice or tuple `key` selects."""
        return call_operation("array.getitem", self, key)

    __hash__ = None
