"""Byte strings that lie in one buffer until somebody looks at them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core import dtypes
from recordmill.compat.tensorflow.core.dtypes import DType
from recordmill.compat.tensorflow.core.shapes import TensorShape
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.types import Ragged


class Rows(Tensor):
    """Byte strings, the array of which is made when it is asked for."""

    __slots__ = ("_length", "_rows")

    def __init__(self, rows: Ragged) -> None:
        self._rows: Ragged | None = rows
        self._length = len(rows)

    def __getattr__(self, name: str) -> Any:
        """Array, at first use; the buffer is let go of."""
        if name != "_values":
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        rows = self._rows
        if rows is not None:
            self._values, self._rows = strings_of(rows), None
        return object.__getattribute__(self, "_values")

    @property
    def rows(self) -> Ragged | None:
        """The buffer; None if there are objects instead."""
        return self._rows

    @property
    def dtype(self) -> DType:
        """TensorFlow's dtype."""
        return dtypes.string

    @property
    def shape(self) -> TensorShape:
        """Lengths of the axes."""
        return TensorShape((self._length,))

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return 1

    def __len__(self) -> int:
        """Return the number of strings."""
        return self._length


def strings_of(rows: Ragged) -> NDArray[Any]:
    """Byte strings as objects."""
    return np.fromiter(rows, object, len(rows))
