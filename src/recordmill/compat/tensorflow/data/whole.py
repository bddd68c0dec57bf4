"""A recorded program done to a whole batch: at once where that is the same, else sample by sample."""

from __future__ import annotations

import contextvars
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from recordmill.compat.tensorflow.core import draws
from recordmill.compat.tensorflow.core.dispatch import run
from recordmill.compat.tensorflow.core.sparse import SparseTensor
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.data.pictures import Picture, bytes_of, picture_of
from recordmill.compat.tensorflow.data.recorded import Recorded, picked, put
from recordmill.compat.tensorflow.data.recording import Call, Program
from recordmill.compat.tensorflow.data.records import Column, is_parse, parse
from recordmill.compat.tensorflow.data.rules import RULES, Whole, WholeRows
from recordmill.compat.tensorflow.data.stacking import join, stacked
from recordmill.compat.tensorflow.data.structures import leaves, mapped, row_of
from recordmill.types import Ragged


class WholeProgram:
    """A program, planned for batches.

    Parameters
    ----------
    program : Program
    """

    def __init__(self, program: Program) -> None:
        self._program = program
        used = [number for call in program.calls for number in call.inputs()]
        used += [leaf.number for leaf in leaves(program.result) if isinstance(leaf, Recorded)]
        makers = {number: call for call in program.calls for number, key in call.outputs if key is None}
        self.steps: list[Call | Picture] = []
        fused: set[int] = set()
        for call in reversed(program.calls):
            if id(call) in fused:
                continue
            first = makers.get(call.args[0].number) if call.args and isinstance(call.args[0], Recorded) else None
            single = first is not None and used.count(call.args[0].number) == 1
            picture = picture_of(first, call) if first is not None and single else None
            if picture is not None:
                fused.add(id(first))
            self.steps.append(picture or call)
        self.steps.reverse()

    @property
    def parses(self) -> bool:
        """Whether records are parsed for the whole batch."""
        return any(isinstance(step, Call) and is_parse(step) for step in self.steps)

    @property
    def decodes(self) -> bool:
        """Whether images are decoded for the whole batch."""
        return any(isinstance(step, Picture) for step in self.steps)

    def single(self) -> list[str]:
        """Operations that run sample by sample.

        Returns
        -------
        list of str
        """
        calls = [step for step in self.steps if isinstance(step, Call)]
        return [call.name for call in calls if not is_parse(call) and call.name not in RULES]

    def run(self, columns: Sequence[Column], positions: Sequence[tuple[int, ...]]) -> list[Column]:
        """Do it.

        Parameters
        ----------
        columns : sequence of column
            Leaves of the elements.
        positions : sequence of tuple of int
            Of the samples' random numbers.

        Returns
        -------
        list of column
            Leaves of the result.

        Raises
        ------
        Exception
            What a sample, or the whole, raises: done sample by sample, the program tells which.
        """
        known: dict[int, Column] = dict(enumerate(columns))
        with _contexts(positions if self.single() or self.decodes else ()) as contexts:
            for step in self.steps:
                if isinstance(step, Picture):
                    self._picture(step, known, contexts)
                elif is_parse(step):
                    _parse(step, known)
                else:
                    _call(step, known, contexts, len(positions))
        count = len(positions)
        return [_column(leaf, known, count) for leaf in leaves(self._program.result)]

    @staticmethod
    def _picture(step: Picture, known: dict[int, Column], contexts: list[contextvars.Context]) -> None:
        column = known[step.contents.number]
        rows = _files_of(column)
        if step.takes(rows):
            known[step.resize.outputs[0][0]] = Whole(step.run(rows))
            return
        for call in (step.decode, step.resize):
            _each(call, known, contexts)

    def form(self, columns: list[Column]) -> Any:
        """Batch of the leaves of the result.

        Parameters
        ----------
        columns : list of column

        Returns
        -------
        structure of Tensor
        """
        made = iter([_batch_of(column) for column in columns])
        order = {id(leaf): next(made) for leaf in leaves(self._program.result)}
        return mapped(lambda leaf: order[id(leaf)], self._program.result)


