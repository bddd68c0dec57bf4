"""Settings and queries of TensorFlow programs that have no effect here: there are no graphs, devices or gradients."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core.operators import Operators
from recordmill.compat.tensorflow.core.tensor import Tensor


def executing_eagerly() -> bool:
    """Return whether operations run at once."""
    from recordmill.compat.tensorflow.graphs.modes import are_eager

    return are_eager(otherwise=True)


def is_tensor(x: Any) -> bool:
    """Return whether a value is a dense, sparse, ragged or traced tensor."""
    return isinstance(x, Operators) or type(x).__name__ in ("SparseTensor", "RaggedTensor")


def get_static_value(tensor: Any, partial: bool = False) -> np.ndarray[Any, Any] | np.generic | None:  # noqa: ARG001
    """Value of a tensor; None for anything else."""
    return tensor.numpy() if isinstance(tensor, Tensor) else None


def name_scope(name: str, default_name: Any = None, values: Any = None) -> contextlib.AbstractContextManager[str]:
    """Context manager without effect."""
    del values
    return contextlib.nullcontext(name or default_name)


def device(device_name: str | None) -> contextlib.AbstractContextManager[None]:
    """Context manager that accepts the CPU only."""
    name = (device_name or "").lower()
    if name and "cpu" not in name:
        raise NotImplementedError(f"device {device_name!r} is not supported: tensors are in main memory")
    return contextlib.nullcontext()
