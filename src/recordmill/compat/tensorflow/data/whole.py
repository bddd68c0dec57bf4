"""A recorded program done to a whole batch: at once where that is the same, else sample by sample."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np

import recordmill as rm
from recordmill.compat.tensorflow.core.dispatch import run
from recordmill.compat.tensorflow.core.sparse import SparseTensor
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.data.bands import Band, Gathered, part_of
from recordmill.compat.tensorflow.data.chains import Chain, Room
from recordmill.compat.tensorflow.data.drawn import DRAWN
from recordmill.compat.tensorflow.data.elements import Element
from recordmill.compat.tensorflow.data.pictures import Picture
from recordmill.compat.tensorflow.data.planning import Step, divided, is_whole, makes_pictures, steps_of
from recordmill.compat.tensorflow.data.recorded import Recorded, picked, recorded_in
from recordmill.compat.tensorflow.data.recording import Call, Program
from recordmill.compat.tensorflow.data.records import Column, is_parse, parse
from recordmill.compat.tensorflow.data.rules import RULES, Whole
from recordmill.compat.tensorflow.data.samples import Samples
from recordmill.compat.tensorflow.data.stacking import alike, join, stacked
from recordmill.compat.tensorflow.data.structures import leaves, mapped
from recordmill.compat.tensorflow.data.tables import positions_of, table_of

# Bytes of a sample from which on joining several costs more than it saves.
_LARGE = 64 << 10
# Memory of batches that is kept until it is used again.
_MOST_BYTES = 256 << 20


class WholeProgram:
    """A program, planned for batches."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._band, self._memory = Band(), rm.Memory(_MOST_BYTES)
        self.steps, self.makes_pictures = steps_of(program), makes_pictures(program)
        self._first, self._rest = divided(self.steps)
        results = {leaf.number for leaf in leaves(program.result) if isinstance(leaf, Recorded)}
        made = {number for step in self._rest for number in step.makes}
        self._needed = sorted({number for step in self._rest for number in step.inputs} - made)
        self._kept = sorted(results & made)

    @property
    def parses(self) -> bool:
        """Whether records are parsed for the whole batch."""
        return any(isinstance(step, Call) and is_parse(step) for step in self.steps)

    @property
    def decodes(self) -> list[str]:
        """How images are decoded for many samples at once; nothing if they are not."""
        return [step.way for step in self.steps if isinstance(step, Picture)]

    def single(self) -> list[str]:
        """Operations that run sample by sample."""
        return [step.name for step in self.steps if isinstance(step, Call) and not is_whole(step)]

    def run(self, columns: Sequence[Column], positions: Sequence[tuple[int, ...]]) -> list[Column]:
        """Do it."""
        known: dict[int, Column] = dict(enumerate(columns))
        self._do(self._first, known, positions, lambda _: self._memory.empty)
        if self._rest:
            self._in_bands(known, positions)
        count = len(positions)
        return [_column(leaf, known, count) for leaf in leaves(self._program.result)]

    def _in_bands(self, known: dict[int, Column], positions: Sequence[tuple[int, ...]]) -> None:
        """The rest of the steps, for a few samples after the other."""
        gathered = {number: Gathered(len(positions), self._memory) for number in self._kept}

        def room_of(number: int) -> Room:
            return gathered[number].room if number in gathered else np.empty

        for start, stop in self._band.bounds(len(positions)):
            part = {number: part_of(known[number], start, stop) for number in self._needed}
            self._do(self._rest, part, positions[start:stop], room_of)
            self._band.note(part.values(), stop - start)
            for number, rows in gathered.items():
                rows.add(part[number], stop - start)
        known.update({number: rows.column() for number, rows in gathered.items()})

    def _do(
        self,
        steps: Sequence[Step],
        known: dict[int, Column],
        positions: Sequence[tuple[int, ...]],
        room_of: Callable[[int], Room],
    ) -> None:
        samples = Samples(positions)
        for are_calls, group in groupby(steps, lambda step: isinstance(step, Call) and not is_parse(step)):
            if are_calls:
                _calls(list(group), known, samples)  # type: ignore[arg-type]
                continue
            for step in group:
                if isinstance(step, Picture | Chain):
                    self._native(step, known, samples, room_of(step.output))
                else:
                    _parse(step, known)

    @staticmethod
    def _native(step: Picture | Chain, known: dict[int, Column], samples: Samples, room: Room) -> None:
        made = step.run(known, room)
        if made is not None:
            known[step.output] = made
            return
        _calls(step.calls, known, samples)

    def form(self, columns: list[Column]) -> Any:
        """Batch of the leaves of the result."""
        made = iter([_batch_of(column) for column in columns])
        order = {id(leaf): next(made) for leaf in leaves(self._program.result)}
        return mapped(lambda leaf: order[id(leaf)], self._program.result)


