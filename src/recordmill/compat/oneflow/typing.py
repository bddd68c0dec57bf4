"""``oneflow.typing``: annotations of functions decorated with `global_function`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from recordmill.compat.oneflow.unsupported import create_module_getattr

__getattr__ = create_module_getattr("flow.typing", globals())


class Numpy(np.ndarray[Any, Any]):
    """``oneflow.typing.Numpy``: annotation of a NumPy array."""

    @staticmethod
    def Placeholder(shape: Sequence[int], dtype: Any = None) -> type:
        """Return `numpy.ndarray` as the annotation of a parameter; `shape` and `dtype` are accepted but ignored."""
        del shape, dtype
        return np.ndarray
