"""Operations that give the same for a whole batch at once as for its samples one by one.

A rule takes the arguments with whole arrays in the places of recorded values, and the number of samples, and gives the
arguments for the whole batch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.rows import Rows
from recordmill.compat.tensorflow.core.tensor import Tensor, array_of


class Whole:
    """Samples of a batch in one array, the first axis of which counts them."""

    __slots__ = ("array",)

    def __init__(self, array: NDArray[Any]) -> None:
        self.array = array


class WholeRows(Whole):
    """Byte strings that may still lie in one buffer."""

    __slots__ = ("tensor",)

    def __init__(self, tensor: Rows) -> None:
        self.tensor = tensor

    @property
    def array(self) -> NDArray[Any]:  # type: ignore[override]
        """The strings as objects."""
        return self.tensor.values


Arguments = tuple[tuple[Any, ...], dict[str, Any]]
Rule = Callable[[tuple[Any, ...], dict[str, Any], int], Arguments]


def _elementwise(args: tuple[Any, ...], kwargs: dict[str, Any], count: int) -> Arguments:
    """Arrays with as many axes as the largest sample, or constant, has."""
    del count
    rank = max(_rank(one) for one in [*args, *kwargs.values()])
    return tuple(_spread(one, rank) for one in args), {key: _spread(one, rank) for key, one in kwargs.items()}


def _rank(value: Any) -> int:
    if isinstance(value, Whole):
        return value.array.ndim - 1
    return array_of(value).ndim if isinstance(value, Tensor | np.ndarray | list | tuple) else 0


def _spread(value: Any, rank: int) -> Any:
    if not isinstance(value, Whole):
        return value
    array = value.array
    ones = (1,) * (rank - array.ndim + 1)
    return Tensor(array.reshape(array.shape[:1] + ones + array.shape[1:]))


def _first_only(args: tuple[Any, ...], kwargs: dict[str, Any], count: int) -> Arguments:
    """The first argument is an array, the others are constants."""
    del count
    if any(isinstance(one, Whole) for one in [*args[1:], *kwargs.values()]):
        raise ValueError("an argument other than the first one differs between samples")
    return (Tensor(args[0].array), *args[1:]), kwargs


def _raw(args: tuple[Any, ...], kwargs: dict[str, Any], count: int) -> Arguments:
    """Byte strings of one length; of several the operation itself refuses."""
    others = dict(kwargs)
    given = args or (others.pop("input_bytes"),)
    return _first_only(given, others, count)


def _found(args: tuple[Any, ...], kwargs: dict[str, Any], count: int) -> Arguments:
    """Keys of all samples in one table."""
    del count
    table, keys = args
    return (table, Tensor(keys.array)), kwargs


def _texts(args: tuple[Any, ...], kwargs: dict[str, Any], count: int) -> Arguments:
    """One text of each sample."""
    (layer, texts), others = _found(args, kwargs, count)
    if texts.values.ndim != 1:
        raise ValueError("a sample is not one text")
    return (layer, texts), others


def _lines(args: tuple[Any, ...], kwargs: dict[str, Any], count: int) -> Arguments:
    """One line of each sample."""
    (records, *more), others = _first_only(args, kwargs, count)
    if records.values.ndim != 1:
        raise ValueError("a sample is not one line")
    return (records, *more), others


def _transpose(args: tuple[Any, ...], kwargs: dict[str, Any], count: int) -> Arguments:
    (tensor, *orders), _ = _first_only((*args, *kwargs.values()), {}, count)
    if not orders or orders[0] is None:
        return (tensor, [0, *range(tensor.values.ndim - 1, 0, -1)]), {}
    return (tensor, [0, *(axis + 1 if axis >= 0 else axis for axis in array_of(orders[0], "int32").tolist())]), {}


def _stack(args: tuple[Any, ...], kwargs: dict[str, Any], count: int) -> Arguments:
    values, axis = args[0], kwargs.get("axis", args[1] if len(args) > 1 else 0)
    rows = [one.array if isinstance(one, Whole) else _repeated(one, count) for one in values]
    return ([Tensor(row) for row in rows], axis + 1 if axis >= 0 else axis), {}


def _repeated(value: Any, count: int) -> NDArray[Any]:
    array = array_of(value)
    return np.broadcast_to(array, (count, *array.shape))


def _reshape(args: tuple[Any, ...], kwargs: dict[str, Any], count: int) -> Arguments:
    (tensor, shape), _ = _first_only((*args, *kwargs.values()), {}, count)
    return (tensor, [count, *array_of(shape, "int32").tolist()]), {}


def _expand_dims(args: tuple[Any, ...], kwargs: dict[str, Any], count: int) -> Arguments:
    (tensor, axis), _ = _first_only((*args, *kwargs.values()), {}, count)
    return (tensor, axis + 1 if axis >= 0 else axis), {}


def _one_hot(args: tuple[Any, ...], kwargs: dict[str, Any], count: int) -> Arguments:
    if kwargs.get("axis") not in (None, -1) or len(args) > 2:
        raise ValueError("another axis than the last")
    return _first_only(args, kwargs, count)


def _pictures(args: tuple[Any, ...], kwargs: dict[str, Any], count: int) -> Arguments:
    """Pictures of one size."""
    (images, *more), others = _first_only(args, kwargs, count)
    if images.values.ndim != 4:
        raise ValueError("a sample is not one picture")
    return (images, *more), others


def _place(args: tuple[Any, ...], kwargs: dict[str, Any], count: int) -> Arguments:
    """Along one axis, the first unless another is given."""
    (tensor, *more), others = _first_only(args, dict(kwargs), count)
    axis = more[0] if more else others.pop("axis", None)
    return (tensor, _behind(0 if axis is None else axis), *more[1:]), others


def _reduction(args: tuple[Any, ...], kwargs: dict[str, Any], count: int) -> Arguments:
    """Along all axes unless some are given."""
    (tensor, *more), others = _first_only(args, dict(kwargs), count)
    axis = more[0] if more else others.pop("axis", None)
    return (tensor, list(range(1, tensor.values.ndim)) if axis is None else _behind(axis), *more[1:]), others


def _behind(axis: Any) -> Any:
    """Axes of a sample as they are counted in a batch."""
    numbers = array_of(axis, "int32")
    return np.where(numbers >= 0, numbers + 1, numbers)


_ELEMENTWISE = (
    *("math.add", "math.subtract", "math.multiply", "math.truediv", "math.divide", "math.floordiv", "math.floormod"),
    *("math.negative", "math.abs", "math.maximum", "math.minimum", "math.logical_and", "math.logical_or"),
    *("math.logical_not", "math.equal", "math.not_equal", "math.less", "math.less_equal", "math.greater"),
    *("math.greater_equal", "math.equal_or_false", "math.not_equal_or_true"),
)
_OF_PICTURES = tuple(
    f"image.{name}"
    for name in (
        *("adjust_brightness", "central_crop", "crop_to_bounding_box", "grayscale_to_rgb", "pad_to_bounding_box"),
        *("resize", "resize_with_crop_or_pad", "rgb_to_grayscale", "rot90", "transpose"),
    )
)
RULES: dict[str, Rule] = {
    **dict.fromkeys(_ELEMENTWISE, _elementwise),
    **dict.fromkeys(("math.argmax", "math.argmin"), _place),
    **dict.fromkeys(("math.reduce_max", "math.reduce_min", "math.reduce_all", "math.reduce_any"), _reduction),
    "array.cast": _first_only,
    "array.saturate_cast": _first_only,
    "array.identity": _first_only,
    "array.one_hot": _one_hot,
    "array.reshape": _reshape,
    "array.expand_dims": _expand_dims,
    "array.stack": _stack,
    "array.transpose": _transpose,
    "io.decode_csv": _lines,
    "io.decode_raw": _raw,
    **dict.fromkeys(
        ("strings.to_number", "strings.lower", "strings.upper", "strings.strip", "strings.length"), _first_only
    ),
    **dict.fromkeys(("strings.regex_replace", "strings.regex_full_match"), _first_only),
    **dict.fromkeys((f"strings.to_hash_bucket{kind}" for kind in ("", "_fast", "_strong")), _first_only),
    "lookup.find": _found,
    "strings.vectorize": _texts,
    "image.convert_image_dtype": _first_only,
    **dict.fromkeys(_OF_PICTURES, _pictures),
    "image.flip_left_right": _first_only,
    "image.flip_up_down": _first_only,
}