def _batch_of(column: Column) -> Any:
    if isinstance(column, list) and isinstance(column[0], SparseTensor):
        return stacked(column)
    return Tensor(whole_of(column))


def whole_of(column: Column) -> Any:
    """Array of a column.

    Parameters
    ----------
    column : column

    Returns
    -------
    ndarray

    Raises
    ------
    ValueError
        Samples that do not make one.
    """
    if isinstance(column, Whole):
        return column.array
    if not all(isinstance(row, Tensor) and row.values.shape == column[0].values.shape for row in column):
        raise ValueError("samples of different shapes")
    return join([row.values for row in column])


def rows_of(column: Column, count: int) -> list[Any]:
    """Values of a column, sample by sample.

    Parameters
    ----------
    column : column
    count : int

    Returns
    -------
    list
    """
    return [row_of(column.array, row) for row in range(count)] if isinstance(column, Whole) else column


def _files_of(column: Column) -> Ragged | list[bytes]:
    rows = column.tensor.rows if isinstance(column, WholeRows) else None
    if rows is not None:
        return rows
    return bytes_of(column.array if isinstance(column, Whole) else join([one.values for one in column]))


def _column(leaf: Any, known: Mapping[int, Column], count: int) -> Column:
    return known[leaf.number] if isinstance(leaf, Recorded) else [leaf] * count


def _parse(call: Call, known: dict[int, Column]) -> None:
    (serialized,) = call.inputs()
    known.update(parse(call, whole_of(known[serialized])))


def _call(call: Call, known: dict[int, Column], contexts: list[contextvars.Context], count: int) -> None:
    rule = RULES.get(call.name)
    taken = [known[number] for number in call.inputs()]
    if rule is None or not all(isinstance(column, Whole) for column in taken):
        _each(call, known, contexts)
        return
    args, kwargs = rule(put(call.args, known), put(call.kwargs, known), count)
    made = run(call.name, *args, **kwargs)
    if made.values.shape[:1] != (count,):
        raise ValueError("the result is none for each sample")
    known[call.outputs[0][0]] = Whole(made.values)


def _each(call: Call, known: dict[int, Column], contexts: list[contextvars.Context]) -> None:
    columns = {number: rows_of(known[number], len(contexts)) for number in call.inputs()}
    made = [context.run(_one, call, columns, row) for row, context in enumerate(contexts)]
    for number, key in call.outputs:
        rows = [picked(one, key) for one in made]
        plain = all(type(row) is Tensor and row.values.shape == rows[0].values.shape for row in rows)
        known[number] = Whole(join([row.values for row in rows])) if plain and _alike(rows) else rows


def _one(call: Call, columns: Mapping[int, list[Any]], row: int) -> Any:
    values = {number: column[row] for number, column in columns.items()}
    return run(call.name, *put(call.args, values), **put(call.kwargs, values))


def _alike(rows: list[Any]) -> bool:
    return all(row.values.dtype == rows[0].values.dtype for row in rows)


@contextmanager
def _contexts(positions: Sequence[tuple[int, ...]]) -> Iterator[list[contextvars.Context]]:
    """A context for each sample, in which its random numbers go on from one operation to the next."""
    contexts = [contextvars.copy_context() for _ in positions]
    with ExitStack() as stack:
        for context, position in zip(contexts, positions, strict=True):
            numbers = draws.element(*position)
            context.run(numbers.__enter__)
            stack.callback(context.run, numbers.__exit__, None, None, None)
        yield contexts


def first_columns(values: Sequence[Any]) -> list[Column]:
    """Leaves of elements, as columns.

    Parameters
    ----------
    values : sequence of structure of Tensor

    Returns
    -------
    list of column
    """
    found: list[Column] = []
    for rows in zip(*map(leaves, values), strict=True):
        plain = all(type(row) is Tensor and row.values.shape == rows[0].values.shape for row in rows)
        found.append(Whole(join([row.values for row in rows])) if plain and _alike(list(rows)) else list(rows))
    return found
