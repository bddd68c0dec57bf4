"""Ragged tensors: rows of different lengths, to any depth."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core import ragged_parts as parts
from recordmill.compat.tensorflow.core.arithmetic import Arithmetic
from recordmill.compat.tensorflow.core.composite import Composite
from recordmill.compat.tensorflow.core.dtypes import DType
from recordmill.compat.tensorflow.core.ragged_nested import Nested
from recordmill.compat.tensorflow.core.ragged_parts import Splits
from recordmill.compat.tensorflow.core.shapes import TensorShape
from recordmill.compat.tensorflow.core.tensor import Tensor, array_of, as_tensor


class RaggedTensor(Arithmetic, Nested, Composite):
    """Rows that lie back to back in `values`; row ``i`` is ``values[row_splits[i]:row_splits[i + 1]]``.

    Made by the ``from_...`` methods, by `constant`, and by the parsing functions.
    """

    __slots__ = ("_length", "_splits", "_values")
    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self, values: Tensor | RaggedTensor, row_splits: Splits, uniform_row_length: int | None = None
    ) -> None:
        self._values, self._splits, self._length = values, row_splits, uniform_row_length

    @classmethod
    def from_row_splits(cls, values: Any, row_splits: Any, name: Any = None, validate: bool = True) -> RaggedTensor:
        """Rows that end where the next one begins; `row_splits` has one entry more than there are rows."""
        return cls._made(values, parts.from_splits(_numbers(row_splits)), name, validate)

    @classmethod
    def from_row_lengths(cls, values: Any, row_lengths: Any, name: Any = None, validate: bool = True) -> RaggedTensor:
        """Rows of these lengths."""
        return cls._made(values, parts.from_lengths(_numbers(row_lengths)), name, validate)

    @classmethod
    def from_row_starts(cls, values: Any, row_starts: Any, name: Any = None, validate: bool = True) -> RaggedTensor:
        """Rows that begin at these places."""
        inner = _inner(values)
        return cls._made(inner, parts.from_starts(_numbers(row_starts), _num_rows(inner)), name, validate)

    @classmethod
    def from_row_limits(cls, values: Any, row_limits: Any, name: Any = None, validate: bool = True) -> RaggedTensor:
        """Rows that end in front of these places."""
        return cls._made(values, parts.from_limits(_numbers(row_limits)), name, validate)

    @classmethod
    def from_value_rowids(
        cls, values: Any, value_rowids: Any, nrows: Any = None, name: Any = None, validate: bool = True
    ) -> RaggedTensor:
        """Rows of the values that have the same row number; the numbers do not fall."""
        rows = None if nrows is None else int(nrows)
        return cls._made(values, parts.from_rowids(_numbers(value_rowids), rows), name, validate)

    @classmethod
    def from_uniform_row_length(
        cls, values: Any, uniform_row_length: Any, nrows: Any = None, validate: bool = True, name: Any = None
    ) -> RaggedTensor:
        """Rows of one length."""
        inner, length = _inner(values), int(uniform_row_length)
        dtype = inner.row_splits.dtype.numpy_dtype if isinstance(inner, RaggedTensor) else np.dtype(np.int64)
        rows = _num_rows(inner) // length if length else int(nrows or 0)
        made = cls._made(inner, (np.arange(rows + 1) * length).astype(dtype), name, validate)
        return cls(made._values, made._splits, length)

    @classmethod
    def from_tensor(
        cls,
        tensor: Any,
        lengths: Any = None,
        padding: Any = None,
        ragged_rank: int = 1,
        name: Any = None,
        row_splits_dtype: Any = np.int64,
    ) -> RaggedTensor:
        """Rows of a dense tensor, cut to their lengths or in front of the padding at their ends."""
        from recordmill.compat.tensorflow.core.ragged_making import from_tensor

        del name
        return from_tensor(tensor, lengths, padding, ragged_rank, row_splits_dtype)

    @classmethod
    def from_sparse(cls, st_input: Any, name: Any = None, row_splits_dtype: Any = np.int64) -> RaggedTensor:
        """Rows of a sparse tensor of two axes, without gaps."""
        from recordmill.compat.tensorflow.core.ragged_sparse import from_sparse

        del name
        return from_sparse(st_input, row_splits_dtype)

    @classmethod
    def _made(cls, values: Any, splits: Splits, name: Any, validate: bool) -> RaggedTensor:
        del name
        inner = _inner(values)
        if validate:
            parts.check(splits, _num_rows(inner))
        return cls(inner, splits)

    @property
    def values(self) -> Tensor | RaggedTensor:
        """Rows, back to back."""
        return self._values

    @property
    def row_splits(self) -> Tensor:
        """Where each row begins and the last one ends; shape (num_rows + 1,)."""
        return Tensor(self._splits)

    @property
    def uniform_row_length(self) -> Tensor | None:
        """Length of every row, where that is part of the shape."""
        return None if self._length is None else Tensor(np.array(self._length, self._splits.dtype))

    @property
    def flat_values(self) -> Tensor:
        """The innermost values, without rows."""
        return self._values.flat_values if isinstance(self._values, RaggedTensor) else self._values

    @property
    def nested_row_splits(self) -> tuple[Tensor, ...]:
        """Row splits from the outermost to the innermost."""
        inner = self._values.nested_row_splits if isinstance(self._values, RaggedTensor) else ()
        return (self.row_splits, *inner)

    def nested_row_lengths(self, name: Any = None) -> tuple[Tensor, ...]:
        """Lengths of the rows from the outermost to the innermost."""
        del name
        return tuple(Tensor(np.diff(splits.values)) for splits in self.nested_row_splits)

    @property
    def ragged_rank(self) -> int:
        """Number of axes that may be ragged."""
        return len(self.nested_row_splits)

    @property
    def dtype(self) -> DType:
        """Of the values."""
        return self.flat_values.dtype

    @property
    def shape(self) -> TensorShape:
        """Lengths of the axes; None for those that are ragged."""
        return TensorShape([len(self), self._length, *list(self._values.shape)[1:]])

    def get_shape(self) -> TensorShape:
        """Lengths of the axes; None for those that are ragged."""
        return self.shape

    def nrows(self, out_type: Any = None, name: Any = None) -> Tensor:
        """Return the number of rows."""
        del name
        return as_tensor(np.array(len(self), self._splits.dtype if out_type is None else out_type))

    def row_starts(self, name: Any = None) -> Tensor:
        """Return where each row begins."""
        del name
        return Tensor(self._splits[:-1])

    def row_limits(self, name: Any = None) -> Tensor:
        """Return where each row ends."""
        del name
        return Tensor(self._splits[1:])

    def value_rowids(self, name: Any = None) -> Tensor:
        """Return the number of the row of each value."""
        del name
        return Tensor(np.repeat(np.arange(len(self), dtype=self._splits.dtype), np.diff(self._splits)))

    def row_lengths(self, axis: int = 1, name: Any = None) -> Any:
        """Return the lengths of rows; of those of an inner axis, as a ragged tensor."""
        if axis == 1:
            return Tensor(np.diff(self._splits))
        if axis == 0:
            return self.nrows()
        if not isinstance(self._values, RaggedTensor):
            raise ValueError(f"axis {axis} of this ragged tensor is not ragged")  # noqa: TRY004 (TensorFlow's class)
        return self.with_values(self._values.row_lengths(axis - 1, name))

    def with_values(self, new_values: Any) -> RaggedTensor:
        """Return other values in the same rows."""
        return RaggedTensor(_inner(new_values), self._splits, self._length)

    def with_flat_values(self, new_values: Any) -> RaggedTensor:
        """Return other innermost values in the same rows."""
        inner = self._values
        return self.with_values(inner.with_flat_values(new_values) if isinstance(inner, RaggedTensor) else new_values)

    def to_list(self) -> list[Any]:
        """Return rows as nested lists of Python's values."""
        inner = self._values.to_list() if isinstance(self._values, RaggedTensor) else self._values.values.tolist()
        splits = self._splits.tolist()
        return [inner[start:stop] for start, stop in itertools.pairwise(splits)]

    def numpy(self) -> NDArray[Any]:
        """Return rows as an array of arrays; one array if all rows have one length."""
        values = np.asarray(self._values.numpy())
        rows = np.split(values, self._splits[1:-1]) if len(self._splits) > 1 else []
        if len({len(row) for row in rows}) == 1:
            return np.stack(rows)
        out: NDArray[Any] = np.empty(len(rows), object)
        out[:] = rows
        return out

    def to_tensor(self, default_value: Any = None, name: Any = None, shape: Any = None) -> Any:
        """Return rows side by side in one array; short ones are filled up, and cut where a shape says so."""
        return _ops().to_tensor(self, default_value, name, shape)

    def to_sparse(self, name: Any = None) -> Any:
        """Return the values with their places."""
        from recordmill.compat.tensorflow.core.ragged_sparse import to_sparse

        del name
        return to_sparse(self)

    def bounding_shape(self, axis: Any = None, name: Any = None, out_type: Any = None) -> Tensor:
        """Return the shape of the smallest array that holds all rows."""
        del name
        lengths = parts.bounding([split.values for split in self.nested_row_splits], self.flat_values.values.shape[1:])
        found = np.array(lengths, self._splits.dtype if out_type is None else array_of(0, out_type).dtype)
        return Tensor(found if axis is None else np.asarray(found[axis]))

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._splits) - 1

    def __iter__(self) -> Iterator[Tensor | RaggedTensor]:
        """Rows in order."""
        return (rows_of(self._values, start, stop) for start, stop in itertools.pairwise(self._splits))

    def __getitem__(self, key: Any) -> Any:
        """Row, or part of the rows."""
        return _ops().getitem(self, key)

    def __repr__(self) -> str:
        """TensorFlow's spelling."""
        with np.printoptions(formatter={"all": parts.spelled}):
            return f"<tf.RaggedTensor {parts.spelled(self.numpy())}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the parts."""
        return RaggedTensor, (self._values, self._splits, self._length)


def _ops() -> Any:
    from recordmill.compat.tensorflow.core import ragged_ops

    return ragged_ops


def _inner(values: Any) -> Tensor | RaggedTensor:
    return values if isinstance(values, RaggedTensor) else as_tensor(values)


def _numbers(given: Any) -> NDArray[Any]:
    """Python's whole numbers are int64 here."""
    return array_of(given) if isinstance(given, Tensor | np.ndarray) else np.asarray(given, np.int64)


def _num_rows(values: Tensor | RaggedTensor) -> int:
    return len(values)


def rows_of(values: Tensor | RaggedTensor, start: int, stop: int) -> Tensor | RaggedTensor:
    """Rows from one place to another."""
    if isinstance(values, Tensor):
        return Tensor(values.values[start:stop])
    splits = values.row_splits.values[start : stop + 1]
    inner = rows_of(values.values, splits[0], splits[-1])
    return RaggedTensor(inner, splits - splits[0], values._length)
