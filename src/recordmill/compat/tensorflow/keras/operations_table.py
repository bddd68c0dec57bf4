"""Which function of ``keras.ops`` does what an operation of TensorFlow's does."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import Any

from recordmill.compat.tensorflow.core.dtypes import as_dtype
from recordmill.compat.tensorflow.core.errors import UnimplementedError
from recordmill.compat.tensorflow.core.tensor import as_tensor
from recordmill.compat.tensorflow.keras.loading import keras

_SAME = """
math: add subtract multiply truediv:true_divide divide:true_divide divide_no_nan floordiv:floor_divide floormod:mod
math: pow:power maximum minimum atan2:arctan2 negative abs sqrt rsqrt square reciprocal exp expm1 log log1p sin cos tan
math: asin:arcsin acos:arccos atan:arctan sinh cosh tanh sigmoid floor ceil rint:round round sign clip_by_value:clip
math: equal equal_or_false:equal not_equal not_equal_or_true:not_equal less less_equal greater greater_equal
math: logical_and logical_or logical_xor logical_not is_nan:isnan is_inf:isinf is_finite:isfinite
math: reduce_sum:sum reduce_prod:prod reduce_mean:mean reduce_max:max reduce_min:min reduce_any:any reduce_all:all
math: reduce_variance:var reduce_std:std reduce_logsumexp:logsumexp erf
array: reshape squeeze expand_dims broadcast_to zeros_like ones_like stack concat:concatenate tile repeat rank:ndim
nn: relu relu6 elu selu sigmoid softplus softsign silu swish:silu leaky_relu tanh softmax log_softmax gelu
"""


def _parsed(text: str) -> dict[str, str]:
    found = {}
    for line in text.strip().splitlines():
        family, _, names = line.partition(": ")
        for entry in names.split():
            name, _, theirs = entry.partition(":")
            found[f"{family}.{name}"] = theirs or name
    return found


# operation: the function of keras.ops that takes the same arguments in the same order
SAME: dict[str, str] = _parsed(_SAME)


def dtype_of(value: Any) -> str:
    """Name the dtype that the backend has for one of TensorFlow's."""
    name = as_dtype(value).name
    jax = sys.modules.get("jax")
    if keras().backend.backend() == "jax" and jax is not None and not jax.config.jax_enable_x64:
        return {"int64": "int32", "uint64": "uint32", "float64": "float32"}.get(name, name)
    return name


def _cast(x: Any, dtype: Any) -> Any:
    return keras().ops.cast(x, dtype_of(dtype))


def _shape(x: Any, out_type: Any) -> Any:
    shape = keras().ops.shape(x)
    return as_tensor(list(shape), out_type) if all(isinstance(length, int) for length in shape) else shape


def _size(x: Any, out_type: Any) -> Any:
    shape = keras().ops.shape(x)
    return as_tensor(math.prod(shape), out_type) if all(isinstance(n, int) for n in shape) else keras().ops.size(x)


def _identity(x: Any) -> Any:
    return keras().ops.convert_to_tensor(x)


def _convert(value: Any, dtype: Any = None, hint: Any = None) -> Any:
    wanted = dtype or hint
    return keras().ops.convert_to_tensor(value, None if wanted is None else dtype_of(wanted))


def _transpose(x: Any, perm: Any, conjugate: Any) -> Any:  # noqa: ARG001 (numbers are real)
    return keras().ops.transpose(x, perm)


def _one_hot(indices: Any, depth: Any, on_value: Any, off_value: Any, axis: Any, dtype: Any) -> Any:
    ops = keras().ops
    hot = ops.one_hot(indices, int(depth), axis=-1 if axis is None else axis, dtype=dtype_of(dtype or "float32"))
    on, off = 1 if on_value is None else on_value, 0 if off_value is None else off_value
    return hot if (on, off) == (1, 0) else hot * (on - off) + off


def _extreme(name: str) -> Callable[..., Any]:
    def find(x: Any, axis: Any, output_type: Any) -> Any:
        return _cast(getattr(keras().ops, name)(x, 0 if axis is None else axis), output_type)

    return find


def _where(condition: Any, x: Any = None, y: Any = None) -> Any:
    if x is None or y is None:
        raise UnimplementedError(
            "tf.where without values, on a tensor of Keras's backend: its result has no fixed shape"
        )
    return keras().ops.where(condition, x, y)


def _add_n(inputs: Any) -> Any:
    return sum(inputs[1:], inputs[0])


def _matmul(a: Any, b: Any, transpose_a: bool, transpose_b: bool) -> Any:
    ops = keras().ops
    return ops.matmul(ops.swapaxes(a, -1, -2) if transpose_a else a, ops.swapaxes(b, -1, -2) if transpose_b else b)


def _squared_difference(x: Any, y: Any) -> Any:
    return keras().ops.square(keras().ops.subtract(x, y))


def _count_nonzero(x: Any, axis: Any, keepdims: Any, dtype: Any) -> Any:
    return keras().ops.sum(_cast(keras().ops.not_equal(x, 0), dtype), axis, keepdims)


def _gather(params: Any, indices: Any, validate: Any, axis: Any, batch_dims: Any) -> Any:  # noqa: ARG001 (unused by TensorFlow)
    if batch_dims:
        raise UnimplementedError("tf.gather with batch_dims, on a tensor of Keras's backend")
    return keras().ops.take(params, indices, 0 if axis is None else axis)


def _getitem(tensor: Any, key: Any) -> Any:
    return _identity(tensor)[key]


OTHERS: dict[str, Callable[..., Any]] = {
    "array.cast": _cast,
    "array.constant": _convert,
    "array.convert_to_tensor": _convert,
    "array.gather": _gather,
    "array.getitem": _getitem,
    "array.identity": _identity,
    "array.one_hot": _one_hot,
    "array.shape": _shape,
    "array.size": _size,
    "array.transpose": _transpose,
    "array.where": _where,
    "linalg.matmul": _matmul,
    "math.add_n": _add_n,
    "math.argmax": _extreme("argmax"),
    "math.argmin": _extreme("argmin"),
    "math.count_nonzero": _count_nonzero,
    "math.squared_difference": _squared_difference,
}
