"""Operations that join, split, repeat, reverse and pad tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.arrays import array_of
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor, as_tensor, wrap
from recordmill.compat.tensorflow.ops.inputs import convert_ints, convert_to_common_dtype, normalize_axis

_PAD_MODES = {"CONSTANT": "constant", "REFLECT": "reflect", "SYMMETRIC": "symmetric"}

# ruff: noqa: A002 (TensorFlow's names)


@op("array.stack")
def stack(values: Any, axis: Any = 0) -> Tensor:
    """``tf.stack``: join tensors of the same shape along a new axis."""
    if not isinstance(values, list | tuple) or not values:
        values = list(as_tensor(values)) or values
        if not values:
            return as_tensor(values)
    arrays = _convert_to_one_dtype(values)
    shapes = [one.shape for one in arrays]
    if len(set(shapes)) > 1:
        raise InvalidArgumentError(f"stack: tensors must have the same shape, got {shapes}")
    return wrap(np.stack(arrays, normalize_axis(axis, arrays[0].ndim + 1, "stack", ValueError)))


def _convert_to_one_dtype(values: Any) -> list[NDArray[Any]]:
    """Convert values to one dtype; if all are Python numbers and at least one is a float, the dtype is float32."""
    if any(isinstance(one, Tensor | np.ndarray | np.generic) for one in values):
        return convert_to_common_dtype(values, "stack")
    try:
        return list(array_of(list(values)))
    except (TypeError, ValueError):
        return convert_to_common_dtype(values, "stack")


@op("array.concat")
def concat(values: Any, axis: Any) -> Tensor:
    """``tf.concat``: join tensors along an existing axis."""
    if not isinstance(values, list | tuple):
        return as_tensor(values)
    if not values:
        raise InvalidArgumentError("concat: values must not be empty")
    if len(values) == 1:
        return as_tensor(values[0])
    arrays = convert_to_common_dtype(values, "concat")
    if len({one.ndim for one in arrays}) > 1 or not arrays[0].ndim:
        raise InvalidArgumentError(
            f"concat: tensors must have the same rank >= 1, got ranks {[one.ndim for one in arrays]}"
        )
    position = normalize_axis(axis, arrays[0].ndim, "concat")
    try:
        return wrap(np.concatenate(arrays, position))
    except ValueError:
        shapes = [one.shape for one in arrays]
        raise InvalidArgumentError(f"concat: shapes may differ only along axis {position}, got {shapes}") from None


@op("array.unstack")
def unstack(value: Any, num: Any = None, axis: Any = 0) -> list[Tensor]:
    """``tf.unstack``: split a tensor along an axis, and remove the axis."""
    array = array_of(value)
    position = normalize_axis(axis, array.ndim, "unstack", ValueError)
    if num is not None and int(num) != array.shape[position]:
        raise InvalidArgumentError(
            f"unstack: num must be {array.shape[position]} (the length of axis {position}), got {int(num)}"
        )
    return [wrap(one) for one in np.moveaxis(array, position, 0)]


@op("array.split")
def split(value: Any, num_or_size_splits: Any, axis: Any = 0, num: Any = None) -> list[Tensor]:  # noqa: ARG001
    """``tf.split``: split a tensor along an axis into equal parts, or into parts of given lengths."""
    array, parts = array_of(value), array_of(num_or_size_splits)
    position = normalize_axis(axis, array.ndim, "split")
    length = array.shape[position]
    if parts.ndim:
        ends = np.cumsum(_infer_missing_size([int(one) for one in parts], length))[:-1]
        return [wrap(one) for one in np.split(array, ends, position)]
    if int(parts) <= 0 or length % int(parts):
        raise InvalidArgumentError(f"split: an axis of length {length} cannot be split into {int(parts)} equal parts")
    return [wrap(one) for one in np.split(array, int(parts), position)]


def _infer_missing_size(sizes: list[int], length: int) -> list[int]:
    """Replace a single -1 in `sizes` by the remaining length; raise an error unless the sizes add up to `length`."""
    known = sum(one for one in sizes if one >= 0)
    if sizes.count(-1) == 1 and min(sizes) == -1 and known <= length:
        return [length - known if one == -1 else one for one in sizes]
    if known != length or any(one < 0 for one in sizes):
        raise InvalidArgumentError(f"split: sizes must add up to {length} (the length of the axis), got {sizes}")
    return sizes


@op("array.tile")
def tile(input: Any, multiples: Any) -> Tensor:
    """``tf.tile``: repeat a tensor along its axes."""
    array, counts = array_of(input), convert_ints(multiples, "tile")
    if len(counts) != array.ndim or any(one < 0 for one in counts):
        raise InvalidArgumentError(f"tile: multiples must be {array.ndim} non-negative integers, got {counts}")
    return wrap(np.tile(array, counts)) if counts else Tensor(array)


@op("array.repeat")
def repeat(input: Any, repeats: Any, axis: Any = None) -> Tensor:
    """``tf.repeat``: repeat each slice along `axis`; if `axis` is None, flatten the tensor and repeat each value."""
    return wrap(np.repeat(array_of(input), array_of(repeats), None if axis is None else int(axis)))


@op("array.reverse")
def reverse(tensor: Any, axis: Any) -> Tensor:
    """``tf.reverse``: reverse the order along the given axes."""
    array = array_of(tensor)
    axes = [normalize_axis(one, array.ndim, "reverse") for one in convert_ints(axis, "reverse")]
    return Tensor(np.flip(array, tuple(axes)) if axes else array)


@op("array.pad")
def pad(tensor: Any, paddings: Any, mode: str = "CONSTANT", constant_values: Any = 0) -> Tensor:
    """``tf.pad``: add values at both ends of the axes."""
    array, widths = array_of(tensor), array_of(paddings).astype(np.int64)
    name = str(mode).upper()
    if name not in _PAD_MODES:
        raise ValueError(f"pad: mode must be one of {', '.join(_PAD_MODES)}, got {mode!r}")
    if widths.shape != (array.ndim, 2) or (widths < 0).any():
        raise InvalidArgumentError(f"pad: paddings must be {array.ndim} pairs of non-negative integers, got {widths}")
    if name == "CONSTANT":
        return wrap(np.pad(array, widths, constant_values=_convert_padding_value(constant_values, array.dtype)))
    limits = np.array(array.shape)[:, None] - (name == "REFLECT")
    if (widths > limits).any():
        raise InvalidArgumentError(
            f"pad: for mode {name}, paddings must be at most {limits[:, 0].tolist()} per axis, got {widths.tolist()}"
        )
    return wrap(np.pad(array, widths, _PAD_MODES[name]))  # type: ignore[call-overload]


def _convert_padding_value(value: Any, dtype: np.dtype[Any]) -> Any:
    """Convert a padding value; the default 0 becomes an empty string or False if the dtype requires it."""
    if type(value) is int and value == 0 and dtype.kind in "Ob":
        return b"" if dtype.kind == "O" else False
    return array_of(value, dtype)[()]
