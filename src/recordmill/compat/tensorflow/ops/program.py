"""``tf.device``, ``name_scope`` and other functions for graphs and devices, which have little or no effect."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core.operators import TensorOperators
from recordmill.compat.tensorflow.core.tensor import Tensor


def executing_eagerly() -> bool:
    """``tf.executing_eagerly``: return whether operations run immediately."""
    from recordmill.compat.tensorflow.graphs.modes import is_eager

    return is_eager(otherwise=True)


def is_tensor(x: Any) -> bool:
    """``tf.is_tensor``: return whether a value is a dense, sparse, ragged or symbolic tensor."""
    return isinstance(x, TensorOperators) or type(x).__name__ in ("SparseTensor", "RaggedTensor")


def get_static_value(tensor: Any, partial: bool = False) -> np.ndarray[Any, Any] | np.generic | None:  # noqa: ARG001
    """``tf.get_static_value``: return the value of a tensor, or None for symbolic tensors and other objects."""
    return tensor.numpy() if isinstance(tensor, Tensor) else None


def name_scope(name: str, default_name: Any = None, values: Any = None) -> contextlib.AbstractContextManager[str]:
    """``tf.name_scope``: return a context manager without effect."""
    del values
    return contextlib.nullcontext(name or default_name)


def device(device_name: str | None) -> contextlib.AbstractContextManager[None]:
    """``tf.device``: return a context manager without effect; only the CPU is supported."""
    name = (device_name or "").lower()
    if name and "cpu" not in name:
        raise NotImplementedError(f"device {device_name!r} is not supported: use the CPU")
    return contextlib.nullcontext()
