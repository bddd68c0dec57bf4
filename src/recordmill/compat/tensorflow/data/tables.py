"""Elements that are rows of arrays, and become tensors when their value is read."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.data.elements import Element
from recordmill.compat.tensorflow.data.stacking import alike, join
from recordmill.compat.tensorflow.data.structures import filled, leaves, row_of, same_form
from recordmill.types import RecordRef

# Largest array that `kept` joins elements into, as both are in memory for a moment.
_MAX_BYTES = 256 << 20


class Table:
    """Arrays with one row per element, in the structure of the elements."""

    def __init__(self, value: Any) -> None:
        self.form = value
        self.arrays: list[NDArray[Any]] = [leaf.values for leaf in leaves(value)]

    def row(self, position: int) -> Any:
        """Return the value of one element, as copies that do not keep the whole table in memory."""
        return filled(self.form, iter([_copied_row(array, position) for array in self.arrays]))


def _copied_row(array: NDArray[Any], position: int) -> Tensor:
    return row_of(array, position) if array.ndim == 1 else Tensor(np.array(array[position]))


class Row(Element):
    """One element of a table."""

    __slots__ = ("position", "table")

    def __init__(self, table: Table, position: int, place: RecordRef | None = None) -> None:
        self.table, self.position, self.place = table, position, place

    @property
    def value(self) -> Any:
        """Value, created on every access."""
        return self.table.row(self.position)


def are_rows(elements: Sequence[Element]) -> bool:
    """Return whether all elements are rows of tables of one form, dtypes and shapes."""
    if not all(type(one) is Row for one in elements):
        return False
    first, *others = dict.fromkeys(one.table for one in elements)  # type: ignore[attr-defined]
    return all(
        same_form(first.form, other.form)
        and all(
            a.dtype == b.dtype and a.shape[1:] == b.shape[1:] for a, b in zip(first.arrays, other.arrays, strict=True)
        )
        for other in others
    )


def column_of_rows(elements: Sequence[Any], number: int) -> NDArray[Any]:
    """Return one leaf of elements for which `are_rows` is true, as one array."""
    parts = []
    for table, group in groupby(elements, lambda one: one.table):
        positions = [one.position for one in group]
        first, last = positions[0], positions[-1]
        is_range = positions == list(range(first, last + 1))
        parts.append(table.arrays[number][slice(first, last + 1) if is_range else positions])
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


def batch_of_rows(elements: Sequence[Any]) -> Any:
    """Return elements for which `are_rows` is true as one value."""
    table = elements[0].table
    columns = [column_of_rows(elements, number) for number in range(len(table.arrays))]
    owned = [np.array(column) if column.base is not None else column for column in columns]
    return filled(table.form, iter(map(Tensor, owned)))


def kept(elements: list[Element]) -> list[Element]:
    """Return elements as rows of one table if they are alike and not too large; otherwise as they are."""
    if not elements or all(type(one) is Row and one.table is elements[0].table for one in elements):  # type: ignore[attr-defined]
        return elements
    values = [element.value for element in elements]
    form = values[0]
    if not all(same_form(form, value) for value in values):
        return elements
    columns = list(zip(*map(leaves, values), strict=True))
    if not all(alike(rows) and rows[0].values.nbytes * len(rows) <= _MAX_BYTES for rows in columns):
        return elements
    table = Table(filled(form, iter([Tensor(join([row.values for row in rows])) for rows in columns])))
    return [Row(table, position, element.place) for position, element in enumerate(elements)]
