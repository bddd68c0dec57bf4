"""Python's operators on tensors, as calls of operations."""

from __future__ import annotations

from typing import Any

from recordmill.compat.tensorflow.core.arithmetic import Arithmetic
from recordmill.compat.tensorflow.core.dispatch import run


class Operators(Arithmetic):
    """Operators of tensors and of recorded values; equality of values is TensorFlow's, element by element."""

    __slots__ = ()

    def __matmul__(self, other: Any) -> Any:
        """Product of matrices."""
        return run("linalg.matmul", self, other)

    def __rmatmul__(self, other: Any) -> Any:
        """Product of matrices."""
        return run("linalg.matmul", other, self)

    def __getitem__(self, key: Any) -> Any:
        """Part of the values."""
        return run("array.getitem", self, key)

    __hash__ = None
