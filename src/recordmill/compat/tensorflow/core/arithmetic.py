"""Python's arithmetic and comparison of dense and ragged tensors, as calls of operations."""

from __future__ import annotations

from typing import Any

from recordmill.compat.tensorflow.core.dispatch import run


class Arithmetic:
    """Operators that work element by element."""

    __slots__ = ()
    # NumPy's own operators step back, so that `array + tensor` is a tensor.
    __array_priority__ = 100

    def __add__(self, other: Any) -> Any:
        """Element by element."""
        return run("math.add", self, other)

    def __radd__(self, other: Any) -> Any:
        """Element by element."""
        return run("math.add", other, self)

    def __sub__(self, other: Any) -> Any:
        """Element by element."""
        return run("math.subtract", self, other)

    def __rsub__(self, other: Any) -> Any:
        """Element by element."""
        return run("math.subtract", other, self)

    def __mul__(self, other: Any) -> Any:
        """Element by element."""
        return run("math.multiply", self, other)

    def __rmul__(self, other: Any) -> Any:
        """Element by element."""
        return run("math.multiply", other, self)

    def __truediv__(self, other: Any) -> Any:
        """Element by element; whole numbers are divided as floating-point ones."""
        return run("math.truediv", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        """Element by element; whole numbers are divided as floating-point ones."""
        return run("math.truediv", other, self)

    def __floordiv__(self, other: Any) -> Any:
        """Element by element."""
        return run("math.floordiv", self, other)

    def __rfloordiv__(self, other: Any) -> Any:
        """Element by element."""
        return run("math.floordiv", other, self)

    def __mod__(self, other: Any) -> Any:
        """Element by element."""
        return run("math.floormod", self, other)

    def __rmod__(self, other: Any) -> Any:
        """Element by element."""
        return run("math.floormod", other, self)

    def __pow__(self, other: Any) -> Any:
        """Element by element."""
        return run("math.pow", self, other)

    def __rpow__(self, other: Any) -> Any:
        """Element by element."""
        return run("math.pow", other, self)

    def __neg__(self) -> Any:
        """Element by element."""
        return run("math.negative", self)

    def __abs__(self) -> Any:
        """Element by element."""
        return run("math.abs", self)

    def __invert__(self) -> Any:
        """Logical not of truth values, bitwise of whole numbers."""
        return run("math.invert", self)

    def __and__(self, other: Any) -> Any:
        """Logical and of truth values, bitwise of whole numbers."""
        return run("math.and", self, other)

    def __rand__(self, other: Any) -> Any:
        """Logical and of truth values, bitwise of whole numbers."""
        return run("math.and", other, self)

    def __or__(self, other: Any) -> Any:
        """Logical or of truth values, bitwise of whole numbers."""
        return run("math.or", self, other)

    def __ror__(self, other: Any) -> Any:
        """Logical or of truth values, bitwise of whole numbers."""
        return run("math.or", other, self)

    def __xor__(self, other: Any) -> Any:
        """Logical exclusive or of truth values, bitwise of whole numbers."""
        return run("math.xor", self, other)

    def __rxor__(self, other: Any) -> Any:
        """Logical exclusive or of truth values, bitwise of whole numbers."""
        return run("math.xor", other, self)

    def __lt__(self, other: Any) -> Any:
        """Element by element."""
        return run("math.less", self, other)

    def __le__(self, other: Any) -> Any:
        """Element by element."""
        return run("math.less_equal", self, other)

    def __gt__(self, other: Any) -> Any:
        """Element by element."""
        return run("math.greater", self, other)

    def __ge__(self, other: Any) -> Any:
        """Element by element."""
        return run("math.greater_equal", self, other)

    def __eq__(self, other: object) -> Any:
        """Element by element; nothing is None."""
        return False if other is None else run("math.equal_or_false", self, other)

    def __ne__(self, other: object) -> Any:
        """Element by element; nothing is None."""
        return True if other is None else run("math.not_equal_or_true", self, other)

    __hash__ = None  # type: ignore[assignment]
