"""``tf.nn``: cross entropies, further activations and dropout, made of other operations, also on tensors of Keras."""

from __future__ import annotations

from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core.dispatch import run
from recordmill.compat.tensorflow.core.tensor import Tensor, as_tensor
from recordmill.compat.tensorflow.ops.shaping import shape as shape_of

# Of the self-normalizing activation (Klambauer et al. 2017).
_SELU_ALPHA, _SELU_SCALE = 1.6732632423543772, 1.0507009873554805


def _pair(labels: Any, logits: Any) -> tuple[Any, Any]:
    """Tensors of lists and arrays; labels that are no tensor have the dtype of the others."""
    made = as_tensor(logits) if isinstance(logits, list | tuple | np.ndarray) else logits
    is_plain = isinstance(labels, list | tuple | np.ndarray)
    return as_tensor(labels, made.dtype) if is_plain and isinstance(made, Tensor) else labels, made


def sigmoid_cross_entropy_with_logits(labels: Any = None, logits: Any = None, name: str | None = None) -> Any:
    """Cross entropy of each value of two classes."""
    del name
    labels, logits = _pair(labels, logits)
    bent = run("math.log1p", run("math.exp", run("math.negative", run("math.abs", logits))))
    return run("math.maximum", logits, 0.0) - logits * labels + bent


def softmax_cross_entropy_with_logits(labels: Any, logits: Any, axis: int = -1, name: str | None = None) -> Any:
    """Cross entropy of shares of classes along an axis; arguments as of `sigmoid_cross_entropy_with_logits`."""
    del name
    labels, logits = _pair(labels, logits)
    return run("math.negative", run("math.reduce_sum", labels * run("nn.log_softmax", logits, axis), axis))


def sparse_softmax_cross_entropy_with_logits(labels: Any, logits: Any, name: str | None = None) -> Any:
    """Cross entropy of numbers of classes along the last axis."""
    logits = as_tensor(logits) if isinstance(logits, list | tuple | np.ndarray) else logits
    shares = run("array.one_hot", labels, int(logits.shape[-1]), dtype=getattr(logits.dtype, "name", str(logits.dtype)))
    return softmax_cross_entropy_with_logits(shares, logits, -1, name)


def l2_loss(t: Any, name: str | None = None) -> Any:
    """Half of the sum of the squares."""
    del name
    return run("math.reduce_sum", run("math.square", t)) / 2


def elu(features: Any, name: str | None = None) -> Any:
    """Values above 0, and exponentials less 1 of the others."""
    del name
    low = run("math.expm1", run("math.minimum", features, 0.0))
    return run("array.where", run("math.greater", features, 0.0), features, low)


def selu(features: Any, name: str | None = None) -> Any:
    """Self-normalizing: `elu` with another slope below 0, all scaled."""
    low = run("math.expm1", run("math.minimum", features, 0.0)) * _SELU_ALPHA
    del name
    return run("array.where", run("math.greater", features, 0.0), features, low) * _SELU_SCALE


def silu(features: Any, beta: float = 1.0) -> Any:
    """Values times their sigmoids."""
    return features * run("math.sigmoid", features * beta)


swish = silu


def gelu(features: Any, approximate: bool = False, name: str | None = None) -> Any:
    """Values times the normal distribution's share below them."""
    del name
    if approximate:
        inner = (features + features * features * features * 0.044715) * 0.7978845608028654
        return features * (run("math.tanh", inner) + 1.0) * 0.5
    return features * (run("math.erf", features * 0.7071067811865476) + 1.0) * 0.5


def embedding_lookup(params: Any, ids: Any, max_norm: Any = None, name: str | None = None) -> Any:
    """Rows of a table."""
    del name
    if isinstance(params, list | tuple):
        if len(params) > 1:
            raise NotImplementedError("tables in parts are not supported: join them with tf.concat")
        params = params[0]
    if max_norm is not None:
        raise NotImplementedError("max_norm of embedding_lookup is not supported: use tf.clip_by_norm")
    return run("array.gather", params, ids)


def dropout(x: Any, rate: Any, noise_shape: Any = None, seed: Any = None, name: str | None = None) -> Any:
    """Values of which some are 0, and the others larger by as much."""
    del name
    if isinstance(rate, int | float) and not 0 <= rate < 1:
        raise ValueError(f"`rate` must be a scalar tensor or a float in the range [0, 1). Received: rate={rate}")
    values = as_tensor(x) if isinstance(x, list | tuple | int | float) else x
    drawn = run("random.uniform", shape_of(values) if noise_shape is None else noise_shape, seed=seed)
    kept = run("array.cast", run("math.greater_equal", drawn, rate), values.dtype)
    return values * kept / (1 - rate)
