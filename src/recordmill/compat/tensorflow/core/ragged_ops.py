"""Operations on ragged tensors: parts, comparison, arrays of them, and how they are made of nested lists."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core import ragged_parts as parts
from recordmill.compat.tensorflow.core.dispatch import op, run
from recordmill.compat.tensorflow.core.dtypes import as_dtype
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.ragged import RaggedTensor, rows_of
from recordmill.compat.tensorflow.core.tensor import Tensor, array_of, as_tensor


@op("ragged.getitem")
def getitem(ragged: RaggedTensor, key: Any) -> Any:
    """Take a row, some rows, or the same part of each of them."""
    first, *rest = key if isinstance(key, tuple) else (key,)
    if any(one is Ellipsis or one is None for one in (first, *rest)):
        return _with_new_axis(ragged, first, rest)
    if isinstance(first, slice):
        start, stop, step = first.indices(len(ragged))
        taken = (
            rows_of(ragged, start, max(start, stop)) if step == 1 else gathered(ragged, np.arange(start, stop, step))
        )
        return _part_of_rows(taken, rest) if rest else taken
    place = int(first)
    if not -len(ragged) <= place < len(ragged):
        raise InvalidArgumentError(f"slice index {place} of dimension 0 out of bounds: there are {len(ragged)} rows")
    splits = ragged.row_splits.values
    place %= len(ragged)
    row: Any = rows_of(ragged.values, splits[place], splits[place + 1])
    return row[tuple(rest) if len(rest) > 1 else rest[0]] if rest else row


def _with_new_axis(ragged: RaggedTensor, first: Any, rest: list[Any]) -> Any:
    if first is Ellipsis and rest == [None]:
        return run("array.expand_dims", ragged, -1)
    if first is None and not rest:
        return run("array.expand_dims", ragged, 0)
    raise NotImplementedError("of ... and tf.newaxis, a ragged tensor is indexed by [..., tf.newaxis] and [tf.newaxis]")


def _part_of_rows(ragged: Any, rest: list[Any]) -> RaggedTensor:
    if isinstance(rest[0], int | np.integer) and ragged.uniform_row_length is None:
        raise ValueError("Cannot index into an inner ragged dimension.")
    if len(rest) > 1 or not isinstance(rest[0], slice):
        raise NotImplementedError("of all rows of a ragged tensor, a slice is taken, such as rows[:, 1:]")
    picked, splits = parts.slice_rows(ragged.row_splits.values, rest[0])
    if isinstance(ragged.values, Tensor):
        return RaggedTensor(Tensor(ragged.values.values[picked]), splits)
    return RaggedTensor(gathered(ragged.values, picked), splits)


def gathered(ragged: RaggedTensor, rows: Any) -> RaggedTensor:
    """Rows of a ragged tensor by their numbers, which are all there."""
    chosen, splits = parts.gather_rows(ragged.row_splits.values, rows)
    inner = ragged.values
    return RaggedTensor(Tensor(inner.values[chosen]) if isinstance(inner, Tensor) else gathered(inner, chosen), splits)


@op("ragged.to_tensor")
def to_tensor(ragged: RaggedTensor, default_value: Any = None, name: Any = None, shape: Any = None) -> Tensor:
    """Put rows side by side in one array."""
    del name
    flat = ragged.flat_values.values
    nested = [splits.values for splits in ragged.nested_row_splits]
    lengths = parts.bounding(nested, flat.shape[1:])
    given = [None] * len(lengths) if shape is None else list(shape)
    if len(given) != len(lengths):
        raise ValueError(f"shape has {len(given)} axes, the ragged tensor {len(lengths)}")
    wanted = [length if one is None or one == -1 else int(one) for one, length in zip(given, lengths, strict=True)]
    if default_value is None:
        default_value = b"" if flat.dtype == object else 0
    out = np.empty(wanted, flat.dtype)
    out[...] = array_of(default_value, ragged.dtype)[()]
    at = parts.places(nested)
    inside = np.logical_and.reduce([axis < wanted[place] for place, axis in enumerate(at)])
    behind: Any = tuple(slice(0, length) for length in wanted[len(at) :])
    out[(*(axis[inside] for axis in at), *behind)] = flat[: len(inside)][(inside, *behind)]
    return Tensor(out)


@op("ragged.equal")
def equal(first: RaggedTensor, second: Any) -> RaggedTensor:
    """Compare element by element."""
    equals: RaggedTensor = run("math.equal", first, second)
    return equals


@op("ragged.not_equal")
def not_equal(first: RaggedTensor, second: Any) -> RaggedTensor:
    """Compare element by element; as `equal`."""
    differs: RaggedTensor = run("math.not_equal", first, second)
    return differs


def constant(
    pylist: Any,
    dtype: Any = None,
    ragged_rank: int | None = None,
    inner_shape: Any = None,
    name: Any = None,
    row_splits_dtype: Any = np.int64,
) -> Any:
    """Make a ragged tensor of nested lists."""
    del name
    if not isinstance(pylist, list | tuple | np.ndarray):
        return as_tensor(pylist, dtype)
    nested, values, depth = [], list(pylist), _depth(pylist)
    inside = 0 if inner_shape is None else len(inner_shape)
    wanted = depth - 1 - inside if ragged_rank is None else int(ragged_rank)
    if not 0 <= wanted < max(depth, 1):
        told = f"ragged_rank={wanted}, dim(inner_shape)={inside}"
        raise ValueError(f"Invalid pylist={pylist!r}: incompatible with {told}")
    for _ in range(wanted):
        if not all(isinstance(value, Sequence | np.ndarray) and not isinstance(value, str | bytes) for value in values):
            raise ValueError(f"all scalar values must have the same nesting depth: {pylist!r}")
        lengths = np.array([len(value) for value in values], as_dtype(row_splits_dtype).numpy_dtype)
        nested.append(parts.from_lengths(lengths))
        values = [item for value in values for item in value]
    found: Any = as_tensor(values, dtype)
    if inner_shape is not None and not values:
        found = Tensor(found.values.reshape((0, *inner_shape)))
    is_deep = not values or found.ndim == depth - wanted
    if not is_deep or tuple(inner_shape or ()) not in ((), found.values.shape[1:]):
        raise ValueError(f"all scalar values must have the same nesting depth: {pylist!r}")
    for splits in reversed(nested):
        found = RaggedTensor(found, splits)
    return found


def _depth(value: Any) -> int:
    if isinstance(value, str | bytes) or not isinstance(value, Sequence | np.ndarray):
        return 0
    return 1 + max((_depth(item) for item in value), default=0)
