"""Elements that lie in arrays, one row each, until somebody looks at them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.data.elements import Element
from recordmill.compat.tensorflow.data.stacking import alike, join
from recordmill.compat.tensorflow.data.structures import filled, leaves, row_of, same_form
from recordmill.types import RecordRef

# Bytes of elements that are put together while both they and the arrays are in memory, at most.
_MOST_BYTES = 256 << 20


class Table:
    """Arrays of as many rows as there are elements."""

    def __init__(self, value: Any) -> None:
        self._form = value
        self._arrays: list[NDArray[Any]] = [leaf.values for leaf in leaves(value)]

    def row(self, position: int) -> Any:
        """Value of one element."""
        return filled(self._form, iter([row_of(array, position) for array in self._arrays]))

    def column(self, number: int, positions: Sequence[int]) -> NDArray[Any]:
        """One leaf of some elements."""
        return np.take(self._arrays[number], np.asarray(positions), axis=0)

    def batch(self, positions: Sequence[int]) -> Any:
        """Some elements as one."""
        places = range(len(self._arrays))
        return filled(self._form, iter([Tensor(self.column(number, positions)) for number in places]))

    def has_strings(self, number: int) -> bool:
        """Whether a leaf is of strings, which may have any length."""
        return self._arrays[number].dtype.hasobject

    def __len__(self) -> int:
        """Return the number of leaves."""
        return len(self._arrays)


class Row(Element):
    """One element of a table."""

    __slots__ = ("position", "table")

    def __init__(self, table: Table, position: int, place: RecordRef | None = None) -> None:
        self.table, self.position, self.place = table, position, place

    @property
    def value(self) -> Any:
        """Value, made anew."""
        return self.table.row(self.position)


def table_of(elements: Sequence[Element]) -> Table | None:
    """Table that all elements are rows of."""
    first = elements[0]
    if type(first) is not Row or not all(type(one) is Row and one.table is first.table for one in elements):
        return None
    return first.table


def positions_of(elements: Sequence[Any]) -> list[int]:
    """Rows of elements of one table."""
    return [one.position for one in elements]


def kept(elements: list[Element]) -> list[Element]:
    """Elements as rows of one table, if they are alike and take little memory; otherwise as they are."""
    if not elements or table_of(elements) is not None:
        return elements
    values = [element.value for element in elements]
    form = values[0]
    if not all(same_form(form, value) for value in values):
        return elements
    columns = list(zip(*map(leaves, values), strict=True))
    if not all(alike(rows) and rows[0].values.nbytes * len(rows) <= _MOST_BYTES for rows in columns):
        return elements
    table = Table(filled(form, iter([Tensor(join([row.values for row in rows])) for rows in columns])))
    return [Row(table, position, element.place) for position, element in enumerate(elements)]
