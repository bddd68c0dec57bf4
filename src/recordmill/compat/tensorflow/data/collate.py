"""Combine elements into batches; elements may be stored as rows of arrays or as byte strings."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.arrays import wrap_scalar_in_array
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.ragged import RaggedTensor
from recordmill.compat.tensorflow.core.sparse import SparseTensor
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.data.elements import Element
from recordmill.compat.tensorflow.data.ragged_rows import RaggedRow, stack_ragged
from recordmill.compat.tensorflow.data.structures import has_same_structure, leaves, pack_structure, take_row
from recordmill.types import RecordRef

# Largest size in bytes of an array that `store_as_rows` builds. The size is limited because the elements and the array
# are in memory at the same time.
_MAX_BYTES = 256 << 20


class ElementTable:
    """Elements of one structure, stored as arrays: one array for each leaf, with one row per element."""

    def __init__(self, value: Any) -> None:
        self.structure = value
        self.arrays: list[NDArray[Any]] = [leaf.values for leaf in leaves(value)]

    def row(self, position: int) -> Any:
        """Return a copy of one element's value, because a view would keep the whole table in memory."""
        return pack_structure(self.structure, [_copy_row(array, position) for array in self.arrays])


def _copy_row(array: NDArray[Any], position: int) -> Tensor:
    return take_row(array, position) if array.ndim == 1 else Tensor(np.array(array[position]))


class TableRow(Element):
    """Element that is a row of an `ElementTable`; each access to `value` creates new tensors."""

    __slots__ = ("position", "table")

    def __init__(self, table: ElementTable, position: int, record: RecordRef | None = None) -> None:
        self.table, self.position, self.record = table, position, record

    @property
    def value(self) -> Any:
        return self.table.row(self.position)


class StringElement(Element):
    """Element that is one byte string, such as the payload of a record. `value` and `record` are created on access."""

    __slots__ = ("_locate", "_row", "content")

    def __init__(self, content: bytes, locate: Callable[[int], RecordRef], row: int) -> None:
        self.content, self._locate, self._row = content, locate, row

    @property
    def value(self) -> Tensor:
        return Tensor(wrap_scalar_in_array(self.content, np.dtype(object)))

    @property
    def record(self) -> RecordRef:  # type: ignore[override]
        return self._locate(self._row)


def stack_into_columns(elements: Sequence[Any], used: Container[int] | None = None) -> list[NDArray[Any] | None] | None:
    """Stack each leaf of the elements; return None if the elements are not supported.

    The elements must be `StringElement`s, or `TableRow`s with equal structures, dtypes and shapes.
    Leaves whose number is not in `used` are None.
    """
    kinds = set(map(type, elements))
    if kinds == {StringElement}:
        return [np.fromiter(map(attrgetter("content"), elements), object, len(elements))]
    if kinds != {TableRow} or not _have_equal_specs(elements):
        return None
    count = len(elements[0].table.arrays)
    return [_stack_rows(elements, number) if used is None or number in used else None for number in range(count)]


def _have_equal_specs(rows: Sequence[TableRow]) -> bool:
    first, *others = dict.fromkeys(map(attrgetter("table"), rows))
    return all(
        has_same_structure(first.structure, other.structure)
        and all(
            a.dtype == b.dtype and a.shape[1:] == b.shape[1:] for a, b in zip(first.arrays, other.arrays, strict=True)
        )
        for other in others
    )


def _stack_rows(elements: Sequence[TableRow], number: int) -> NDArray[Any]:
    parts = []
    for table, group in groupby(elements, attrgetter("table")):
        positions = [one.position for one in group]
        first, last = positions[0], positions[-1]
        is_range = positions == list(range(first, last + 1))
        parts.append(table.arrays[number][slice(first, last + 1) if is_range else positions])
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def stack_stored_elements(elements: Sequence[Any]) -> Any:
    """Combine elements into the value of a batch; return None if `stack_into_columns` does not support them."""
    columns = stack_into_columns(elements)
    if columns is None:
        return None
    structure = elements[0].table.structure if type(elements[0]) is TableRow else None
    # Slices are copied, because views would keep the whole table in memory.
    owned = [np.array(column) if column.base is not None else column for column in columns]  # type: ignore[union-attr]
    return pack_structure(structure, map(Tensor, owned))  # type: ignore[arg-type]


def store_as_rows(elements: list[Element]) -> list[Element]:
    """Convert elements to rows of an `ElementTable` if they can be stacked and the arrays are not too large.

    Otherwise, return the list unchanged.
    """
    if not elements or all(type(one) is TableRow and one.table is elements[0].table for one in elements):  # type: ignore[attr-defined]
        return elements
    values = [element.value for element in elements]
    first = values[0]
    if not all(has_same_structure(first, value) for value in values):
        return elements
    columns = list(zip(*map(leaves, values), strict=True))
    if not all(are_stackable(rows) and rows[0].values.nbytes * len(rows) <= _MAX_BYTES for rows in columns):
        return elements
    table = ElementTable(
        pack_structure(first, [Tensor(stack_arrays([row.values for row in rows])) for rows in columns])
    )
    return [TableRow(table, position, element.record) for position, element in enumerate(elements)]


def stack_leaf(rows: Sequence[Any], component: int) -> Any:
    """Stack one leaf of several elements; `component` is the number of the leaf, for error messages."""
    if isinstance(rows[0], SparseTensor):
        return _stack_sparse(rows)
    if isinstance(rows[0], RaggedRow | RaggedTensor):
        return stack_ragged(rows)
    arrays = [row.values for row in rows]
    first = arrays[0].shape
    for position, array in enumerate(arrays):
        if array.shape != first:
            raise InvalidArgumentError(
                f"Cannot batch tensors with different shapes in component {component}. First element had shape "
                f"{_format_shape(first)} and element {position} had shape {_format_shape(array.shape)}."
            )
    return Tensor(stack_arrays(arrays))


def stack_arrays(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Stack arrays that have the same shape and dtype."""
    joined: NDArray[Any] = np.empty((len(arrays), *arrays[0].shape), arrays[0].dtype)
    for position, array in enumerate(arrays):
        joined[position, ...] = array
    return joined


def are_stackable(rows: Sequence[Any]) -> bool:
    """Return whether values are dense tensors that have the same shape and dtype."""
    if not all(type(row) is Tensor for row in rows):
        return False
    first = rows[0].values
    return all(row.values.shape == first.shape and row.values.dtype == first.dtype for row in rows)


def _format_shape(shape: tuple[int, ...]) -> str:
    return "[" + ",".join(map(str, shape)) + "]"


def _stack_sparse(rows: Sequence[SparseTensor]) -> SparseTensor:
    counts = [len(row.values.values) for row in rows]
    numbers = np.repeat(np.arange(len(rows), dtype=np.int64), counts)[:, None]
    indices = np.concatenate([numbers, np.concatenate([row.indices.values for row in rows])], axis=1)
    values = np.concatenate([row.values.values for row in rows])
    shape = np.max([row.dense_shape.values for row in rows], axis=0)
    return SparseTensor(Tensor(indices), Tensor(values), Tensor(np.concatenate([[len(rows)], shape]).astype(np.int64)))
