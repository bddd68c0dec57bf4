"""What is asked of features when records are parsed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

from recordmill.compat.tensorflow.core import dtypes


class FixedLenFeature(NamedTuple):
    """As many values in every record, as an array."""

    shape: Any
    dtype: Any
    default_value: Any = None


class FixedLenSequenceFeature(NamedTuple):
    """Any number of values or blocks of them, as an array in which short rows are filled up."""

    shape: Any
    dtype: Any
    allow_missing: bool = False
    default_value: Any = None


class VarLenFeature(NamedTuple):
    """Any number of values, as a sparse tensor."""

    dtype: Any


class SparseFeature(NamedTuple):
    """Values and their indices from different features, as a sparse tensor."""

    index_key: Any
    value_key: Any
    dtype: Any
    size: Any
    already_sorted: bool = False


class RowSplits(NamedTuple):
    """A feature that holds where each row begins, and where the last one ends."""

    key: str


class RowLengths(NamedTuple):
    """A feature that holds the length of each row."""

    key: str


class RowStarts(NamedTuple):
    """A feature that holds where each row begins."""

    key: str


class RowLimits(NamedTuple):
    """A feature that holds where each row ends."""

    key: str


class ValueRowIds(NamedTuple):
    """A feature that holds the number of the row of each value."""

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
    """Any number of values, as rows of a ragged tensor; other features may divide them further."""

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
        value_key: str | None = None,
        partitions: Sequence[Any] = (),
        row_splits_dtype: Any = dtypes.int32,
        validate: bool = False,
    ) -> Self:
        """Check the arguments."""
        if value_key is not None and not isinstance(value_key, str):
            raise ValueError(f"Argument `value_key` must be a string; got {value_key}")
        if value_key == "":
            raise ValueError("Argument `value_key` must not be empty")
        values, splits = dtypes.as_dtype(dtype), dtypes.as_dtype(row_splits_dtype)
        if values.name not in ("int64", "float32", "string"):
            raise ValueError(f"Argument `dtype` must be int64, float32, or bytes; got {values!r}")
        if splits.name not in ("int32", "int64"):
            raise ValueError(f"Argument `row_splits_dtype` must be int32 or int64; got{splits!r}")
        if not isinstance(partitions, list | tuple):
            raise TypeError(
                f"Argument `partitions` must be a list or tuple. Receivedpartitions={partitions} "
                f"of type {type(partitions).__name__}."
            )
        for partition in partitions:
            if not isinstance(partition, PARTITIONS):
                raise TypeError(
                    f"Argument `partitions` cannot be cast to any of the partition types in {PARTITIONS}; "
                    f"got: {partition!r} with type {type(partition)}"
                )
        if not isinstance(validate, bool):
            raise TypeError(f"Argument `validate` must be a bool; got {validate!r}")
        return super().__new__(cls, values, value_key, tuple(partitions), splits, validate)

    def __getnewargs__(self) -> tuple[Any, ...]:
        """Pickle the arguments."""
        return tuple(self)
