"""Shapes of tensors: asked for, checked and changed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.dtypes import as_dtype, int32
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.shapes import TensorShape
from recordmill.compat.tensorflow.core.tensor import Tensor, as_tensor, wrap
from recordmill.compat.tensorflow.ops.matching import as_ints, bracketed


@op("array.shape")
def shape(input: Any, out_type: Any = int32) -> Tensor:  # noqa: A002 (TensorFlow's name)
    """Lengths of the axes, as a tensor."""
    return Tensor(np.array(array_of(input).shape, as_dtype(out_type).numpy_dtype))


@op("array.size")
def size(input: Any, out_type: Any = int32) -> Tensor:  # noqa: A002 (TensorFlow's name)
    """Number of values, as a tensor."""
    return wrap(array_of(input).size, as_dtype(out_type).numpy_dtype)


@op("array.rank")
def rank(input: Any) -> Tensor:  # noqa: A002 (TensorFlow's name)
    """Number of axes, as a tensor."""
    return wrap(array_of(input).ndim, np.int32)


@op("array.identity")
def identity(input: Any) -> Tensor:  # noqa: A002 (TensorFlow's name)
    """The tensor itself."""
    return as_tensor(input)


@op("array.ensure_shape")
def ensure_shape(x: Any, shape: Any) -> Tensor:
    """The tensor itself, if it is of that shape."""
    tensor, wanted = as_tensor(x), TensorShape(shape)
    if not tensor.shape.is_compatible_with(wanted):
        expected = bracketed([-1 if one is None else one for one in wanted]).replace("-1", "?")
        raise InvalidArgumentError(
            f"Shape of tensor input {bracketed(tensor.values.shape)} is not compatible with expected shape {expected}. "
            "[Op:EnsureShape]"
        )
    return tensor


@op("array.reshape")
def reshape(tensor: Any, shape: Any) -> Tensor:
    """The same values in another shape."""
    array = array_of(tensor)
    sizes = array_of(shape)
    if sizes.ndim > 1:
        raise InvalidArgumentError(f"sizes input must be 1-D, not {bracketed(sizes.shape)} [Op:Reshape]")
    lengths = as_ints(shape, "Tshape", "Reshape")
    unknown = [place for place, length in enumerate(lengths) if length == -1]
    if len(unknown) > 1:
        raise InvalidArgumentError(
            f"Only one input size may be -1, not both {unknown[0]} and {unknown[1]} [Op:Reshape]"
        )
    for place, length in enumerate(lengths):
        if length < -1:
            raise InvalidArgumentError(f"Size {place} must be non-negative, not {length} [Op:Reshape]")
    return Tensor(array.reshape(_completed(array, lengths)))


def _completed(array: NDArray[Any], lengths: list[int]) -> list[int]:
    known = math.prod(length for length in lengths if length != -1)
    start = f"Input to reshape is a tensor with {array.size} values, but the requested shape"
    if -1 not in lengths:
        if known != array.size:
            raise InvalidArgumentError(f"{start} has {known} [Op:Reshape]")
        return lengths
    if known == 0 and array.size == 0:
        # TensorFlow takes the length that is left when zeros are left out on both sides.
        missing = math.prod(n for n in array.shape if n) // max(math.prod(n for n in lengths if n > 0), 1)
        return [missing if length == -1 else length for length in lengths]
    if known == 0 or array.size % known:
        raise InvalidArgumentError(f"{start} requires a multiple of {known} [Op:Reshape]")
    return [array.size // known if length == -1 else length for length in lengths]


@op("array.squeeze")
def squeeze(input: Any, axis: Any = None) -> Tensor:  # noqa: A002 (TensorFlow's name)
    """Leave out axes of length 1: all of them, or those that are named."""
    array = array_of(input)
    axes = [] if axis is None else as_ints(axis, "T", "Squeeze")
    for one in axes:
        if not -array.ndim <= one < array.ndim:
            raise InvalidArgumentError(
                f"Tried to squeeze dim index {one} for tensor with {array.ndim} dimensions. [Op:Squeeze]"
            )
        if array.shape[one] != 1:
            raise InvalidArgumentError(
                f"Can not squeeze dim[{one % array.ndim}], expected a dimension of 1, got {array.shape[one]} "
                "[Op:Squeeze]"
            )
    left_out = {one % array.ndim for one in axes} or {at for at, length in enumerate(array.shape) if length == 1}
    return Tensor(array.reshape([length for at, length in enumerate(array.shape) if at not in left_out]))


@op("array.expand_dims")
def expand_dims(input: Any, axis: Any) -> Tensor:  # noqa: A002 (TensorFlow's name)
    """Insert an axis of length 1."""
    array, at = array_of(input), int(axis)
    if not -array.ndim - 1 <= at <= array.ndim:
        raise InvalidArgumentError(
            f"Tried to expand dim index {at} for tensor with {array.ndim} dimensions. [Op:ExpandDims]"
        )
    return Tensor(np.expand_dims(array, at))


@op("array.transpose")
def transpose(a: Any, perm: Any = None, conjugate: bool = False) -> Tensor:  # noqa: ARG001 (numbers are real)
    """Axes in another order; turned around unless it is given."""
    array = array_of(a)
    if perm is None:
        return Tensor(array.T)
    order = as_ints(perm, "Tperm", "Transpose")
    if len(order) != array.ndim:
        raise InvalidArgumentError(
            f"transpose expects a vector of size {array.ndim}. But input(1) is a vector of size {len(order)} "
            "[Op:Transpose]"
        )
    for one in order:
        if not -array.ndim <= one < array.ndim:
            raise InvalidArgumentError(f"{one} is out of range [0 .. {array.ndim}) [Op:Transpose]")
    places = [one % array.ndim for one in order]
    missing = next((one for one in np.arange(array.ndim) if one not in places), None)
    if missing is not None:
        raise InvalidArgumentError(f"{missing} is missing from {{{','.join(map(str, order))}}}. [Op:Transpose]")
    return Tensor(array.transpose(places))


@op("array.broadcast_to")
def broadcast_to(input: Any, shape: Any) -> Tensor:  # noqa: A002 (TensorFlow's name)
    """Values repeated along axes of length 1, and along new ones in front."""
    array, lengths = array_of(input), as_ints(shape, "Tidx", "BroadcastTo")
    try:
        return Tensor(np.broadcast_to(array, lengths))
    except ValueError:
        raise InvalidArgumentError(
            f"Incompatible shapes: {bracketed(array.shape)} vs. {bracketed(lengths)} [Op:BroadcastTo]"
        ) from None


@op("linalg.matrix_transpose")
def matrix_transpose(a: Any, conjugate: bool = False) -> Tensor:  # noqa: ARG001 (numbers are real)
    """The last two axes exchanged."""
    array = array_of(a)
    if array.ndim < 2:
        raise ValueError(
            f"Argument `a` should be a (batch) matrix with rank >= 2.  Received `a` = {a} with shape {array.shape}"
        )
    return Tensor(array.swapaxes(-1, -2))
