"""What a data set yields, as arrays that Keras takes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor


def plain_batch(element: Any) -> Any:
    """Replace the tensors in an element of a data set by their arrays."""
    if isinstance(element, Mapping):
        return {key: plain_batch(value) for key, value in element.items()}
    if isinstance(element, tuple | list):
        return tuple(plain_batch(value) for value in element)
    return None if element is None else _array(element)


def _array(value: Any) -> NDArray[Any]:
    if not isinstance(value, Tensor) and not hasattr(value, "__array__"):
        hint = "to_tensor() or sparse.to_dense() in a map function makes it dense"
        raise InvalidArgumentError(f"a model takes tensors; the data set gives a {type(value).__name__}", hint=hint)
    array: NDArray[Any] = value.values if isinstance(value, Tensor) else np.asarray(value)
    if array.dtype.kind not in "biufV":  # V: bfloat16 and the like
        raise InvalidArgumentError("a model takes numbers; the data set gives strings", hint="decode or look them up")
    if not array.ndim:
        raise InvalidArgumentError("a model takes batches; the data set gives single values", hint="call batch()")
    return array


def weighted(batch: Any, class_weight: Mapping[int, float]) -> tuple[Any, Any, NDArray[np.float32]]:
    """Add the weights of the classes to a batch."""
    if not isinstance(batch, tuple) or len(batch) < 2:
        raise ValueError("`class_weight` needs targets: a data set of (x, y).")
    if len(batch) > 2 and batch[2] is not None:
        raise ValueError("You cannot `class_weight` and `sample_weight` at the same time.")
    x, y = batch[:2]
    if not isinstance(y, np.ndarray):
        raise ValueError("`class_weight` is only supported for Models with a single output.")  # noqa: TRY004
    rows = y.reshape(len(y), -1)
    classes = rows.argmax(axis=1) if rows.shape[1] > 1 else np.rint(rows[:, 0]).astype(np.int64)
    weights = [class_weight.get(one, 1.0) for one in classes.tolist()]
    return x, y, np.asarray(weights, np.float32)
