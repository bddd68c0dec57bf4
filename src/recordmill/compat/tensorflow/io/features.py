"""Specifications of the features to parse: ``tf.io.FixedLenFeature`` and the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

from recordmill.compat.tensorflow.core import dtypes


class FixedLenFeature(NamedTuple):
    """The same number of values in every record, as a dense tensor."""

    shape: Any
    dtype: Any
    default_value: Any = None


class FixedLenSequenceFeature(NamedTuple):
    """Any number of values or blocks of values, as a dense tensor with padding."""

    shape: Any
    dtype: Any
    allow_missing: bool = False
    default_value: Any = None


class VarLenFeature(NamedTuple):
    """Any number of values, as a sparse tensor."""

    dtype: Any


class SparseFeature(NamedTuple):
    """Values and their indices, stored in different features, as a sparse tensor."""

    index_key: Any
    value_key: Any
    dtype: Any
    size: Any
    already_sorted: bool = False


class RowSplits(NamedTuple):
    """Feature with the start of each row and the end of the last one."""

    key: str


class RowLengths(NamedTuple):
    """Feature with the length of each row."""

    key: str


class RowStarts(NamedTuple):
    """Feature with the start of each row."""

    key: str


class RowLimits(NamedTuple):
    """Feature with the end of each row."""

    key: str


class ValueRowIds(NamedTuple):
    """Feature with the row of each value."""

    key: str


class UniformRowLength(NamedTuple):
    """Rows of one length."""

    length: int


PARTITIONS = (RowSplits, RowLengths, RowStarts, RowLimits, ValueRowIds, UniformRowLength)


class _RaggedFields(NamedTuple):
    dtype: Any
    value_key: str | None
    partitions: tuple[Any, ...]
    row_splits_dtype: Any
    validate: bool


class RaggedFeature(_RaggedFields):
    """Any number of values, as a ragged tensor; `partitions` divide the values of a record into rows."""

    __slots__ = ()
    RowSplits = RowSplits
    RowLengths = RowLengths
    RowStarts = RowStarts
    RowLimits = RowLimits
    ValueRowIds = ValueRowIds
    UniformRowLength = UniformRowLength

    def __new__(
        cls,
        dtype: Any,
        value_key: Any = None,
        partitions: Sequence[Any] = (),
        row_splits_dtype: Any = dtypes.int32,
        validate: bool = False,
    ) -> Self:
        """Check the arguments."""
        if value_key is not None and (not isinstance(value_key, str) or not value_key):
            raise ValueError(f"value_key must be a non-empty string, got {value_key!r}")
        values, splits = dtypes.as_dtype(dtype), dtypes.as_dtype(row_splits_dtype)
        if values.name not in ("int64", "float32", "string"):
            raise ValueError(f"dtype must be int64, float32 or string, got {values!r}")
        if splits.name not in ("int32", "int64"):
            raise ValueError(f"row_splits_dtype must be int32 or int64, got {splits!r}")
        if not isinstance(partitions, list | tuple):
            raise TypeError(f"partitions must be a list or tuple, got {partitions!r}")
        for partition in partitions:
            if not isinstance(partition, PARTITIONS):
                raise TypeError(f"partitions must be tf.io.RaggedFeature.RowSplits or another one, got {partition!r}")
        if not isinstance(validate, bool):
            raise TypeError(f"validate must be a bool, got {validate!r}")
        return super().__new__(cls, values, value_key, tuple(partitions), splits, validate)

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self)
