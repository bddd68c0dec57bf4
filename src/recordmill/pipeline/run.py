"""Bytes that elements take, and how many of them are made at a time for whoever goes through them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf
from time import monotonic, perf_counter
from typing import TYPE_CHECKING, Any

from recordmill.concurrency.pool import NotReadyError, WorkerPool
from recordmill.errors import MapError, RecordmillError, WorkerError
from recordmill.pipeline.builder import Made, Maker
from recordmill.pipeline.context import Calling
from recordmill.pipeline.stages.decode import Decode
from recordmill.pipeline.stats import Tally
from recordmill.types import Ragged

if TYPE_CHECKING:
    from recordmill.concurrency.pool import WorkerPool
    from recordmill.pipeline.builder import Maker
    from recordmill.pipeline.dataset import Dataset
    from recordmill.pipeline.program import Program
    from recordmill.pipeline.sources import ExampleSource

# Samples that are made at once: so many at most, of about so many bytes together.
_MOST, _BYTES = 256, 8 << 20


def num_bytes(value: Any) -> int:
    """Bytes of a sample, a batch, or what is in it."""
    if isinstance(value, dict):
        return sum(map(num_bytes, value.values()))
    if isinstance(value, Ragged):
        return num_bytes(value.data) + value.row_splits.nbytes
    if isinstance(value, list):
        return sum(map(num_bytes, value))
    return int(getattr(value, "nbytes", 0)) or (len(value) if isinstance(value, bytes) else 8)


def mean_bytes(program: Program) -> int:
    """Bytes of a record, about; 1 where sources do not know them."""
    return max(getattr(source, "mean_bytes", 1) for source in program.sources)


def in_order(dataset: Dataset) -> Iterator[dict[str, Any]]:
    """Elements of epoch 0 by position; those in front of a faulty one come before the error."""
    start, step, count = 0, 1, len(dataset)
    while start < count:
        chunk = range(start, min(start + step, count))
        elements = _fetched(dataset, chunk)
        if dataset.stage is None and elements:
            step = _next_step(step, elements)
        start = chunk.stop
        # One by one where one of them is faulty: those in front of it come out, then the error.
        yield from elements or (dataset[position] for position in chunk)
        del elements


def _fetched(dataset: Dataset, chunk: range) -> Sequence[dict[str, Any]]:
    try:
        return dataset.fetch(chunk)
    except RecordmillError:
        return []


def _next_step(step: int, elements: Sequence[dict[str, Any]]) -> int:
    """As many as take little memory, and not many more than before, as they may become larger."""
    largest = max(num_bytes(elements[0]), num_bytes(elements[-1]), 1)
    return max(1, min(_MOST, 4 * step, _BYTES // largest))


# A call that takes longer is told of, where nothing limits it; once, as some functions are slow.
_TELL_S = 60.0


def take_watched(pool: WorkerPool, task: int, maker: Maker) -> Any:
    """Wait for the result of a task, but not for a function that hangs."""
    look_s = min([_TELL_S, *maker.limits]) / 2
    begun = monotonic()
    while True:
        try:
            return pool.result(task, timeout=look_s)
        except NotReadyError:
            told = _told(pool, maker, monotonic() - begun >= _TELL_S)
            begun = float("inf") if told else begun
        except WorkerError as error:
            if error.exit_code is None:
                raise
            raise _named(pool, error, maker.program.sources) from error.__cause__


def _told(pool: WorkerPool, maker: Maker, long: bool) -> bool:
    """Whether a warning was given; raises where a call has taken longer than it may."""
    sources = maker.program.sources
    callings = [*maker.calling(), *(one for one in _noted(pool).values() if one.function)]
    for calling in callings:
        if calling.timeout is not None and calling.seconds > calling.timeout:
            raise MapError(
                f"{calling.function} hangs: it has not returned for {calling.seconds:.1f} s",
                kind="function_hangs",
                expected=f"at most {calling.timeout:g} s",
                hint="timeout= sets the limit",
                **calling.parts(sources),
            )
    if not long or not callings:
        return False
    longest = max(callings, key=lambda calling: calling.seconds)
    place = _words(longest, sources)
    warnings.warn(
        f"{longest.function} has not returned for {longest.seconds:.0f} s ({place}); timeout= sets a limit",
        RuntimeWarning,
        stacklevel=2,
    )
    return True


def _words(calling: Calling, sources: Sequence[ExampleSource]) -> str:
    """Where a call is."""
    parts = calling.parts(sources)
    place = [f"{name} {parts[name]}" for name in ("shard", "record", "offset") if parts.get(name) is not None]
    return ", ".join([f"stage {calling.stage}", f"sample {calling.position} of the epoch", *place])


def _noted(pool: WorkerPool) -> dict[int, Calling]:
    """Return the calls that worker processes are in, or were in when they died, by task."""
    found = {task: Calling.from_note(status) for task, status in pool.statuses().items()}
    return {task: calling for task, calling in found.items() if calling is not None}


def _named(pool: WorkerPool, error: WorkerError, sources: Sequence[ExampleSource]) -> WorkerError:
    """The same error with the call, or the stage, that the process was in."""
    calling = None if error.place is None else _noted(pool).get(error.place)
    if calling is None:
        return error
    where = f" in {calling.function}" if calling.function else ", with samples in one stage, of which this is the first"
    return WorkerError(f"{error.message}{where}", **(error.parts() | calling.parts(sources)))


# Small elements are made several at a time, of about this many bytes together and up to this many.
_BUNDLE_BYTES = 8 << 20
_BUNDLE_MOST = 64
# Functions that take longer than this together make no bundle: errors and `close` wait for what is being made.
_BUNDLE_S = 0.25
# Jobs that tell how large elements are and how long functions take; the first call of one may import or compile.
_TELLING = 4
_SAMPLES_AT_FIRST = 16
# An error must reach the caller, whatever other workers are in the middle of.
_HURRY_S = 0.5

CreatePool = Callable[[Callable[[int], Any]], WorkerPool]


@dataclass(frozen=True, slots=True)
class Pace:
    """How far ahead elements are made.

    Parameters
    ----------
    workers : int
    prefetch : int
        Elements that are ready beyond those being made.
    part : (int, int)
        Of every so many elements, which one is wanted: index and count.
    bundles : bool
        Whether several small elements may be made together.
    """

    workers: int
    prefetch: int
    part: tuple[int, int] = (0, 1)
    bundles: bool = True


class Jobs:
    """Which elements each job makes; grows ahead of the workers.

    Parameters
    ----------
    total : int, optional
        Elements of the epoch; endless without.
    pace : Pace
    at_first : int
        Elements of one job until their size is known.
    first_alone : bool
        Whether nothing else is made beside the first job.
    """

    def __init__(self, total: int | None, pace: Pace, at_first: int, *, first_alone: bool = False) -> None:
        self._total, self._pace, self._first_alone = total, pace, first_alone
        self._bundle = at_first if pace.bundles else 1
        self._next, self._seconds = pace.part[0], inf
        self._jobs: dict[int, range] = {}
        self.ordered = 0

    def size_known(self, num_bytes: int, seconds: float = 0.0) -> None:
        """Choose how many elements a job makes from now on."""
        self._seconds = min(self._seconds, seconds)
        if self._pace.bundles:
            quick = _BUNDLE_MOST if self._seconds * _BUNDLE_MOST <= _BUNDLE_S else int(_BUNDLE_S / self._seconds)
            self._bundle = max(1, min(quick, _BUNDLE_BYTES // max(num_bytes, 1)))

    def plan(self, taken: int) -> int:
        """Add jobs until there are enough beyond those that were taken."""
        ahead = self._pace.workers + -(-self._pace.prefetch // self._bundle) + 1
        if self._first_alone and not taken:
            ahead = 1
        while self.ordered - taken < ahead and (self._total is None or self._next < self._total):
            step, count = self._pace.part[1], self._bundle
            if self._total is not None:  # the last ones are shared out among all workers
                left = len(range(self._next, self._total, step))
                count = min(count, -(-left // max(self._pace.workers, 1)))
            behind = self._next + count * step
            self._jobs[self.ordered] = range(self._next, behind, step)
            self._next = behind
            self.ordered += 1
        return self.ordered

    def __getitem__(self, job: int) -> range:
        """Numbers of the elements that a job makes."""
        return self._jobs[job]

    def done(self, job: int) -> None:
        """Forget a job."""
        del self._jobs[job]


class _Work:
    """What the workers call: jobs are looked up where they were planned."""

    def __init__(self, maker: Maker, jobs: Jobs, threads_at_first: int) -> None:
        self._maker, self._jobs = maker, jobs
        self._first = replace(maker, threads=threads_at_first)

    def __call__(self, job: int) -> Made:
        return (self._maker if job else self._first).make(self._jobs[job])


class PlainWork:
    """What worker processes call: a job is one element.

    Parameters
    ----------
    maker : Maker
    part : (int, int)
        Of every so many elements, which one is wanted.
    """

    def __init__(self, maker: Maker, part: tuple[int, int]) -> None:
        self._maker, self._part = maker, part

    def __call__(self, job: int) -> Made:
        """Elements of a job."""
        number = self._number(job)
        return _sound(self._maker.make(range(number, number + 1)))

    def carefully(self, job: int) -> Made:
        """Elements of a job that could not be handed over; an error names the function that is at fault."""
        return _sound(self._maker.carefully(self._number(job)))

    def _number(self, job: int) -> int:
        index, count = self._part
        return index + job * count


def _sound(made: Made) -> Made:
    if made.error is not None:
        raise made.error  # as errors of workers travel: with what is behind them
    return made


def run(maker: Maker, pace: Pace, create_pool: CreatePool | None, tally: Tally, *, processes: bool) -> Iterator[Made]:
    """What makes up an epoch, in order."""
    is_known = tally.element_bytes > 0
    together = not processes and not is_known and pace.workers > maker.threads and _is_native(maker)
    few = max(1, min(_SAMPLES_AT_FIRST, _BUNDLE_BYTES // mean_bytes(maker.program)))
    jobs = Jobs(maker.cuts.count, pace, 1 if maker.batch is not None else few, first_alone=together)
    if is_known:
        jobs.size_known(tally.element_bytes, tally.element_s)
    work = PlainWork(maker, pace.part) if processes else _Work(maker, jobs, pace.workers if together else maker.threads)
    pool = None if create_pool is None else create_pool(work)
    if pool is not None:
        tally.open(pool)
    failed = True
    try:
        taken = 0
        while jobs.plan(taken) > taken:
            begun = perf_counter()
            if pool is None:
                made = work(taken)
            else:
                pool.submit(jobs.ordered)
                tally.ask(pool)
                made = take_watched(pool, taken, maker)
            tally.waited_s += perf_counter() - begun
            jobs.done(taken)
            taken += 1
            first = next((element for _, element in made.elements if element is not None), None)
            if taken <= _TELLING and first is not None:
                tally.element_bytes = max(1, num_bytes(first), made.most_bytes // len(made.elements))
                tally.element_s = made.spent.total("map") / len(made.elements)
                jobs.size_known(tally.element_bytes, tally.element_s)
            failed = made.error is not None
            yield made
            failed = True
        failed = False
    finally:
        if pool is not None:
            close_pool(pool, tally, failed=failed)


def close_pool(pool: WorkerPool, tally: Tally, *, failed: bool) -> None:
    """Close a pool and add its counters; does not wait long if an error is about to be raised."""
    tally.close(pool)
    if failed:
        pool.close(timeout=_HURRY_S)
    else:
        pool.close()


def _is_native(maker: Maker) -> bool:
    """Whether all threads can make one batch together, so that the first one is there sooner."""
    return (
        maker.batch is not None and not maker.functions and any(isinstance(one, Decode) for one in maker.program.stages)
    )
