"""``oneflow.typing``: what the functions of OneFlow's older programs say that they take and give."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from recordmill.compat.oneflow.absent import absent

__getattr__ = absent("flow.typing")

T = TypeVar("T")
# What is called with a result: ``Callback[Numpy]``.
Callback = Callable[[T], Any]


class _Placed:
    @staticmethod
    def Placeholder(shape: Sequence[int], dtype: Any = None) -> type:
        """Array of a shape, as a function takes it; without influence."""
        del shape, dtype
        return np.ndarray


class Numpy(_Placed, np.ndarray[Any, Any]):
    """An array."""


class ListNumpy(_Placed, list[Any]):
    """Arrays that may differ in shape."""


class ListListNumpy(_Placed, list[Any]):
    """Lists of such arrays."""
