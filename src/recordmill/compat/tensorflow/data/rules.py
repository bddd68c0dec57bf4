"""Batch rules. A rule replaces the calls of an operation on single samples by one call on the whole batch.

A rule takes the arguments of a call, with a `BatchColumn` in place of each symbolic value, and the number of samples.
It returns the arguments of the same operation for the batch, or raises ValueError.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.tensor import Tensor, array_of


class BatchColumn:
    """One value per sample of a batch, stacked into a tensor along the first axis."""

    __slots__ = ("tensor",)

    def __init__(self, tensor: Tensor) -> None:
        self.tensor = tensor

    @property
    def array(self) -> NDArray[Any]:
        """Array of the values; its first axis is the batch axis."""
        return self.tensor.values


Arguments = tuple[tuple[Any, ...], dict[str, Any]]
Rule = Callable[[tuple[Any, ...], dict[str, Any], int], Arguments]


def _elementwise_rule(args: tuple[Any, ...], kwargs: dict[str, Any], count: int) -> Arguments:
    """Batch rule for elementwise operations: insert axes after the batch axis, so that the samples broadcast."""
    del count
    rank = max(_sample_rank(one) for one in [*args, *kwargs.values()])
    return tuple(_insert_axes(one, rank) for one in args), {key: _insert_axes(one, rank) for key, one in kwargs.items()}


def _sample_rank(value: Any) -> int:
    if isinstance(value, BatchColumn):
        return value.array.ndim - 1
    return array_of(value).ndim if isinstance(value, Tensor | np.ndarray | list | tuple) else 0


def _insert_axes(value: Any, rank: int) -> Any:
    if not isinstance(value, BatchColumn):
        return value
    array = value.array
    ones = (1,) * (rank - array.ndim + 1)
    return Tensor(array.reshape(array.shape[:1] + ones + array.shape[1:]))


def _first_argument_rule(args: tuple[Any, ...], kwargs: dict[str, Any], count: int) -> Arguments:
    """Batch rule for operations whose first argument holds the samples; the other arguments must be constant."""
    del count
    if not args:
        name = next(key for key, one in kwargs.items() if isinstance(one, BatchColumn))
        args, kwargs = (kwargs[name],), {key: one for key, one in kwargs.items() if key != name}
    if any(isinstance(one, BatchColumn) for one in [*args[1:], *kwargs.values()]):
        raise ValueError("all arguments except the first must be equal for all samples")
    return (args[0].tensor, *args[1:]), kwargs


def _make_first_argument_rule(rank: int) -> Rule:
    """Return a batch rule like `_first_argument_rule` that requires samples with `rank` axes."""

    def rule(args: tuple[Any, ...], kwargs: dict[str, Any], count: int) -> Arguments:
        (first, *others), options = _first_argument_rule(args, kwargs, count)
        if first.ndim != rank + 1:
            raise ValueError(f"samples must have {rank} axes")
        return (first, *others), options

    return rule


def _table_lookup_rule(args: tuple[Any, ...], kwargs: dict[str, Any], count: int) -> Arguments:
    """Batch rule for table lookups: look up the keys of all samples in one call."""
    del count
    table, keys = args
    return (table, keys.tensor), kwargs


def _transpose_rule(args: tuple[Any, ...], kwargs: dict[str, Any], count: int) -> Arguments:
    (tensor, *orders), _ = _first_argument_rule((*args, *kwargs.values()), {}, count)
    if not orders or orders[0] is None:
        return (tensor, [0, *range(tensor.ndim - 1, 0, -1)]), {}
    return (tensor, [0, *_to_batch_axis(orders[0]).tolist()]), {}


def _stack_rule(args: tuple[Any, ...], kwargs: dict[str, Any], count: int) -> Arguments:
    values, axis = args[0], kwargs.get("axis", args[1] if len(args) > 1 else 0)
    rows = [one.tensor if isinstance(one, BatchColumn) else _repeat_for_samples(one, count) for one in values]
    return (rows, int(_to_batch_axis(axis))), {}


def _unstack_rule(args: tuple[Any, ...], kwargs: dict[str, Any], count: int) -> Arguments:
    (tensor, *others), options = _first_argument_rule(args, kwargs, count)
    axis = others[1] if len(others) > 1 else options.get("axis", 0)
    return (tensor,), {"axis": int(_to_batch_axis(axis))}


def _repeat_for_samples(value: Any, count: int) -> Tensor:
    array = array_of(value)
    return Tensor(np.broadcast_to(array, (count, *array.shape)))


def _getitem_rule(args: tuple[Any, ...], kwargs: dict[str, Any], count: int) -> Arguments:
    (tensor, key), _ = _first_argument_rule((*args, *kwargs.values()), {}, count)
    keys = key if isinstance(key, tuple) else (key,)
    if not all(one is None or one is Ellipsis or isinstance(one, int | np.integer | slice) for one in keys):
        raise ValueError("an index must be an integer, a slice, Ellipsis or None")
    return (tensor, (slice(None), *keys)), {}


def _reshape_rule(args: tuple[Any, ...], kwargs: dict[str, Any], count: int) -> Arguments:
    (tensor, shape), _ = _first_argument_rule((*args, *kwargs.values()), {}, count)
    return (tensor, [count, *array_of(shape, "int32").tolist()]), {}


def _expand_dims_rule(args: tuple[Any, ...], kwargs: dict[str, Any], count: int) -> Arguments:
    (tensor, axis), _ = _first_argument_rule((*args, *kwargs.values()), {}, count)
    return (tensor, int(_to_batch_axis(axis))), {}


def _one_hot_rule(args: tuple[Any, ...], kwargs: dict[str, Any], count: int) -> Arguments:
    if kwargs.get("axis") not in (None, -1) or len(args) > 2:
        raise ValueError("the axis of one_hot must be the last one (-1)")
    return _first_argument_rule(args, kwargs, count)


def _make_axis_argument_rule(default: Callable[[int], Any]) -> Rule:
    """Return a batch rule for operations with an `axis` argument. The rule adjusts `axis` to the added batch axis."""

    def rule(args: tuple[Any, ...], kwargs: dict[str, Any], count: int) -> Arguments:
        (tensor, *others), options = _first_argument_rule(args, dict(kwargs), count)
        axis = others[0] if others else options.pop("axis", None)
        return (tensor, default(tensor.ndim) if axis is None else _to_batch_axis(axis), *others[1:]), options

    return rule


def _to_batch_axis(axis: Any) -> Any:
    """Convert axis numbers of a sample to axis numbers of the batch, which has an additional first axis."""
    axes = array_of(axis, "int32")
    return np.where(axes >= 0, axes + 1, axes)


_ELEMENTWISE = (
    *("add", "subtract", "multiply", "truediv", "divide", "floordiv", "floormod", "negative", "abs", "maximum"),
    *("minimum", "logical_and", "logical_or", "logical_not", "equal", "not_equal", "less", "less_equal", "greater"),
    *("greater_equal", "equal_or_false", "not_equal_or_true", "clip_by_value"),
)
_IMAGES = (
    *("adjust_brightness", "central_crop", "crop_to_bounding_box", "grayscale_to_rgb", "pad_to_bounding_box", "resize"),
    *("resize_with_crop_or_pad", "rgb_to_grayscale", "rot90", "transpose"),
)
_STRINGS = (
    *("to_number", "lower", "upper", "strip", "length", "regex_replace", "regex_full_match", "to_hash_bucket"),
    *("to_hash_bucket_fast", "to_hash_bucket_strong"),
)
RULES: dict[str, Rule] = {
    **{f"math.{name}": _elementwise_rule for name in _ELEMENTWISE},
    **dict.fromkeys(("math.argmax", "math.argmin"), _make_axis_argument_rule(lambda _: 1)),
    **{
        f"math.reduce_{name}": _make_axis_argument_rule(lambda ndim: [*range(1, ndim)])
        for name in ("max", "min", "all", "any")
    },
    **{f"array.{name}": _first_argument_rule for name in ("cast", "saturate_cast", "identity")},
    "array.one_hot": _one_hot_rule,
    "array.reshape": _reshape_rule,
    "array.expand_dims": _expand_dims_rule,
    "array.getitem": _getitem_rule,
    "array.stack": _stack_rule,
    "array.unstack": _unstack_rule,
    "array.transpose": _transpose_rule,
    "io.decode_csv": _make_first_argument_rule(0),
    "io.decode_raw": _first_argument_rule,
    **{f"strings.{name}": _first_argument_rule for name in _STRINGS},
    "lookup.find": _table_lookup_rule,
    **{f"image.{name}": _first_argument_rule for name in ("convert_image_dtype", "flip_left_right", "flip_up_down")},
    **{f"image.{name}": _make_first_argument_rule(3) for name in _IMAGES},
}
