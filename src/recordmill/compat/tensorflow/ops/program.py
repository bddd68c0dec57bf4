"""What programs ask about or set around their operations; there are no graphs, devices or gradients here."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core.operators import Operators
from recordmill.compat.tensorflow.core.tensor import Tensor, as_tensor
from recordmill.compat.tensorflow.version import VERSION

__version__ = VERSION


def executing_eagerly() -> bool:
    """Whether operations run at once."""
    from recordmill.compat.tensorflow.graphs.modes import are_eager

    return are_eager(otherwise=True)


def is_tensor(x: Any) -> bool:
    """Return whether a value is a dense, sparse, ragged or traced tensor."""
    return isinstance(x, Operators) or type(x).__name__ in ("SparseTensor", "RaggedTensor")


def get_static_value(tensor: Any, partial: bool = False) -> np.ndarray[Any, Any] | np.generic | None:  # noqa: ARG001
    """Value of a tensor, which is known as there are no graphs."""
    return tensor.numpy() if isinstance(tensor, Tensor) else None


def stop_gradient(input: Any) -> Tensor:  # noqa: A002 (TensorFlow's name)
    """The tensor itself."""
    return as_tensor(input)


def name_scope(name: str) -> contextlib.AbstractContextManager[str]:
    """Context that gives names to operations, which have none here."""
    return contextlib.nullcontext(name)


def device(device_name: str | None) -> contextlib.AbstractContextManager[None]:
    """Context that chooses the processor."""
    name = (device_name or "").lower()
    if name and "cpu" not in name:
        raise NotImplementedError(f"tf.device({device_name!r}) is not supported: tensors lie in the main memory")
    return contextlib.nullcontext()