def _batch_of(column: Column) -> Any:
    if isinstance(column, list) and isinstance(column[0], SparseTensor):
        return stacked(column)
    return Tensor(whole_of(column))


def whole_of(column: Column) -> Any:
    """Array of a column."""
    if isinstance(column, Whole):
        return column.array
    if not all(isinstance(row, Tensor) and row.values.shape == column[0].values.shape for row in column):
        raise ValueError("samples of different shapes")
    return join([row.values for row in column])


def _column(leaf: Any, known: Mapping[int, Column], count: int) -> Column:
    return known[leaf.number] if isinstance(leaf, Recorded) else [leaf] * count


def _parse(call: Call, known: dict[int, Column]) -> None:
    (serialized,) = call.inputs
    known.update(parse(call, whole_of(known[serialized])))


def _calls(calls: Sequence[Call], known: dict[int, Column], samples: Samples) -> None:
    if samples.are_few:
        samples.through(calls, known)
        return
    for way, group in groupby(calls, _way):
        if way is None:
            samples.through(list(group), known)
            continue
        for call in group:
            if not way(call, known, samples):
                samples.through([call], known)


def _way(call: Call) -> Callable[[Call, dict[int, Column], Samples], bool] | None:
    """How a call is done to all samples at once; says whether it could be."""
    if call.name in RULES:
        return _together
    return _by_chance if call.name in DRAWN else None


def _by_chance(call: Call, known: dict[int, Column], samples: Samples) -> bool:
    """Do a call that draws numbers to all samples, each with its own, if they are alike."""
    if not call.args or next(recorded_in((call.args[1:], call.kwargs)), None) is not None:
        return False
    (value, *more), kwargs = call.given({number: _joined(known[number]) for number in call.inputs})
    num_axes, made = DRAWN[call.name]
    if type(value) is not Whole or num_axes not in (None, value.array.ndim - 1):
        return False
    array = made(samples.numbers, value.array, *more, **kwargs)
    known.update({number: Whole(array) for number, _ in call.outputs})
    return True


def _together(call: Call, known: dict[int, Column], samples: Samples) -> bool:
    """Do a call to all samples at once, if they are alike."""
    count = len(samples)
    taken = {number: _joined(known[number]) for number in call.inputs}
    if not all(isinstance(column, Whole) for column in taken.values()):
        return False
    args, kwargs = RULES[call.name](*call.given(taken), count)
    made = run(call.name, *args, **kwargs)
    for number, key in call.outputs:
        array = picked(made, key).values
        if array.shape[:1] != (count,):
            raise ValueError("the result is none for each sample")
        known[number] = Whole(array)
    return True


def _joined(column: Column) -> Column:
    """Samples in one array, where that is done with little."""
    if isinstance(column, Whole) or not alike(column):
        return column
    first = column[0].values
    if len(column) == 1:
        return Whole(first[None])
    return Whole(join([row.values for row in column])) if first.nbytes <= _LARGE else column


def first_columns(elements: Sequence[Element]) -> list[Column]:
    """Leaves of elements, as columns."""
    table = table_of(elements)
    if table is not None:
        positions = positions_of(elements)
        return [Whole(table.column(number, positions)) for number in range(len(table))]
    values = [element.value for element in elements]
    return [column_of(rows) for rows in zip(*map(leaves, values), strict=True)]


def column_of(rows: Sequence[Any]) -> Column:
    """Column of one leaf of elements."""
    return Whole(join([row.values for row in rows])) if alike(rows) else list(rows)
