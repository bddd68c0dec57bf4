"""Functions of networks that pipelines use: ``tf.nn``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.tensor import Tensor, wrap
from recordmill.compat.tensorflow.ops.matching import FLOATS, NUMBERS, one_of
from recordmill.compat.tensorflow.ops.reducing import axes_of, reduce_mean, reduce_variance


@op("nn.relu")
def relu(features: Any) -> Tensor:
    """Values above 0, and 0 for the others."""
    array = one_of(features, NUMBERS, "Relu")
    return wrap(np.maximum(array, array.dtype.type(0)))


@op("nn.relu6")
def relu6(features: Any) -> Tensor:
    """Values between 0 and 6; others as the nearest end."""
    array = one_of(features, NUMBERS, "Relu6")
    return wrap(np.clip(array, array.dtype.type(0), array.dtype.type(6)))


@op("nn.leaky_relu")
def leaky_relu(features: Any, alpha: float = 0.2) -> Tensor:
    """Values above 0; others times `alpha`. Whole numbers become float32."""
    array = one_of(features, NUMBERS, "LeakyRelu")
    array = array.astype(np.float32) if array.dtype.kind in "iu" else array
    return wrap(np.where(array > 0, array, array * array.dtype.type(alpha)))


@op("nn.softplus")
def softplus(features: Any) -> Tensor:
    """Logarithm of 1 and the exponential."""
    array = one_of(features, FLOATS, "Softplus")
    return wrap(np.logaddexp(array, array.dtype.type(0)))


def _shifted(logits: Any, axis: Any, name: str) -> tuple[NDArray[Any], tuple[int, ...]]:
    array = one_of(logits, FLOATS, name)
    axes = axes_of(-1 if axis is None else axis, array.ndim, name)
    return array - np.max(array, axis=axes, keepdims=True), axes


@op("nn.softmax")
def softmax(logits: Any, axis: Any = None) -> Tensor:
    """Exponentials divided by their sum along an axis, the last one unless given."""
    array, axes = _shifted(logits, axis, "Softmax")
    powers = np.exp(array)
    return wrap(powers / np.sum(powers, axis=axes, keepdims=True))


@op("nn.log_softmax")
def log_softmax(logits: Any, axis: Any = None) -> Tensor:
    """Logarithm of `softmax`."""
    array, axes = _shifted(logits, axis, "LogSoftmax")
    return wrap(array - np.log(np.sum(np.exp(array), axis=axes, keepdims=True)))


@op("nn.moments")
def moments(x: Any, axes: Any, shift: Any = None, keepdims: bool = False) -> tuple[Tensor, Tensor]:  # noqa: ARG001
    """Mean and variance along axes; `shift` is without influence, as in TensorFlow."""
    return reduce_mean(x, axes, keepdims), reduce_variance(x, axes, keepdims)
