"""``tf.keras.backend``: Keras's settings, and the older functions that programs call ``K.sum`` or ``K.dot``."""

from __future__ import annotations

import importlib
from typing import Any

from recordmill.compat.tensorflow.core.dispatch import run
from recordmill.compat.tensorflow.core.draws import set_seed
from recordmill.compat.tensorflow.core.dtypes import as_dtype
from recordmill.compat.tensorflow.core.tensor import as_tensor
from recordmill.compat.tensorflow.keras.loading import keras
from recordmill.compat.tensorflow.ops.names import table

# module: its functions, which have Keras's arguments, by Keras's names
_SAME = table(
    {
        "ops.activations": "relu softmax softplus",
        "ops.arithmetic": "abs maximum minimum pow",
        "ops.casting": "cast",
        "ops.comparing": "equal greater greater_equal less less_equal not_equal",
        "ops.control": "map_fn",
        "ops.elementwise": "cos cumprod cumsum exp log round sigmoid sign sin square tanh",
        "ops.hot": "one_hot",
        "ops.joining": "reverse stack tile",
        "ops.making": "ones ones_like zeros zeros_like",
        "ops.picking": "gather",
        "ops.reducing": "all:reduce_all any:reduce_any logsumexp:reduce_logsumexp "
        "max:reduce_max min:reduce_min prod:reduce_prod std:reduce_std sum:reduce_sum var:reduce_variance",
        "ops.shaping": "reshape shape transpose",
        "ops.matrices": "l2_normalize",
    }
)
_PACKAGE = "recordmill.compat.tensorflow"


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name not in _SAME:
        return getattr(keras().backend, name)
    # Not kept as names of this module, in which sum and max are Python's.
    place, _, other = _SAME[name].partition(":")
    return getattr(importlib.import_module(f"{_PACKAGE}.{place}"), other)


def __dir__() -> list[str]:
    return sorted({*globals(), *_SAME, *dir(keras().backend)})


def _floats(dtype: Any) -> Any:
    return as_dtype(keras().backend.floatx() if dtype is None else dtype)


def constant(value: Any, dtype: Any = None, shape: Any = None, name: str | None = None) -> Any:
    """Tensor of a value, of Keras's usual dtype."""
    del name
    return run("array.constant", value, _floats(dtype), shape)


def dot(x: Any, y: Any) -> Any:
    """Product of matrices; of tensors, over the last axis of one and the last but one of the other."""
    if len(x.shape) == len(y.shape) == 2:
        return run("linalg.matmul", x, y)
    return run("linalg.tensordot", x, y, [[len(x.shape) - 1], [max(len(y.shape) - 2, 0)]])


def mean(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Mean over axes; of truth values, the share of those that hold."""
    is_truth = "bool" in str(x.dtype)
    return run("math.reduce_mean", run("array.cast", x, "float32") if is_truth else x, axis, keepdims)


def sqrt(x: Any) -> Any:
    """Square root; 0 of numbers below."""
    return run("math.sqrt", run("math.maximum", x, 0.0))


def argmax(x: Any, axis: int = -1) -> Any:
    """Place of the largest value along an axis, the last one unless it is given."""
    return run("math.argmax", x, axis)


def argmin(x: Any, axis: int = -1) -> Any:
    """Place of the smallest value along an axis, the last one unless it is given."""
    return run("math.argmin", x, axis)


def concatenate(tensors: Any, axis: int = -1) -> Any:
    """Tensors one behind the other along an axis, the last one unless it is given."""
    return run("array.concat", list(tensors), axis)


def eye(size: Any, dtype: Any = None, name: str | None = None) -> Any:
    """Matrix with ones on its diagonal."""
    del name
    return run("array.eye", size, None, None, _floats(dtype))


def switch(condition: Any, then_expression: Any, else_expression: Any) -> Any:
    """One of two values, or of what two functions give."""
    made = [one() if callable(one) else one for one in (then_expression, else_expression)]
    return run("array.where", condition, *made)


def binary_crossentropy(target: Any, output: Any, from_logits: bool = False) -> Any:
    """Cross entropy of each value, on tensors of Keras's backend."""
    return keras().ops.binary_crossentropy(target, output, from_logits)


def categorical_crossentropy(target: Any, output: Any, from_logits: bool = False, axis: int = -1) -> Any:
    """Cross entropy of shares of classes, on tensors of Keras's backend."""
    return keras().ops.categorical_crossentropy(target, output, from_logits, axis)


def sparse_categorical_crossentropy(target: Any, output: Any, from_logits: bool = False, axis: int = -1) -> Any:
    """Cross entropy of numbers of classes, on tensors of Keras's backend."""
    return keras().ops.sparse_categorical_crossentropy(target, output, from_logits, axis)


def clip(x: Any, min_value: Any, max_value: Any) -> Any:
    """Values between two limits."""
    low = float("-inf") if min_value is None else min_value
    high = float("inf") if max_value is None else max_value
    return run("math.minimum", run("math.maximum", x, low), high)


def flatten(x: Any) -> Any:
    """All values along one axis."""
    return run("array.reshape", x, [-1])


def batch_flatten(x: Any) -> Any:
    """Values of each sample along one axis."""
    count = 1
    for length in x.shape[1:]:
        count *= int(length)
    return run("array.reshape", x, [-1, count])


def expand_dims(x: Any, axis: int = -1) -> Any:
    """One more axis, the last one unless it is given."""
    return run("array.expand_dims", x, axis)


def squeeze(x: Any, axis: int) -> Any:
    """Without an axis of length 1."""
    return run("array.squeeze", x, [axis])


def permute_dimensions(x: Any, pattern: Any) -> Any:
    """Axes in another order."""
    return run("array.transpose", x, list(pattern))


def repeat_elements(x: Any, rep: int, axis: int) -> Any:
    """Each value several times along an axis."""
    return run("array.repeat", x, rep, axis)


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = "int32") -> Any:
    """Whole numbers from 0, or from a start, to a stop."""
    first, last = (0, start) if stop is None else (start, stop)
    return run("array.cast", run("array.range", first, last, step), dtype)


def int_shape(x: Any) -> tuple[Any, ...]:
    """Lengths of the axes."""
    return tuple(x.shape)


def ndim(x: Any) -> int:
    """Count axes."""
    return len(x.shape)


def dtype(x: Any) -> str:
    """Name the dtype."""
    return str(getattr(x.dtype, "name", x.dtype))


def get_value(x: Any) -> Any:
    """Values for NumPy."""
    return x.numpy() if hasattr(x, "numpy") else as_tensor(x).numpy()


def random_uniform(shape: Any, minval: Any = 0.0, maxval: Any = 1.0, dtype: Any = None, seed: Any = None) -> Any:
    """Numbers of equal probability."""
    return run("random.uniform", shape, minval, maxval, _floats(dtype), seed)


def random_normal(shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = None, seed: Any = None) -> Any:
    """Normally distributed numbers."""
    return run("random.normal", shape, mean, stddev, _floats(dtype), seed)


def set_random_seed(seed: int) -> None:
    """Begin random numbers anew."""
    set_seed(seed)
