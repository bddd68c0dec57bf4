"""OneFlow's names of dtypes; numeric ones are NumPy dtypes."""

from __future__ import annotations

from typing import Any

import numpy as np

from recordmill.dataclass import dataclass

int8 = np.dtype("int8")
uint8 = np.dtype("uint8")
int32 = np.dtype("int32")
int64 = np.dtype("int64")
float32 = np.dtype("float32")
float64 = np.dtype("float64")
float = float32  # noqa: A001 (OneFlow's name)
double = float64


@dataclass(frozen=True, slots=True)
class OpaqueType:
    """A dtype whose elements are no numbers."""

    name: str

    def __repr__(self) -> str:
        """OneFlow's spelling."""
        return f"oneflow.{self.name}"


of_record = OpaqueType("of_record")
tensor_buffer = OpaqueType("tensor_buffer")
_NUMBERS = (int8, uint8, int32, int64, float32, float64)


def number_type(dtype: Any) -> np.dtype[Any]:
    """Return the dtype of numbers that a decoder can give."""
    names = ", ".join(one.name for one in _NUMBERS)
    found: np.dtype[Any] | None = None if isinstance(dtype, OpaqueType) else np.dtype(dtype)
    if found is None or found not in _NUMBERS:
        raise TypeError(f"Cannot find the kernel: dtype is one of {names}, not {dtype}")
    return found
