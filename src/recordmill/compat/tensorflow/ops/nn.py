"""``tf.nn.relu`` and ``tf.nn.softmax`` for data pipelines. Models use the functions of ``tf.keras``."""

from __future__ import annotations

from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.tensor import Tensor, wrap
from recordmill.compat.tensorflow.ops.inputs import FLOATS, NUMBERS, convert_input, normalize_axes


@op("nn.relu")
def relu(features: Any) -> Tensor:
    """``tf.nn.relu``: return ``max(features, 0)``."""
    array = convert_input(features, NUMBERS, "relu")
    return wrap(np.maximum(array, array.dtype.type(0)))


@op("nn.softmax")
def softmax(logits: Any, axis: Any = None) -> Tensor:
    """``tf.nn.softmax``: return exponentials divided by their sum along an axis, by default the last one."""
    array = convert_input(logits, FLOATS, "softmax")
    axes = normalize_axes(-1 if axis is None else axis, array.ndim, "softmax")
    powers = np.exp(array - np.max(array, axis=axes, keepdims=True))
    return wrap(powers / np.sum(powers, axis=axes, keepdims=True))
