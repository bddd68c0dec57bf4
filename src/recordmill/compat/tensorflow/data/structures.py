"""Structures of elements (nested tuples, dicts and named tuples of tensors) and of their specs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core.arrays import wrap_scalar_in_array
from recordmill.compat.tensorflow.core.ragged import RaggedTensor
from recordmill.compat.tensorflow.core.shapes import TensorShape
from recordmill.compat.tensorflow.core.sparse import SparseTensor
from recordmill.compat.tensorflow.core.tensor import Tensor, array_of, as_tensor
from recordmill.compat.tensorflow.data.ragged_rows import RaggedRow
from recordmill.compat.tensorflow.ops.specs import RaggedTensorSpec, type_spec_from_value

TENSORS = (Tensor, SparseTensor, RaggedTensor)


def children(value: Any) -> list[Any] | None:
    """Return the values of a tuple or mapping, or None for a leaf; mappings are sorted by key, as in TensorFlow."""
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, Mapping):
        return [value[key] for key in sorted(value)]
    return None


def leaves(value: Any) -> Iterator[Any]:
    """Iterate over the leaves of a structure in TensorFlow's order, which sorts dicts by key."""
    return iter(_list_leaves(value))


def _list_leaves(value: Any) -> list[Any]:
    if type(value) is Tensor:  # Most values are dense tensors, and this check is faster than `children`.
        return [value]
    inside = children(value)
    return [value] if inside is None else [leaf for one in inside for leaf in _list_leaves(one)]


def map_structure(function: Callable[..., Any], value: Any, *others: Any) -> Any:
    """Call a function with each leaf of a structure and the corresponding leaves of `others`."""
    if type(value) is Tensor:
        return function(value, *others)
    if isinstance(value, tuple):
        rows = [map_structure(function, *group) for group in zip(value, *others, strict=True)]
        return type(value)(*rows) if hasattr(value, "_fields") else tuple(rows)
    if isinstance(value, Mapping):
        return {key: map_structure(function, value[key], *(other[key] for other in others)) for key in value}
    return function(value, *others)


def pack_structure(value: Any, new: Iterable[Any]) -> Any:
    """Return a structure that is nested like `value`, with the leaves in `new`."""
    leaf = iter(new)
    if type(value) is Tensor:
        return next(leaf)
    if isinstance(value, tuple):
        rows = [pack_structure(one, leaf) for one in value]
        return type(value)(*rows) if hasattr(value, "_fields") else tuple(rows)
    if isinstance(value, Mapping):
        parts = {key: pack_structure(value[key], leaf) for key in sorted(value)}
        return {key: parts[key] for key in value}
    return next(leaf)


def has_same_structure(one: Any, other: Any) -> bool:
    """Return whether two structures have the same nesting and the same keys."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return sorted(one) == sorted(other) and all(has_same_structure(one[key], other[key]) for key in one)
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(has_same_structure, one, other))
    return children(one) is None and children(other) is None


def to_tensors(value: Any) -> Any:
    """Convert the leaves of a structure to tensors."""
    return map_structure(lambda leaf: leaf if isinstance(leaf, TENSORS) else as_tensor(leaf), value)


def to_numpy(value: Any) -> Any:
    """Convert the dense tensors in a structure to NumPy arrays and scalars."""
    return map_structure(lambda leaf: leaf.numpy() if isinstance(leaf, Tensor) else leaf, value)


def take_row(array: Any, position: int) -> Tensor:
    """Return one row of an array along its first axis as a tensor."""
    row = array[position]
    return Tensor(row if isinstance(row, np.ndarray) else wrap_scalar_in_array(row, array.dtype))


def to_int(value: Any, name: str) -> int:
    """Convert an argument, which may be an integer or a scalar integer tensor, to int."""
    array = array_of(value)
    if array.ndim or array.dtype.kind not in "iu":
        raise TypeError(f"{name} must be an integer, got {value!r}")
    return int(array[()])


class DatasetSpec:
    """``tf.data.DatasetSpec``: spec of a dataset, consisting of the spec of its elements."""

    __slots__ = ("element_spec",)

    def __init__(self, element_spec: Any) -> None:
        self.element_spec = element_spec

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DatasetSpec) and bool(self.element_spec == other.element_spec)

    def __hash__(self) -> int:
        return hash(DatasetSpec)

    def __repr__(self) -> str:
        return f"DatasetSpec({self.element_spec!r}, TensorShape([]))"


def spec_of(value: Any) -> Any:
    """Return the specs of an element."""
    return map_structure(_leaf_spec, value)


def _leaf_spec(leaf: Any) -> Any:
    if hasattr(leaf, "element_spec"):
        return DatasetSpec(leaf.element_spec)
    if isinstance(leaf, RaggedRow):
        return leaf.row_spec
    return type_spec_from_value(leaf)


def add_batch_axis(spec: Any, length: int | None) -> Any:
    """Return the specs of a batch of `length` elements; `spec` describes each element."""
    return map_structure(lambda leaf: _spec_with_shape(leaf, TensorShape([length]) + leaf.shape, 1), spec)


def drop_batch_axis(spec: Any) -> Any:
    """Return the specs of one row of a batch; `spec` describes the batch."""
    return map_structure(
        lambda leaf: _spec_with_shape(leaf, None if leaf.shape.rank is None else leaf.shape[1:], -1), spec
    )


def _spec_with_shape(leaf: Any, shape: Any, more_axes: int = 0) -> Any:
    if isinstance(leaf, RaggedTensorSpec):
        return RaggedTensorSpec(shape, leaf.dtype, max(leaf.ragged_rank + more_axes, 0), leaf.row_splits_dtype)
    return type(leaf)(shape, leaf.dtype)


def merge_specs(one: Any, other: Any) -> Any:
    """Combine two specs into the narrowest spec that matches both; axis lengths that differ become unknown."""
    if not has_same_structure(one, other) or any(
        getattr(a, "dtype", None) != getattr(b, "dtype", None) for a, b in zip(leaves(one), leaves(other), strict=True)
    ):
        raise TypeError(f"Incompatible dataset elements:\n  {one} vs.   {other}")
    return map_structure(_merge_leaf_specs, one, other)


def _merge_leaf_specs(one: Any, other: Any) -> Any:
    if isinstance(one, DatasetSpec):
        return one
    if one.shape.rank is None or one.shape.rank != other.shape.rank:
        return _spec_with_shape(one, None)
    return _spec_with_shape(one, [a if a == b else None for a, b in zip(one.shape, other.shape, strict=True)])
