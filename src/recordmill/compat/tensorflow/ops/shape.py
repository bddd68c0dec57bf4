"""Operations that return, check or change the shape of tensors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.dtypes import as_dtype, int32
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.shapes import TensorShape
from recordmill.compat.tensorflow.core.tensor import Tensor, as_tensor, wrap
from recordmill.compat.tensorflow.ops.composites import elementwise_op
from recordmill.compat.tensorflow.ops.inputs import convert_ints, normalize_axis

# ruff: noqa: A002 (TensorFlow's names)


@op("array.shape")
def shape(input: Any, out_type: Any = int32) -> Tensor:
    """``tf.shape``: return the lengths of the axes as a tensor."""
    return Tensor(np.array(array_of(input).shape, as_dtype(out_type).numpy_dtype))


@op("array.size")
def size(input: Any, out_type: Any = int32) -> Tensor:
    """``tf.size``: return the number of values as a tensor."""
    return wrap(array_of(input).size, as_dtype(out_type).numpy_dtype)


@op("array.rank")
def rank(input: Any) -> Tensor:
    """``tf.rank``: return the number of axes as a tensor."""
    return wrap(array_of(input).ndim, np.int32)


@elementwise_op("array.identity")
def identity(input: Any) -> Tensor:
    """``tf.identity``: return the tensor itself."""
    return as_tensor(input)


@op("array.ensure_shape")
def ensure_shape(x: Any, shape: Any) -> Tensor:
    """``tf.ensure_shape``: return `x` unchanged; raise InvalidArgumentError if `x` does not match `shape`."""
    tensor, expected = as_tensor(x), TensorShape(shape)
    if not tensor.shape.is_compatible_with(expected):
        raise InvalidArgumentError(f"ensure_shape: expected shape {expected}, got {tensor.shape}")
    return tensor


@op("array.reshape")
def reshape(tensor: Any, shape: Any) -> Tensor:
    """``tf.reshape``: return the same values in another shape; a length of -1 is inferred."""
    array = array_of(tensor)
    if array_of(shape).ndim > 1:
        raise InvalidArgumentError(f"reshape: shape must be a list of integers, got {shape!r}")
    lengths = convert_ints(shape, "reshape")
    if lengths.count(-1) > 1 or any(length < -1 for length in lengths):
        raise InvalidArgumentError(f"reshape: lengths must be non-negative, except for a single -1, got {lengths}")
    if -1 in lengths:
        lengths[lengths.index(-1)] = _infer_missing_length(array.shape, [one for one in lengths if one != -1])
    if math.prod(lengths) != array.size:
        raise InvalidArgumentError(f"reshape: {array.size} values cannot be reshaped to {lengths}")
    return Tensor(array.reshape(lengths))


def _infer_missing_length(shape: tuple[int, ...], known: list[int]) -> int:
    if not all(known) and not all(shape):
        # If the old and the new shape both contain a 0, TensorFlow infers the missing length from the nonzero lengths.
        return math.prod(n for n in shape if n) // max(math.prod(n for n in known if n), 1)
    return math.prod(shape) // max(math.prod(known), 1)


@op("array.squeeze")
def squeeze(input: Any, axis: Any = None) -> Tensor:
    """``tf.squeeze``: remove the given axes of length 1, or all axes of length 1."""
    array = array_of(input)
    axes = {
        normalize_axis(one, array.ndim, "squeeze") for one in ([] if axis is None else convert_ints(axis, "squeeze"))
    }
    if any(array.shape[one] != 1 for one in axes):
        raise InvalidArgumentError(f"squeeze: axes {sorted(axes)} of shape {list(array.shape)} must have length 1")
    axes = axes or {at for at, length in enumerate(array.shape) if length == 1}
    return Tensor(array.reshape([length for at, length in enumerate(array.shape) if at not in axes]))


@op("array.expand_dims")
def expand_dims(input: Any, axis: Any) -> Tensor:
    """``tf.expand_dims``: insert an axis of length 1."""
    array = array_of(input)
    return Tensor(np.expand_dims(array, normalize_axis(axis, array.ndim + 1, "expand_dims")))


@op("array.transpose")
def transpose(a: Any, perm: Any = None, conjugate: bool = False) -> Tensor:  # noqa: ARG001 (numbers are real)
    """``tf.transpose``: permute the axes; by default, reverse them."""
    array = array_of(a)
    if perm is None:
        return Tensor(array.T)
    order = [normalize_axis(one, array.ndim, "transpose") for one in convert_ints(perm, "transpose")]
    if sorted(order) != list(range(array.ndim)):
        raise InvalidArgumentError(f"transpose: perm must be a permutation of {array.ndim} axes, got {order}")
    return Tensor(array.transpose(order))


@op("array.broadcast_to")
def broadcast_to(input: Any, shape: Any) -> Tensor:
    """``tf.broadcast_to``: repeat values along axes of length 1 and along new leading axes."""
    array, lengths = array_of(input), convert_ints(shape, "broadcast_to")
    try:
        return Tensor(np.broadcast_to(array, lengths))
    except ValueError:
        raise InvalidArgumentError(
            f"broadcast_to: shape {list(array.shape)} cannot be broadcast to {lengths}"
        ) from None
