"""``tf.RaggedTensor`` and the operations of ``tf.ragged``: rows of different lengths, nested to any depth."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core import row_splits as partition
from recordmill.compat.tensorflow.core.composite import CompositeTensor
from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.dtypes import DType, as_dtype
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.operators import ElementwiseOperators
from recordmill.compat.tensorflow.core.row_splits import Splits
from recordmill.compat.tensorflow.core.shapes import TensorShape
from recordmill.compat.tensorflow.core.sparse import SparseTensor
from recordmill.compat.tensorflow.core.tensor import Tensor, array_of, as_tensor


class RaggedTensor(ElementwiseOperators, CompositeTensor):
    """Rows stored one after another in `values`; row ``i`` is ``values[row_splits[i]:row_splits[i + 1]]``.

    Create it with a ``from_...`` method, with `constant`, or with the parsing functions.
    """

    __slots__ = ("_length", "_splits", "_values")
    __hash__ = None  # type: ignore[assignment]

    def __init__(
        self, values: Tensor | RaggedTensor, row_splits: Splits, uniform_row_length: int | None = None
    ) -> None:
        self._values, self._splits, self._length = values, row_splits, uniform_row_length

    @classmethod
    def from_row_splits(cls, values: Any, row_splits: Any, name: Any = None, validate: bool = True) -> RaggedTensor:
        """Create rows from `row_splits`: the start of each row in `values`, followed by the end of the last row."""
        return cls._create_from_splits(values, partition.check_row_splits(_to_int_array(row_splits)), name, validate)

    @classmethod
    def from_row_lengths(cls, values: Any, row_lengths: Any, name: Any = None, validate: bool = True) -> RaggedTensor:
        """Divide `values` into rows of the given lengths."""
        return cls._create_from_splits(values, partition.from_lengths(_to_int_array(row_lengths)), name, validate)

    @classmethod
    def from_row_starts(cls, values: Any, row_starts: Any, name: Any = None, validate: bool = True) -> RaggedTensor:
        """Create rows from their start positions in `values`."""
        inner = _convert_unless_ragged(values)
        return cls._create_from_splits(
            inner, partition.from_starts(_to_int_array(row_starts), len(inner)), name, validate
        )

    @classmethod
    def from_row_limits(cls, values: Any, row_limits: Any, name: Any = None, validate: bool = True) -> RaggedTensor:
        """Create rows from their end positions (exclusive) in `values`."""
        return cls._create_from_splits(values, partition.from_limits(_to_int_array(row_limits)), name, validate)

    @classmethod
    def from_value_rowids(
        cls, values: Any, value_rowids: Any, nrows: Any = None, name: Any = None, validate: bool = True
    ) -> RaggedTensor:
        """Create rows from the row number of each value; the numbers must be sorted."""
        rows = None if nrows is None else int(nrows)
        return cls._create_from_splits(values, partition.from_rowids(_to_int_array(value_rowids), rows), name, validate)

    @classmethod
    def from_uniform_row_length(
        cls, values: Any, uniform_row_length: Any, nrows: Any = None, validate: bool = True, name: Any = None
    ) -> RaggedTensor:
        """Divide `values` into rows of length `uniform_row_length`."""
        inner, length = _convert_unless_ragged(values), int(uniform_row_length)
        dtype = inner.row_splits.dtype.numpy_dtype if isinstance(inner, RaggedTensor) else np.dtype(np.int64)
        rows = len(inner) // length if length else int(nrows or 0)
        created = cls._create_from_splits(inner, (np.arange(rows + 1) * length).astype(dtype), name, validate)
        return cls(created._values, created._splits, length)

    @classmethod
    def from_nested_row_splits(
        cls, flat_values: Any, nested_row_splits: Sequence[Any], name: Any = None, validate: bool = True
    ) -> Any:
        """Create nested rows from the row splits of each nesting level, outermost first."""
        return cls._create_nested("from_row_splits", flat_values, nested_row_splits, name, validate)

    @classmethod
    def from_nested_row_lengths(
        cls, flat_values: Any, nested_row_lengths: Sequence[Any], name: Any = None, validate: bool = True
    ) -> Any:
        """Create nested rows from the row lengths of each nesting level, outermost first."""
        return cls._create_nested("from_row_lengths", flat_values, nested_row_lengths, name, validate)

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
        """Convert a dense tensor to a ragged one: cut rows to `lengths`, or drop trailing values equal to `padding`."""
        del name
        return from_tensor(tensor, lengths, padding, ragged_rank, row_splits_dtype)

    @classmethod
    def from_sparse(cls, st_input: Any, name: Any = None, row_splits_dtype: Any = np.int64) -> RaggedTensor:
        """Create rows from a 2-D sparse tensor; the values of each row must start at column 0, without gaps."""
        del name
        return from_sparse(st_input, row_splits_dtype)

    @classmethod
    def _create_from_splits(cls, values: Any, splits: Splits, name: Any, validate: bool) -> RaggedTensor:
        del name
        inner = _convert_unless_ragged(values)
        if validate:
            partition.check_rows_cover_values(splits, len(inner))
        return cls(inner, splits)

    @classmethod
    def _create_nested(cls, method: str, values: Any, levels: Any, name: Any, validate: bool) -> Any:
        if isinstance(levels, Tensor):
            argument = f"nested_{method.removeprefix('from_')}"
            raise TypeError(f"Argument `{argument}` must be a list of Tensors. Received {levels.numpy()}.")
        for level in reversed(levels):
            values = getattr(cls, method)(values, level, name, validate)
        return values

    @property
    def values(self) -> Tensor | RaggedTensor:
        """Values of all rows, concatenated."""
        return self._values

    @property
    def row_splits(self) -> Tensor:
        """Start of each row in `values`, followed by the end of the last row: shape (num_rows + 1,)."""
        return Tensor(self._splits)

    @property
    def uniform_row_length(self) -> Tensor | None:
        """Length of every row, or None if the rows have no fixed length."""
        return None if self._length is None else Tensor(np.array(self._length, self._splits.dtype))

    @property
    def flat_values(self) -> Tensor:
        """Values of the innermost rows, concatenated."""
        return self._values.flat_values if isinstance(self._values, RaggedTensor) else self._values

    @property
    def nested_row_splits(self) -> tuple[Tensor, ...]:
        """Row splits of each nesting level, outermost first."""
        inner = self._values.nested_row_splits if isinstance(self._values, RaggedTensor) else ()
        return (self.row_splits, *inner)

    def nested_row_lengths(self, name: Any = None) -> tuple[Tensor, ...]:
        """Return the row lengths of each nesting level, outermost first."""
        del name
        return tuple(Tensor(np.diff(splits.values)) for splits in self.nested_row_splits)

    @property
    def ragged_rank(self) -> int:
        """Number of nesting levels of rows. Each level adds an axis that may be ragged."""
        return len(self.nested_row_splits)

    @property
    def dtype(self) -> DType:
        """Dtype of the values."""
        return self.flat_values.dtype

    @property
    def shape(self) -> TensorShape:
        """Lengths of the axes, with None for ragged axes."""
        return TensorShape([len(self), self._length, *list(self._values.shape)[1:]])

    def get_shape(self) -> TensorShape:
        """Return the lengths of the axes, with None for ragged axes."""
        return self.shape

    def nrows(self, out_type: Any = None, name: Any = None) -> Tensor:
        """Return the number of rows."""
        del name
        return as_tensor(np.array(len(self), self._splits.dtype if out_type is None else out_type))

    def value_rowids(self, name: Any = None) -> Tensor:
        """Return the row number of each value."""
        del name
        return Tensor(np.repeat(np.arange(len(self), dtype=self._splits.dtype), np.diff(self._splits)))

    def row_lengths(self, axis: int = 1, name: Any = None) -> Any:
        """Return the lengths of the rows along `axis`; for an axis above 1, return a ragged tensor."""
        if axis == 1:
            return Tensor(np.diff(self._splits))
        if axis == 0:
            return self.nrows()
        if not isinstance(self._values, RaggedTensor):
            raise ValueError(f"axis {axis} is not ragged")  # noqa: TRY004 (TensorFlow's class)
        return self.with_values(self._values.row_lengths(axis - 1, name))

    def with_values(self, new_values: Any) -> RaggedTensor:
        """Return a ragged tensor with the same row splits and the given values."""
        return RaggedTensor(_convert_unless_ragged(new_values), self._splits, self._length)

    def with_flat_values(self, new_values: Any) -> RaggedTensor:
        """Return a ragged tensor with the same row splits and the given innermost values."""
        inner = self._values
        return self.with_values(inner.with_flat_values(new_values) if isinstance(inner, RaggedTensor) else new_values)

    def to_list(self) -> list[Any]:
        """Return the rows as nested lists."""
        inner = self._values.to_list() if isinstance(self._values, RaggedTensor) else self._values.values.tolist()
        return [inner[start:stop] for start, stop in itertools.pairwise(self._splits.tolist())]

    def numpy(self) -> NDArray[Any]:
        """Return an object array with one array per row or, if all rows have the same length, one plain array."""
        values = np.asarray(self._values.numpy())
        rows = np.split(values, self._splits[1:-1]) if len(self._splits) > 1 else []
        if len({len(row) for row in rows}) == 1:
            return np.stack(rows)
        out: NDArray[Any] = np.empty(len(rows), object)
        out[:] = rows
        return out

    def to_tensor(self, default_value: Any = None, name: Any = None, shape: Any = None) -> Any:
        """Convert to a dense tensor: pad the rows to equal length, and cut rows that exceed `shape`."""
        return to_tensor(self, default_value, name, shape)

    def to_sparse(self, name: Any = None) -> Any:
        """Convert to a sparse tensor."""
        del name
        return to_sparse(self)

    def __len__(self) -> int:
        return len(self._splits) - 1

    def __iter__(self) -> Iterator[Tensor | RaggedTensor]:
        return (slice_values(self._values, start, stop) for start, stop in itertools.pairwise(self._splits))

    def __getitem__(self, key: Any) -> Any:
        """Return a row (`rows[0]`), several rows (`rows[1:]`) or the same slice of each row (`rows[:, 1:]`)."""
        return getitem(self, key)

    def __repr__(self) -> str:
        with np.printoptions(formatter={"all": _format_nested}):
            return f"<tf.RaggedTensor {_format_nested(self.numpy())}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return RaggedTensor, (self._values, self._splits, self._length)


def _convert_unless_ragged(values: Any) -> Tensor | RaggedTensor:
    return values if isinstance(values, RaggedTensor) else as_tensor(values)


def _to_int_array(numbers: Any) -> NDArray[Any]:
    """Convert row splits, row lengths or row numbers to an array; Python integers become int64."""
    return array_of(numbers) if isinstance(numbers, Tensor | np.ndarray) else np.asarray(numbers, np.int64)


def _format_nested(value: Any) -> str:
    """Format nested arrays with commas between values; long arrays are abbreviated as in NumPy."""
    if not isinstance(value, np.ndarray):
        return str(value)
    return np.array2string(value, separator=", ") if value.size else repr(value.tolist())


def _list_nested_splits(ragged: RaggedTensor) -> list[Splits]:
    return [splits.values for splits in ragged.nested_row_splits]


def slice_values(values: Tensor | RaggedTensor, start: int, stop: int) -> Tensor | RaggedTensor:
    """Slice dense or ragged values along their first axis."""
    if isinstance(values, Tensor):
        return Tensor(values.values[start:stop])
    splits = values.row_splits.values[start : stop + 1]
    inner = slice_values(values.values, splits[0], splits[-1])
    return RaggedTensor(inner, splits - splits[0], values._length)


def gather_values(values: Tensor | RaggedTensor, rows: NDArray[np.int64]) -> Tensor | RaggedTensor:
    """Select rows of a dense or ragged tensor; `rows` contains their indices along the first axis."""
    if isinstance(values, Tensor):
        return Tensor(values.values[rows])
    positions, splits = partition.gather_rows(values.row_splits.values, rows)
    return RaggedTensor(gather_values(values.values, positions), splits)


@op("ragged.getitem")
def getitem(ragged: RaggedTensor, key: Any) -> Any:
    """Return a row (`rows[0]`), several rows (`rows[1:]`) or the same slice of each row (`rows[:, 1:]`)."""
    first, *rest = key if isinstance(key, tuple) else (key,)
    if any(part is Ellipsis or part is None for part in (first, *rest)):
        raise NotImplementedError("indexing a ragged tensor with Ellipsis or tf.newaxis is not supported")
    if isinstance(first, slice):
        start, stop, step = first.indices(len(ragged))
        if step == 1:
            taken = slice_values(ragged, start, max(start, stop))
        else:
            taken = gather_values(ragged, np.arange(start, stop, step))
        return _slice_each_row(taken, rest) if rest else taken
    index = int(first)
    if not -len(ragged) <= index < len(ragged):
        raise InvalidArgumentError(f"index {index} is out of bounds for {len(ragged)} rows")
    splits = ragged.row_splits.values
    index %= len(ragged)
    row: Any = slice_values(ragged.values, splits[index], splits[index + 1])
    return row[tuple(rest) if len(rest) > 1 else rest[0]] if rest else row


def _slice_each_row(ragged: Any, key: list[Any]) -> RaggedTensor:
    if isinstance(key[0], int | np.integer) and ragged.uniform_row_length is None:
        raise ValueError("Cannot index into an inner ragged dimension.")
    if len(key) > 1 or not isinstance(key[0], slice):
        raise NotImplementedError("a slice of rows can be followed by only one more slice, as in rows[:, 1:]")
    positions, splits = partition.slice_rows(ragged.row_splits.values, key[0])
    return RaggedTensor(gather_values(ragged.values, positions), splits)


@op("ragged.to_tensor")
def to_tensor(ragged: RaggedTensor, default_value: Any = None, name: Any = None, shape: Any = None) -> Tensor:
    """Convert to a dense tensor: pad the rows to equal length, and cut rows that exceed `shape`."""
    del name
    flat, nested = ragged.flat_values.values, _list_nested_splits(ragged)
    lengths = partition.bounding_shape(nested, flat.shape[1:])
    limits = [None] * len(lengths) if shape is None else list(shape)
    if len(limits) != len(lengths):
        raise ValueError(f"shape must have {len(lengths)} axes, got {len(limits)}")
    wanted = [
        length if limit is None or limit == -1 else int(limit) for limit, length in zip(limits, lengths, strict=True)
    ]
    if default_value is None:
        default_value = b"" if flat.dtype == object else 0
    out = np.empty(wanted, flat.dtype)
    out[...] = array_of(default_value, ragged.dtype)[()]
    axes = partition.locate_innermost_values(nested)
    inside = np.logical_and.reduce([indices < wanted[axis] for axis, indices in enumerate(axes)])
    inner: Any = tuple(slice(0, length) for length in wanted[len(axes) :])
    out[(*(indices[inside] for indices in axes), *inner)] = flat[: len(inside)][(inside, *inner)]
    return Tensor(out)


@op("ragged.to_sparse")
def to_sparse(ragged: RaggedTensor) -> SparseTensor:
    """Convert a ragged tensor to a sparse one."""
    flat, nested = ragged.flat_values.values, _list_nested_splits(ragged)
    rows = np.stack(partition.locate_innermost_values(nested), axis=1)
    flat = flat[: len(rows)]
    inner = np.argwhere(np.ones(flat.shape[1:], bool))
    indices = np.concatenate([np.repeat(rows, len(inner), axis=0), np.tile(inner, (len(rows), 1))], axis=1)
    shape = np.array(partition.bounding_shape(nested, flat.shape[1:]), np.int64)
    return SparseTensor(Tensor(indices.astype(np.int64)), Tensor(flat.reshape(-1)), Tensor(shape))


@op("ragged.from_sparse")
def from_sparse(st_input: Any, row_splits_dtype: Any = np.int64) -> RaggedTensor:
    """Convert a 2-D sparse tensor to a ragged one; the values of each row must start at column 0, without gaps."""
    if not isinstance(st_input, SparseTensor):
        raise TypeError(f"expected a SparseTensor, got {type(st_input).__name__}")
    indices = st_input.indices.values
    if indices.shape[1] != 2:
        raise ValueError(f"the sparse tensor must have rank 2, got rank {indices.shape[1]}")
    rows, columns = indices.T
    splits = partition.from_lengths(np.bincount(rows, minlength=int(st_input.dense_shape.values[0])))
    if (np.diff(rows) < 0).any() or (columns != np.arange(len(rows)) - splits[rows]).any():
        raise InvalidArgumentError(
            "SparseTensor is not right-ragged: the values of each row must start at column 0, without gaps"
        )
    return RaggedTensor(st_input.values, splits.astype(as_dtype(row_splits_dtype).numpy_dtype))


@op("ragged.from_tensor")
def from_tensor(
    tensor: Any, lengths: Any = None, padding: Any = None, ragged_rank: int = 1, row_splits_dtype: Any = np.int64
) -> RaggedTensor:
    """Convert a dense tensor to a ragged one: cut rows to `lengths`, or drop trailing values equal to `padding`."""
    array, dtype = array_of(tensor), as_dtype(row_splits_dtype).numpy_dtype
    if lengths is not None and padding is not None:
        raise ValueError("lengths cannot be combined with padding")
    if not 0 < ragged_rank < array.ndim:
        raise ValueError(
            f"ragged_rank must be at least 1 and less than {array.ndim} (the number of axes), got {ragged_rank}"
        )
    if ragged_rank > 1:
        if lengths is not None:
            raise NotImplementedError("from_tensor(lengths=...) is only supported for ragged_rank=1")
        count, length = array.shape[:2]
        inner = from_tensor(array.reshape(count * length, *array.shape[2:]), None, padding, ragged_rank - 1, dtype)
        return RaggedTensor(inner, (np.arange(count + 1) * length).astype(dtype), length)
    found = _compute_row_lengths(array, lengths, padding)
    values = array[np.arange(array.shape[1]) < found[:, None]]
    uniform = array.shape[1] if lengths is None and padding is None else None
    return RaggedTensor(Tensor(values), partition.from_lengths(found.astype(dtype)), uniform)


def _compute_row_lengths(array: NDArray[Any], lengths: Any, padding: Any) -> NDArray[np.int64]:
    if lengths is not None:
        return np.clip(array_of(lengths).astype(np.int64), 0, array.shape[1])
    if padding is None:
        return np.full(len(array), array.shape[1])
    fill = array_of(padding, as_dtype(array.dtype))
    present = (array != fill).any(axis=tuple(range(2, array.ndim)))
    if not present.size:
        return np.zeros(len(array), np.int64)
    return np.where(present.any(axis=1), array.shape[1] - present[:, ::-1].argmax(axis=1), 0)


@op("ragged.stack")
def stack(values: Any, axis: int = 0, name: Any = None) -> RaggedTensor:
    """Stack tensors of different lengths along a new first axis."""
    del name
    if axis != 0:
        raise NotImplementedError(f"tf.ragged.stack(axis={axis}) is not supported: axis must be 0")
    rows = values if isinstance(values, list | tuple) else [values]
    wide = any(isinstance(row, RaggedTensor) and row.row_splits.values.dtype == np.int64 for row in rows)
    dtype = np.int64 if wide else np.int32
    return stack_ragged_rows(
        [row if isinstance(row, RaggedTensor) else _dense_to_ragged(array_of(row)) for row in rows], dtype
    )


def _dense_to_ragged(array: NDArray[Any]) -> Any:
    return from_tensor(array, None, None, array.ndim - 1) if array.ndim > 1 else Tensor(array)


def stack_ragged_rows(rows: Sequence[Any], dtype: Any = np.int64) -> RaggedTensor:
    """Combine dense tensors, or ragged tensors of equal depth, into the rows of a ragged tensor."""
    lengths = np.array([len(row) for row in rows], dtype)
    return RaggedTensor(concatenate_rows(rows, dtype), partition.from_lengths(lengths))


def concatenate_rows(rows: Sequence[Any], dtype: Any) -> Any:
    """Concatenate dense tensors, or ragged tensors of equal depth, along their first axis."""
    if isinstance(rows[0], Tensor):
        return Tensor(np.concatenate([row.values for row in rows]))
    lengths = np.concatenate([np.diff(row.row_splits.values) for row in rows]).astype(dtype)
    return RaggedTensor(concatenate_rows([row.values for row in rows], dtype), partition.from_lengths(lengths))


@op("ragged.range")
def range_(starts: Any, limits: Any = None, deltas: Any = 1, dtype: Any = None, name: Any = None) -> RaggedTensor:
    """``tf.ragged.range``: create rows of evenly spaced numbers."""
    del name
    bounds = (0, starts, deltas) if limits is None else (starts, limits, deltas)
    kind = array_of(starts, dtype).dtype
    wanted = np.broadcast_arrays(*(np.atleast_1d(array_of(bound)).astype(kind) for bound in bounds))
    rows = [np.arange(*triple, dtype=kind) for triple in zip(*wanted, strict=True)]
    return stack_ragged_rows([Tensor(row) for row in rows])


def map_flat_values(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """``tf.ragged.map_flat_values``: apply a function to the innermost values; the result has the same row splits."""
    rows = [value for value in (*args, *kwargs.values()) if isinstance(value, RaggedTensor)]
    if not rows:
        return function(*args, **kwargs)
    expected = [splits.tolist() for splits in _list_nested_splits(rows[0])]
    if any([splits.tolist() for splits in _list_nested_splits(row)] != expected for row in rows):
        raise ValueError("All ragged inputs must have the same row_splits.")
    flat = [value.flat_values if isinstance(value, RaggedTensor) else value for value in args]
    named = {key: value.flat_values if isinstance(value, RaggedTensor) else value for key, value in kwargs.items()}
    return rows[0].with_flat_values(function(*flat, **named))


def constant(
    pylist: Any,
    dtype: Any = None,
    ragged_rank: int | None = None,
    inner_shape: Any = None,
    name: Any = None,
    row_splits_dtype: Any = np.int64,
) -> Any:
    """``tf.ragged.constant``: create a ragged tensor from nested lists."""
    del name
    if not isinstance(pylist, list | tuple | np.ndarray):
        return as_tensor(pylist, dtype)
    nested, values, depth = [], list(pylist), _nesting_depth(pylist)
    num_inner = 0 if inner_shape is None else len(inner_shape)
    wanted = depth - 1 - num_inner if ragged_rank is None else int(ragged_rank)
    if not 0 <= wanted < max(depth, 1):
        raise ValueError(
            f"ragged_rank={ragged_rank} and inner_shape={inner_shape} do not match lists with {depth} nesting levels"
        )
    for _ in range(wanted):
        if not all(isinstance(value, Sequence | np.ndarray) and not isinstance(value, str | bytes) for value in values):
            raise ValueError(f"all scalar values must have the same nesting depth: {pylist!r}")
        lengths = np.array([len(value) for value in values], as_dtype(row_splits_dtype).numpy_dtype)
        nested.append(partition.from_lengths(lengths))
        values = [item for value in values for item in value]
    found: Any = as_tensor(values, dtype)
    if inner_shape is not None and not values:
        found = Tensor(found.values.reshape((0, *inner_shape)))
    has_depth = not values or found.ndim == depth - wanted
    if not has_depth or tuple(inner_shape or ()) not in ((), found.values.shape[1:]):
        raise ValueError(f"all scalar values must have the same nesting depth: {pylist!r}")
    for splits in reversed(nested):
        found = RaggedTensor(found, splits)
    return found


def _nesting_depth(value: Any) -> int:
    if isinstance(value, str | bytes) or not isinstance(value, Sequence | np.ndarray):
        return 0
    return 1 + max((_nesting_depth(item) for item in value), default=0)
