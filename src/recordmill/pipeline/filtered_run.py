"""Batches of a pipeline with a filter: samples that passed, put together in order, as they come."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np

from recordmill.concurrency.pool import WorkerPool
from recordmill.concurrency.process_pool import ProcessPool
from recordmill.concurrency.shared_memory import TaskBuffer
from recordmill.errors import MapError
from recordmill.pipeline.batch_positions import Cuts
from recordmill.pipeline.builder import Made, Maker
from recordmill.pipeline.context import Context
from recordmill.pipeline.positions import Ints, Places
from recordmill.pipeline.program import Program
from recordmill.pipeline.rows import Rows, joined_rows
from recordmill.pipeline.run import CreatePool, Pace, close_pool, mean_bytes, take_watched
from recordmill.pipeline.stages.batch import Last
from recordmill.pipeline.stages.decode import Decode
from recordmill.pipeline.stages.map import in_processes
from recordmill.pipeline.state import State
from recordmill.pipeline.stats import Tally


@dataclass(frozen=True, eq=False, slots=True)
class Portion:
    """Samples of one element.

    Parameters
    ----------
    rows : Rows
        Ordinals count from 0.
    like : Rows
        One sample of another rank, for the form of a portion without any.
    positions : ndarray of int64
        Of the samples before the filter.
    position : int
        First position before the filter that no rank has taken.
    passed : int
        Samples that passed and were taken, by all ranks together.
    """

    rows: Rows
    like: Rows
    positions: Ints
    position: int
    passed: int


class Gatherer:
    """Cuts samples that passed a filter into portions for one rank.

    Parameters
    ----------
    size : int
        Samples per portion and rank.
    last : {"keep", "drop", "pad"}
    rank, world_size : int
    cut : (int, int or None)
        First sample that is wanted, and the first that is not.
    passed : int
        Samples that are behind already.
    """

    def __init__(
        self, size: int, last: Last, rank: int, world_size: int, cut: tuple[int, int | None], passed: int
    ) -> None:
        self._size, self._last, self._rank, self._world_size = size, last, rank, world_size
        self._start, self._stop = cut
        self._passed = passed
        self._held: list[tuple[Rows, Ints]] = []

    @property
    def is_done(self) -> bool:
        """Whether nothing more is wanted."""
        return self._stop is not None and self._passed + self._count >= self._stop

    @property
    def _count(self) -> int:
        return sum(len(rows) for rows, _ in self._held)

    def add(self, rows: Rows, positions: Ints) -> Iterator[Portion]:
        """Portions that are full."""
        begin = max(0, self._start - self._passed - self._count)
        end = len(rows) if self._stop is None else max(0, min(len(rows), self._stop - self._passed - self._count))
        dropped = min(begin, end)
        if dropped:
            self._passed += dropped
        chosen = np.arange(dropped, end)
        if len(chosen):
            self._held.append((rows if len(chosen) == len(rows) else rows.take(chosen), positions[chosen]))
        together = self._size * self._world_size
        if self._count < together:
            return
        everything, places = self._everything()
        for first in range(0, len(everything) - together + 1, together):
            yield self._portion(everything, places, first, together)
        rest = np.arange(len(everything) - len(everything) % together, len(everything))
        self._held = [(everything.take(rest), places[rest])]

    def finish(self) -> Iterator[Portion]:
        """The last portion, if there is one."""
        count = self._count
        if count and self._last != "drop":
            everything, places = self._everything()
            yield self._portion(everything, places, 0, count)
        self._held = []

    def _everything(self) -> tuple[Rows, Ints]:
        parts = [(Rows(rows.columns, _from(at, rows), rows.origins), places) for at, rows, places in self._numbered()]
        return joined_rows([rows for rows, _ in parts]), np.concatenate([places for _, places in parts])

    def _numbered(self) -> Iterator[tuple[int, Rows, Ints]]:
        at = 0
        for rows, places in self._held:
            yield at, rows, places
            at += len(rows)

    def _portion(self, everything: Rows, places: Ints, first: int, count: int) -> Portion:
        cuts = Cuts(count, self._size, self._last, self._rank, self._world_size)
        cuts.check()
        mine = cuts.positions(0)
        chosen = np.arange(first + mine[0], first + mine[-1] + 1) if len(mine) else np.empty(0, np.int64)
        rows = everything.take(chosen)
        self._passed += count
        own = Rows(rows.columns, np.arange(len(rows)), rows.origins)
        like = everything.take(np.array([first]))
        return Portion(own, like, places[chosen], int(places[first + count - 1]) + 1, self._passed)


def _from(first: int, rows: Rows) -> Ints:
    return np.arange(first, first + len(rows), dtype=np.int64)


# Samples that one job holds against the filter: so many, of so many bytes together, of which decoding makes ten times.
_CHUNK, _CHUNK_BYTES, _DECODED = 64, 8 << 20, 10
# An endless pipeline of which nothing passes in so many turns would never end.
_TURNS = 10

Stand = tuple[int, int]
"""Samples that are behind before the filter, and samples that passed it."""


def _chunk_of(head: Program) -> int:
    times = _DECODED if any(isinstance(stage, Decode) for stage in head.stages) else 1
    return max(1, min(_CHUNK, _CHUNK_BYTES // (mean_bytes(head) * times)))


class _Heads:
    """Holds chunks of samples against the filter."""

    def __init__(self, maker: Maker, start: int) -> None:
        self._maker, self._start = maker, start
        self._head = maker.program.head
        self.size = _chunk_of(self._head)

    @property
    def count(self) -> int | None:
        length = self._head.lengths[-1]
        return None if length is None else -(-max(0, length - self._start) // self.size)

    def __call__(self, chunk: int) -> tuple[Made, Rows | None, Ints | None]:
        try:
            return self.held(chunk)
        except Exception as error:  # noqa: BLE001 (it reaches the caller in its place)
            return Made([], error), None, None

    def held(self, chunk: int) -> tuple[Made, Rows, Ints]:
        first = self._start + chunk * self.size
        length = self._head.lengths[-1]
        stop = first + self.size if length is None else min(first + self.size, length)
        places = Places(self._maker.epoch, range(first, stop))
        context = self._maker.context()
        rows = self._head.evaluate(places, context)
        made = Made([], None, len(places), context.skipped, context.spent, context.num_bytes)
        return made, rows, places.array[rows.ordinals]


class _FarHeads:
    """The same in a worker process; errors are raised, as they travel with what is behind them."""

    def __init__(self, maker: Maker, start: int) -> None:
        # What is behind the filter does not go there.
        self._maker, self._start = replace(maker, program=maker.program.head, maps=()), start

    def __call__(self, chunk: int) -> tuple[Made, Rows, Ints]:
        return _Heads(self._maker, self._start).held(chunk)

    def carefully(self, chunk: int) -> tuple[Made, Rows, Ints]:
        return _Heads(self._maker.careful(), self._start).held(chunk)


class _Tails:
    """Makes elements of portions; shares them with the threads that do so."""

    def __init__(self, maker: Maker) -> None:
        self._maker = maker
        self._waiting: dict[int, Portion] = {}

    def add(self, number: int, portion: Portion) -> None:
        self._waiting[number] = portion

    def __call__(self, number: int) -> Made:
        try:
            return self.made(number, self._waiting.pop(number))
        except Exception as error:  # noqa: BLE001 (it reaches the caller in its place)
            return Made([], error)

    def made(self, number: int, portion: Portion) -> Made:
        maker = self._maker
        context = maker.context()
        places = Places(maker.epoch, portion.positions)
        made = maker.finished(self._worked(portion, places, context), [places], range(number, number + 1), context)
        # Its samples were counted when they were held against the filter.
        return replace(made, num_samples=0)

    def _worked(self, portion: Portion, places: Places, context: Context) -> Rows:
        program = self._maker.program
        if len(portion.rows):
            return program.evaluate_tail(portion.rows, places, context)
        one = Places(self._maker.epoch, np.array([portion.position - 1], np.int64))
        rows = Rows(portion.like.columns, np.zeros(1, np.int64), portion.like.origins)
        return replace(program.evaluate_tail(rows, one, context), ordinals=np.empty(0, np.int64))


class _FarTails:
    """The same in a worker process: portions are inputs of tasks, and errors are raised."""

    def __init__(self, maker: Maker) -> None:
        self._maker = replace(maker, program=maker.program.without_head)

    def __call__(self, number: int) -> Made:
        return _Tails(self._maker).made(number, _read_portion(number))

    def carefully(self, number: int) -> Made:
        return _Tails(self._maker.careful()).made(number, _read_portion(number))


def _read_portion(number: int) -> Portion:
    if TaskBuffer.current is None:
        raise RuntimeError("only worker processes have a task buffer")
    portion: Portion = TaskBuffer.current.read(number)
    return portion


class StreamRun:
    """Elements of one epoch, in order.

    Parameters
    ----------
    maker : Maker
    state : State
        Where the epoch goes on.
    pace : Pace
    create_pool : callable
        Takes whether workers are processes; returns a function that creates a pool, or None for no workers.
    tally : Tally
    """

    def __init__(
        self, maker: Maker, state: State, pace: Pace, create_pool: Callable[[bool], CreatePool | None], tally: Tally
    ) -> None:
        self._maker, self._pace, self._tally = maker, pace, tally
        self._heads, self._tails = _Heads(maker, state.position), _Tails(maker)
        self._stands: dict[int, Stand] = {}
        self._is_whole = not state.position
        self._pools: tuple[WorkerPool, WorkerPool] | None = None
        near = create_pool(False)
        far = create_pool(True) if near is not None and in_processes(maker.functions) else near
        if near is not None and far is not None:
            program = maker.program
            heads = far(_FarHeads(maker, state.position)) if in_processes(program.head.functions) else near(self._heads)
            behind = in_processes([*program.tail_functions, *maker.maps])
            self._pools = heads, far(_FarTails(maker)) if behind else near(self._tails)
        cuts, last = maker.cuts, "drop" if maker.batch is None else maker.batch.last
        wanted = (cuts.start, cuts.length)
        self._gatherer = Gatherer(cuts.size, last, cuts.rank, cuts.world_size, wanted, state.passed)

    def __iter__(self) -> Iterator[tuple[Made, Stand | None]]:
        """Elements, each with where the epoch stands behind it."""
        for pool in self._pools or ():
            self._tally.open(pool)
        failed = True
        try:
            for made, portion in self._elements():
                failed = made.error is not None
                yield made, portion
                failed = True
            failed = False
        finally:
            for pool in self._pools or ():
                close_pool(pool, self._tally, failed=failed)

    def _elements(self) -> Iterator[tuple[Made, Stand | None]]:
        ahead = self._pace.workers + self._pace.prefetch
        ordered = taken = 0
        for portion in self._portions():
            if isinstance(portion, Made):
                yield from self._rest(taken, ordered)
                taken = ordered
                yield portion, None
                continue
            self._order(ordered, portion)
            ordered += 1
            while ordered - taken > ahead:
                yield self._take(taken)
                taken += 1
        yield from self._rest(taken, ordered)

    def _rest(self, taken: int, ordered: int) -> Iterator[tuple[Made, Stand]]:
        for number in range(taken, ordered):
            yield self._take(number)

    def _order(self, number: int, portion: Portion) -> None:
        self._stands[number] = portion.position, portion.passed
        pool = None if self._pools is None else self._pools[1]
        if isinstance(pool, ProcessPool):
            pool.write_input(number, portion)
        else:
            self._tails.add(number, portion)
        if pool is not None:
            pool.submit(number + 1)

    def _take(self, number: int) -> tuple[Made, Stand]:
        begun = perf_counter()
        if self._pools is None:
            made = self._tails(number)
        else:
            self._tally.ask(self._pools[1])
            made = self._taken(self._pools[1], number, lambda error: Made([], error))
        self._tally.waited_s += perf_counter() - begun
        return made, self._stands.pop(number)

    def _taken(self, pool: WorkerPool, task: int, failed: Callable[[Exception], Any]) -> Any:
        """What workers made, or what it failed with: threads and processes hand errors over in different ways."""
        try:
            return take_watched(pool, task, self._maker)
        except Exception as error:  # noqa: BLE001 (it reaches the caller in its place)
            return failed(error)

    def _portions(self) -> Iterator[Portion | Made]:
        """Full portions as they come; in between, what holding samples against the filter cost or failed with."""
        index, count = self._pace.part
        number = 0
        for portion in self._all_portions():
            if isinstance(portion, Made):
                yield portion
                continue
            if number % count == index:
                yield portion
            number += 1

    def _all_portions(self) -> Iterator[Portion | Made]:
        chunk = barren = passed = portions = 0
        while (self._heads.count is None or chunk < self._heads.count) and not self._gatherer.is_done:
            made, rows, positions = self._head(chunk)
            chunk += 1
            barren = 0 if rows is None or len(rows) else barren + self._heads.size
            self._check_passing(barren)
            if made.error is not None or made.skipped:
                yield made
            else:
                self._tally.count(made)
            if rows is not None and positions is not None:
                passed += len(rows)
                for portion in self._gatherer.add(rows, positions):
                    portions += 1
                    yield portion
        for portion in self._gatherer.finish():
            portions += 1
            yield portion
        if self._maker.batch is not None and not portions and self._is_whole:
            self._tell_empty(passed)

    def _tell_empty(self, passed: int) -> None:
        head = self._maker.program.head
        found = f"{head.stages[-1]!r} let {passed:,} of {head.length:,} samples through"
        warnings.warn(f"epoch {self._maker.epoch} has no batch: {found}", RuntimeWarning, stacklevel=2)

    def _check_passing(self, barren: int) -> None:
        """Refuse to look for ever for samples that pass."""
        head = self._maker.program.head
        turn = next((length for length in reversed(head.lengths) if length is not None), 0)
        if self._heads.count is None and barren > _TURNS * turn + _CHUNK:
            raise MapError(
                f"{head.stages[-1]!r} lets nothing through: {barren:,} samples in a row did not pass",
                kind="nothing_passes",
                stage=repr(head.stages[-1]),
                found=f"{_TURNS} turns of {turn:,} samples",
                hint="an endless pipeline would look for samples for ever",
            )

    def _head(self, chunk: int) -> Any:
        begun = perf_counter()
        if self._pools is None:
            return self._heads(chunk)
        ahead = chunk + self._pace.workers + 2
        self._pools[0].submit(ahead if self._heads.count is None else min(ahead, self._heads.count))
        found = self._taken(self._pools[0], chunk, lambda error: (Made([], error), None, None))
        self._tally.waited_s += perf_counter() - begun
        return found
