"""Structures of elements: tuples, dicts and named tuples of tensors, nested."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core.ragged import RaggedTensor
from recordmill.compat.tensorflow.core.sparse import SparseTensor
from recordmill.compat.tensorflow.core.tensor import Tensor, array_of, as_tensor

TENSORS = (Tensor, SparseTensor, RaggedTensor)


def children(value: Any) -> list[Any] | None:
    """Return the parts of a tuple or a mapping in TensorFlow's order (mappings by key); None for a leaf."""
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, Mapping):
        return [value[key] for key in sorted(value)]
    return None


def leaves(value: Any) -> Iterator[Any]:
    """Iterate over the leaves of a structure in TensorFlow's order."""
    return iter(_flat(value))


def _flat(value: Any) -> list[Any]:
    if type(value) is Tensor:  # the most frequent case; `children` is slower
        return [value]
    inside = children(value)
    return [value] if inside is None else [leaf for one in inside for leaf in _flat(one)]


def mapped(function: Callable[..., Any], value: Any, *others: Any) -> Any:
    """Return the structure with a function applied to each leaf."""
    if type(value) is Tensor:
        return function(value, *others)
    if isinstance(value, tuple):
        rows = [mapped(function, *group) for group in zip(value, *others, strict=True)]
        return type(value)(*rows) if hasattr(value, "_fields") else tuple(rows)
    if isinstance(value, Mapping):
        return {key: mapped(function, value[key], *(other[key] for other in others)) for key in value}
    return function(value, *others)


def filled(value: Any, new: Iterator[Any]) -> Any:
    """Return a structure of the same form with other leaves."""
    if type(value) is Tensor:
        return next(new)
    if isinstance(value, tuple):
        rows = [filled(one, new) for one in value]
        return type(value)(*rows) if hasattr(value, "_fields") else tuple(rows)
    if isinstance(value, Mapping):
        parts = {key: filled(value[key], new) for key in sorted(value)}
        return {key: parts[key] for key in value}
    return next(new)


def same_form(one: Any, other: Any) -> bool:
    """Return whether two structures nest alike."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return sorted(one) == sorted(other) and all(same_form(one[key], other[key]) for key in one)
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(same_form, one, other))
    return children(one) is None and children(other) is None


def to_tensors(value: Any) -> Any:
    """Return the structure with tensors as leaves."""
    return mapped(lambda leaf: leaf if isinstance(leaf, TENSORS) else as_tensor(leaf), value)


def to_numpy(value: Any) -> Any:
    """Return the structure with NumPy arrays and scalars as leaves."""
    return mapped(lambda leaf: leaf.numpy() if isinstance(leaf, Tensor) else leaf, value)


def row_of(array: Any, position: int) -> Tensor:
    """Return one row of an array as a tensor."""
    row = array[position]
    if isinstance(row, np.ndarray):
        return Tensor(row)
    scalar = np.empty((), array.dtype)
    scalar[()] = row
    return Tensor(scalar)


def whole(value: Any, name: str) -> int:
    """Return an argument as an integer; scalar integer tensors are accepted."""
    array = array_of(value)
    if array.ndim or array.dtype.kind not in "iu":
        raise TypeError(f"{name} must be an integer, got {value!r}")
    return int(array[()])
