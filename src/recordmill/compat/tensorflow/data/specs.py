"""Specs of elements: dtypes and shapes, as far as they are known."""

from __future__ import annotations

from typing import Any

from recordmill.compat.tensorflow.core.shapes import TensorShape
from recordmill.compat.tensorflow.data.ragged_rows import RaggedRow
from recordmill.compat.tensorflow.data.structures import leaves, mapped, same_form
from recordmill.compat.tensorflow.ops.specs import RaggedTensorSpec, type_spec_from_value


class DatasetSpec:
    """Spec of datasets whose elements have a spec."""

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
    """Return the structure of the specs of an element."""
    return mapped(_spec, value)


def _spec(leaf: Any) -> Any:
    if hasattr(leaf, "element_spec"):
        return DatasetSpec(leaf.element_spec)
    if isinstance(leaf, RaggedRow):
        return leaf.row_spec
    return type_spec_from_value(leaf)


def with_axis(spec: Any, length: int | None) -> Any:
    """Return the specs of batches of elements."""
    return mapped(lambda leaf: _reshaped(leaf, TensorShape([length]) + leaf.shape, 1), spec)


def without_axis(spec: Any) -> Any:
    """Return the specs of the rows of elements."""
    return mapped(lambda leaf: _reshaped(leaf, leaf.shape[1:] if leaf.shape.rank is not None else None, -1), spec)


def _reshaped(leaf: Any, shape: Any, more_axes: int = 0) -> Any:
    if isinstance(leaf, RaggedTensorSpec):
        return RaggedTensorSpec(shape, leaf.dtype, max(leaf.ragged_rank + more_axes, 0), leaf.row_splits_dtype)
    return type(leaf)(shape, leaf.dtype)


def common(one: Any, other: Any) -> Any:
    """Return the most specific specs that cover both; lengths that differ are unknown."""
    if not same_form(one, other) or any(
        getattr(a, "dtype", None) != getattr(b, "dtype", None) for a, b in zip(leaves(one), leaves(other), strict=True)
    ):
        raise TypeError(f"Incompatible dataset elements:\n  {one} vs.   {other}")
    return mapped(_common, one, other)


def _common(one: Any, other: Any) -> Any:
    if isinstance(one, DatasetSpec):
        return one
    if one.shape.rank is None or one.shape.rank != other.shape.rank:
        return _reshaped(one, None)
    return _reshaped(one, [a if a == b else None for a, b in zip(one.shape, other.shape, strict=True)])
