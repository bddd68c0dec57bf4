"""TensorFlow's operations on tensors of Keras's backend, for layers, losses and metrics that call ``tf`` functions."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core import dispatch
from recordmill.compat.tensorflow.core.dtypes import as_dtype
from recordmill.compat.tensorflow.core.errors import UnimplementedError
from recordmill.compat.tensorflow.core.tensor import Tensor, as_tensor
from recordmill.compat.tensorflow.keras.training import to_arrays

# Operations of each family that call a function of keras.ops with the same arguments in the same order.
# NAME:FUNCTION gives the names of the operation and of the function. NAME is short for NAME:NAME.
_NAMES = {
    "array": "broadcast_to concat:concatenate expand_dims ones_like repeat reshape squeeze stack tile zeros_like",
    "math": (
        "abs add ceil clip_by_value:clip cos divide divide_no_nan equal equal_or_false:equal exp floor "
        "floordiv:floor_divide floormod:mod greater greater_equal is_finite:isfinite is_inf:isinf is_nan:isnan less "
        "less_equal log log1p logical_and logical_not logical_or maximum minimum multiply negative not_equal "
        "not_equal_or_true:not_equal pow:power reduce_all:all reduce_any:any reduce_logsumexp:logsumexp "
        "reduce_max:max reduce_mean:mean reduce_min:min reduce_prod:prod reduce_std:std reduce_sum:sum "
        "reduce_variance:var round rsqrt sigmoid sign sin sqrt square subtract tanh truediv:true_divide"
    ),
    "nn": "elu gelu leaky_relu log_softmax relu relu6 selu sigmoid silu softmax softplus softsign swish:silu tanh",
}
FUNCTIONS: dict[str, str] = {
    f"{family}.{entry.partition(':')[0]}": entry.rpartition(":")[2]
    for family, entries in _NAMES.items()
    for entry in entries.split()
}


class _BackendOperations:
    """Runs operations on tensors of Keras's backend, Keras variables and symbolic inputs, by calling ``keras.ops``."""

    def __init__(self, keras: Any) -> None:
        self._keras = keras
        self._kinds = (keras.Variable, keras.KerasTensor)

    def owns_value(self, value: Any) -> bool:
        """Return whether a value is or contains a Keras variable, a symbolic input or a tensor of Keras's backend."""
        if isinstance(value, tuple | list):
            return any(map(self.owns_value, value))
        if isinstance(value, Mapping):
            return any(map(self.owns_value, value.values()))
        if isinstance(value, Tensor | np.ndarray | np.generic | str | bytes | int | float):
            return False
        return isinstance(value, self._kinds) or bool(self._keras.ops.is_tensor(value))

    def handle_call(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run an operation with the corresponding function of ``keras.ops``."""
        bound = inspect.signature(dispatch.OPS[name]).bind(*args, **kwargs)
        bound.apply_defaults()
        ordered = map(to_arrays, bound.args)
        if name in ADAPTED:
            return ADAPTED[name](self._keras, *ordered)
        function = getattr(self._keras.ops, FUNCTIONS.get(name, ""), None)
        if function is None:
            raise UnimplementedError(
                f"operation {name!r} is not supported on tensors of Keras's backend",
                hint="use a function of tf.keras.ops in models, losses and metrics",
            )
        return function(*ordered)


def register_operations(keras: Any) -> None:
    """Make operations call ``keras.ops`` if an argument contains a Keras tensor."""
    dispatch.LIBRARIES.append(_BackendOperations(keras))


def _keras_dtype_name(keras: Any, dtype: Any) -> str:
    """Return the name of a dtype. A 64-bit dtype becomes 32-bit if Keras runs on JAX with 64-bit dtypes disabled."""
    name = as_dtype(dtype).name
    jax = sys.modules.get("jax")
    if keras.backend.backend() == "jax" and jax is not None and not jax.config.jax_enable_x64:
        return name.replace("64", "32")
    return name


def _adapt_cast(keras: Any, x: Any, dtype: Any) -> Any:
    return keras.ops.cast(x, _keras_dtype_name(keras, dtype))


def _adapt_convert_to_tensor(keras: Any, value: Any, dtype: Any = None, *_: Any) -> Any:
    return keras.ops.convert_to_tensor(value, None if dtype is None else _keras_dtype_name(keras, dtype))


def _adapt_shape(keras: Any, x: Any, out_type: Any) -> Any:
    shape = keras.ops.shape(x)
    return as_tensor(list(shape), out_type) if all(isinstance(length, int) for length in shape) else shape


def _adapt_size(keras: Any, x: Any, out_type: Any) -> Any:
    return _adapt_cast(keras, keras.ops.size(x), out_type)


def _adapt_one_hot(keras: Any, indices: Any, depth: Any, on: Any, off: Any, axis: Any, dtype: Any) -> Any:
    name = _keras_dtype_name(keras, dtype or "float32")
    hot = keras.ops.one_hot(indices, int(depth), axis=-1 if axis is None else axis, dtype=name)
    on, off = 1 if on is None else on, 0 if off is None else off
    return hot if (on, off) == (1, 0) else hot * (on - off) + off


def _adapt_arg_reduction(function: str) -> Callable[..., Any]:
    def reduce_along_axis(keras: Any, x: Any, axis: Any, output_type: Any) -> Any:
        return _adapt_cast(keras, getattr(keras.ops, function)(x, 0 if axis is None else axis), output_type)

    return reduce_along_axis


def _adapt_where(keras: Any, condition: Any, x: Any = None, y: Any = None) -> Any:
    if x is None or y is None:
        raise UnimplementedError("tf.where without x and y is not supported in a model; pass x and y")
    return keras.ops.where(condition, x, y)


def _adapt_matmul(keras: Any, a: Any, b: Any, transpose_a: bool, transpose_b: bool, *_: Any) -> Any:
    swapaxes = keras.ops.swapaxes
    return keras.ops.matmul(swapaxes(a, -1, -2) if transpose_a else a, swapaxes(b, -1, -2) if transpose_b else b)


def _adapt_gather(keras: Any, params: Any, indices: Any, _: Any, axis: Any, batch_dims: Any) -> Any:
    if batch_dims:
        raise UnimplementedError("tf.gather with batch_dims is not supported in a model")
    return keras.ops.take(params, indices, 0 if axis is None else axis)


# Adapters of operations whose arguments differ from the arguments of the keras.ops function.
ADAPTED: dict[str, Callable[..., Any]] = {
    "array.cast": _adapt_cast,
    "array.constant": _adapt_convert_to_tensor,
    "array.convert_to_tensor": _adapt_convert_to_tensor,
    "array.gather": _adapt_gather,
    "array.getitem": lambda keras, tensor, key: keras.ops.convert_to_tensor(tensor)[key],
    "array.identity": _adapt_convert_to_tensor,
    "array.one_hot": _adapt_one_hot,
    "array.shape": _adapt_shape,
    "array.size": _adapt_size,
    "array.transpose": lambda keras, x, perm, *_: keras.ops.transpose(x, perm),
    "array.where": _adapt_where,
    "linalg.matmul": _adapt_matmul,
    "math.argmax": _adapt_arg_reduction("argmax"),
    "math.argmin": _adapt_arg_reduction("argmin"),
    "math.squared_difference": lambda keras, x, y: keras.ops.square(keras.ops.subtract(x, y)),
}
