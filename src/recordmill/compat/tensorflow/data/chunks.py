"""Recorded functions done to many elements at a time, and the elements handed on one by one."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any, TypeVar

import numpy as np

from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.data.ahead import close, mapped_ahead
from recordmill.compat.tensorflow.data.bands import rows_of
from recordmill.compat.tensorflow.data.elements import Element, Failed, Node, Step
from recordmill.compat.tensorflow.data.functions import Function, to_result
from recordmill.compat.tensorflow.data.recorded import Recorded
from recordmill.compat.tensorflow.data.recording import IN_ORDER, Program
from recordmill.compat.tensorflow.data.records import Column
from recordmill.compat.tensorflow.data.rules import Whole
from recordmill.compat.tensorflow.data.sources import FromGenerator
from recordmill.compat.tensorflow.data.structures import filled, leaves
from recordmill.compat.tensorflow.data.tables import positions_of, table_of
from recordmill.compat.tensorflow.data.whole import WholeProgram, column_of

T = TypeVar("T")
R = TypeVar("R")
# Elements of a chunk at most; the first ones are few, for whoever wants only these.
MOST = 64
# Bytes that elements done at once may take together, about.
_HELD = 4 << 20
# Attempts to do elements at once: three in vain are enough, unless many were not.
_CREDIT = 12
# Bytes of an element from which on joining many costs more than it saves, and of an encoded picture, which grows.
_LARGE, _SMALL_FILE = 64 << 10, 8 << 10


class Chunked:
    """A function for many elements at a time."""

    def __init__(self, program: Program) -> None:
        self._result, self.whole = program.result, WholeProgram(program)
        inside = {number for call in program.calls for number in call.inputs}
        inside |= {leaf.number for leaf in leaves(program.result) if isinstance(leaf, Recorded)}
        self._reads_files = any(call.name == "io.read_file" for call in program.calls)
        self.makes_pictures = self.whole.makes_pictures
        self._used = sorted(number for number in inside if number < program.num_inputs)

    @property
    def gains(self) -> bool:
        """Whether operations run for many elements at once, which are no files of any size."""
        return len(self.whole.single()) < len(self.whole.steps) and not self._reads_files

    @property
    def is_even(self) -> bool:
        """Whether all operations run for many elements at once."""
        return self.gains and not self.whole.single()

    @property
    def most(self) -> int:
        """Elements that are worth doing at once."""
        return MOST // 4 if self.makes_pictures else MOST

    @property
    def _most_bytes(self) -> int:
        return _SMALL_FILE if self.makes_pictures else _LARGE

    def is_small(self, value: Any) -> bool:
        """Whether it pays to join many such elements."""
        return sum(_num_bytes(one) for one in leaves(value)) <= self._most_bytes

    def run(self, elements: Sequence[Element], positions: Sequence[tuple[int, ...]]) -> list[Any]:
        """Do it."""
        columns = self._columns(elements)
        made = [_rows(column, len(elements)) for column in self.whole.run(columns, positions)]
        return [to_result(filled(self._result, iter(row))) for row in zip(*made, strict=True)]

    def _columns(self, elements: Sequence[Element]) -> list[Column]:
        table = table_of(elements)
        first = list(leaves(elements[0].value))
        columns: list[Column] = [[] for _ in first]
        if table is not None and all(
            self.is_small(first[number]) and not table.has_strings(number) for number in self._used
        ):
            positions = positions_of(elements)
            for number in self._used:
                columns[number] = Whole(table.column(number, positions))
            return columns
        flat = [list(leaves(element.value)) for element in elements]
        for number in self._used:
            taken = [row[number] for row in flat]
            if not all(map(self.is_small, taken)):
                raise ValueError("elements that are better done one by one")
            columns[number] = column_of(taken)
        return columns


def is_small_file(value: Any) -> bool:
    """Whether an element is as small as icons are."""
    return sum(map(_num_bytes, leaves(value))) <= _SMALL_FILE


def _num_bytes(leaf: Any) -> int:
    if not isinstance(leaf, Tensor):
        return 0
    array = leaf.values
    return sum(map(len, array.flat)) if array.dtype == object else array.nbytes


def _rows(column: Column, count: int) -> list[Any]:
    """Values of a column, none of which keeps the others in memory."""
    rows = rows_of(column, count)
    return [Tensor(np.array(row.values)) if type(row) is Tensor and row.values.ndim else row for row in rows]


def chunked(function: Function, node: Node) -> Chunked | None:
    """Plan of a function of the elements of a node; none where it is to run only when its result is wanted."""
    program = function.program()
    if not isinstance(program, Program) or any(call.name.startswith(IN_ORDER) for call in program.calls):
        return None
    return None if _runs_functions(node) else Chunked(program)


def _runs_functions(node: Node) -> bool:
    """Whether asking for more elements than are wanted would run functions of the user."""
    if isinstance(node, FromGenerator):
        return True
    function = getattr(node, "function", None)
    is_recorded = isinstance(function, Function) and isinstance(function.program(), Program)
    return (node.runs_python and not is_recorded) or any(map(_runs_functions, node.inputs))


def in_chunks(
    steps: Iterator[T],
    together: Callable[[list[T]], list[R]] | None,
    single: Callable[[T], R],
    most: int = MOST,
    threads: int = 0,
) -> Iterator[R]:
    """Steps done together, or one by one where one of them has failed, or together something fails."""
    pace = _Pace(most)
    finish, groups = partial(_finished, together, single, pace), pace.groups(steps)
    made = mapped_ahead(finish, groups, threads, 0) if threads else map(finish, groups)
    try:
        for rows in made:
            yield from rows
    finally:
        close(made)


class _Pace:
    """How many steps are done together: ever more of them, while what comes of them takes little memory."""

    def __init__(self, most: int) -> None:
        self._size, self._most, self._credit = 1, most, _CREDIT

    @property
    def tries(self) -> bool:
        """Whether doing them at once has worked often enough."""
        return self._credit > 0

    def groups(self, steps: Iterator[T]) -> Iterator[list[T]]:
        """Steps that are done together."""
        while group := list(islice(steps, self._size)):
            yield group
            self._size = min(2 * self._size, self._most)

    def count(self, *, in_vain: bool) -> None:
        """Note whether they could be done at once; in vain it was if nothing was wrong with any of them."""
        self._credit = self._credit - _CREDIT // 3 if in_vain else min(self._credit + 1, _CREDIT)

    def note(self, step: Any) -> None:
        """Look at something that came of them."""
        if isinstance(step, Element):
            num_bytes = sum(map(_num_bytes, leaves(step.value)))
            self._most = max(min(self._most, _HELD // max(num_bytes, 1)), 1)


def _finished(
    together: Callable[[list[T]], list[R]] | None, single: Callable[[T], R], pace: _Pace, group: list[T]
) -> list[R]:
    made = None
    tries = pace.tries and len(group) > 1 and not any(isinstance(step, Failed) for step in group)
    if together is not None and tries:
        with contextlib.suppress(Exception):  # one by one it tells which one it is, and what
            made = together(group)
            pace.count(in_vain=False)
    if made is None:
        made = list(map(single, group))
        if tries and not any(isinstance(step, Failed) for step in made):
            pace.count(in_vain=True)
    if made:
        pace.note(made[-1])
    return made


def elements_of(values: Sequence[Any], given: Sequence[Element]) -> list[Step]:
    """Elements of values, at the places of those that they were made of."""
    return [Element(value, element.place) for value, element in zip(values, given, strict=True)]
