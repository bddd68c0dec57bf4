"""Specifications of features for parsing, such as ``tf.io.FixedLenFeature`` and ``VarLenFeature``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

from recordmill.compat.tensorflow.core import dtypes


class FixedLenFeature(NamedTuple):
    """``tf.io.FixedLenFeature``: the same number of values in every record, parsed to a dense tensor."""

    shape: Any
    dtype: Any
    default_value: Any = None


class FixedLenSequenceFeature(NamedTuple):
    """``tf.io.FixedLenSequenceFeature``: sequence of arrays of shape `shape`, parsed to a padded dense tensor."""

    shape: Any
    dtype: Any
    allow_missing: bool = False
    default_value: Any = None


class VarLenFeature(NamedTuple):
    """``tf.io.VarLenFeature``: any number of values, parsed to a sparse tensor."""

    dtype: Any


class SparseFeature(NamedTuple):
    """``tf.io.SparseFeature``: values and indices from different features, parsed to one sparse tensor."""

    index_key: Any
    value_key: Any
    dtype: Any
    size: Any
    already_sorted: bool = False


class RowSplits(NamedTuple):
    """Divides values into rows; the feature `key` holds the start of each row, and the end of the last row."""

    key: str


class RowLengths(NamedTuple):
    """Divides values into rows; the feature `key` holds the length of each row."""

    key: str


class RowStarts(NamedTuple):
    """Divides values into rows; the feature `key` holds the start of each row."""

    key: str


class RowLimits(NamedTuple):
    """Divides values into rows; the feature `key` holds the end (exclusive) of each row."""

    key: str


class ValueRowIds(NamedTuple):
    """Divides values into rows; the feature `key` holds the row number of each value."""

    key: str


class UniformRowLength(NamedTuple):
    """Divides values into rows of `length` values each."""

    length: int


PARTITIONS = (RowSplits, RowLengths, RowStarts, RowLimits, ValueRowIds, UniformRowLength)


class _RaggedFields(NamedTuple):
    dtype: Any
    value_key: str | None
    partitions: tuple[Any, ...]
    row_splits_dtype: Any
    validate: bool


class RaggedFeature(_RaggedFields):
    """``tf.io.RaggedFeature``: any number of values, parsed to a ragged tensor; `partitions` divide them into rows."""

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
        """Check and convert the arguments, then create the feature specification."""
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
                names = ", ".join(kind.__name__ for kind in PARTITIONS)
                raise TypeError(f"partitions must be {names} of tf.io.RaggedFeature, got {partition!r}")
        if not isinstance(validate, bool):
            raise TypeError(f"validate must be a bool, got {validate!r}")
        return super().__new__(cls, values, value_key, tuple(partitions), splits, validate)

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self)
