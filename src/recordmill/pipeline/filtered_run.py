"""Run a pipeline with a filter: filter chunks of samples in order, and build batches from those that pass.

Two steps run ahead of the consumer. The first evaluates consecutive chunks of samples up to the last filter. The
samples that pass are then divided into batches and ranks, and the second step applies the stages after the filter.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from recordmill.concurrency.pool import WorkerPool
from recordmill.concurrency.process_pool import ProcessPool
from recordmill.concurrency.shared_memory import TaskInputBuffer
from recordmill.errors import MapError
from recordmill.pipeline.compiled_pipeline import CompiledPipeline
from recordmill.pipeline.engine import BatchBuilder, BatchResult, CreatePool, PrefetchOptions, close_pool
from recordmill.pipeline.samples import Ints, Positions, SampleRows, concatenate_rows
from recordmill.pipeline.stages.base import Context
from recordmill.pipeline.stages.batch import BatchSampler
from recordmill.pipeline.stages.decode import Decode
from recordmill.pipeline.stages.map import uses_processes
from recordmill.pipeline.state import State
from recordmill.pipeline.stats import StatsCollector
from recordmill.pipeline.watch import wait_for_result

if TYPE_CHECKING:
    from recordmill.pipeline.read_ahead import ReadAhead

# Limits of a chunk of samples: their number, and their approximate bytes. A decoded image takes about _DECODED_RATIO
# times as many bytes as the encoded image.
_CHUNK_SAMPLES, _CHUNK_BYTES, _DECODED_RATIO = 64, 8 << 20, 10
# In an endless pipeline, raise an error if no sample passes the filter in this many repetitions of the dataset.
_MAX_EMPTY_REPETITIONS = 10


@dataclass(frozen=True, eq=False, slots=True)
class FilteredBatch:
    """The samples of one batch of this rank, after the filter.

    Parameters
    ----------
    rows : SampleRows
        Samples; their ordinals are 0 … n - 1.
    template : SampleRows
        One sample of the global batch, from which a batch without samples gets its features, dtypes and shapes.
    positions : ndarray of int64
        Position of each row in the samples before the filter.
    position : int
        Position of the first sample after the global batch, in the samples before the filter.
    passed : int
        Number of samples that passed the filter up to the end of the global batch.
    """

    rows: SampleRows
    template: SampleRows
    positions: Ints
    position: int
    passed: int


class FilteredBatcher:
    """Divides the samples that pass a filter into the batches of one rank.

    Parameters
    ----------
    sampler : BatchSampler
        Defines the batch size, the rank, the treatment of the last samples, and the slice of the samples to use.
    passed : int
        Number of samples that passed the filter and were already consumed.
    """

    def __init__(self, sampler: BatchSampler, passed: int) -> None:
        self._sampler, self._passed = sampler, passed
        self._global_size = sampler.global_size
        self._waiting: list[tuple[SampleRows, Ints]] = []
        self._num_waiting = 0

    @property
    def is_done(self) -> bool:
        """True if enough samples have passed the filter for the `take` stages that follow it."""
        stop = self._sampler.length
        return stop is not None and self._passed + self._num_waiting >= stop

    def add(self, rows: SampleRows, positions: Ints) -> Iterator[FilteredBatch]:
        """Add samples that passed the filter, and yield each batch that is now complete."""
        start, stop = self._sampler.start, self._sampler.length
        first = self._passed + self._num_waiting  # ordinal of the first new sample among all samples that passed
        end = len(rows) if stop is None else max(0, min(len(rows), stop - first))
        num_dropped = min(max(0, start - first), end)
        self._passed += num_dropped
        chosen = np.arange(num_dropped, end)
        if len(chosen):
            self._waiting.append((rows if len(chosen) == len(rows) else rows.take(chosen), positions[chosen]))
            self._num_waiting += len(chosen)
        if self._num_waiting < self._global_size:
            return
        rows, positions = self._concatenate_waiting_samples()
        for begin in range(0, len(rows) - self._global_size + 1, self._global_size):
            yield self._build_rank_batch(rows, positions, begin, self._global_size)
        rest = np.arange(len(rows) - len(rows) % self._global_size, len(rows))
        self._waiting, self._num_waiting = [(rows.take(rest), positions[rest])], len(rest)

    def finish(self) -> Iterator[FilteredBatch]:
        """Yield the remaining samples as the last batch, unless `last` is "drop"."""
        if self._num_waiting and self._sampler.last != "drop":
            rows, positions = self._concatenate_waiting_samples()
            yield self._build_rank_batch(rows, positions, 0, self._num_waiting)
        self._waiting, self._num_waiting = [], 0

    def _concatenate_waiting_samples(self) -> tuple[SampleRows, Ints]:
        parts, first = [], 0
        for rows, _ in self._waiting:
            parts.append(replace(rows, ordinals=np.arange(first, first + len(rows), dtype=np.int64)))
            first += len(rows)
        return concatenate_rows(parts), np.concatenate([positions for _, positions in self._waiting])

    def _build_rank_batch(self, rows: SampleRows, positions: Ints, begin: int, count: int) -> FilteredBatch:
        """Build the batch of this rank from the global batch, which consists of `count` rows, starting at `begin`."""
        sampler = replace(self._sampler, length=count, start=0)
        sampler.check_has_batches()
        own = sampler.positions(0)
        chosen = np.arange(begin + own[0], begin + own[-1] + 1) if len(own) else np.empty(0, np.int64)
        batch = rows.take(chosen)
        self._passed += count
        self._num_waiting -= count
        return FilteredBatch(
            replace(batch, ordinals=np.arange(len(batch))),
            rows.take(np.array([begin])),
            positions[chosen],
            int(positions[begin + count - 1]) + 1,
            self._passed,
        )


class _FilteredChunk(NamedTuple):
    """Result of filtering one chunk: the samples that passed, and their positions. After an error, both are None."""

    result: BatchResult
    rows: SampleRows | None
    positions: Ints | None


class _FilterTask:
    """Function called by worker threads with a chunk number. It evaluates the chunk up to the last filter."""

    def __init__(self, builder: BatchBuilder, start: int) -> None:
        self._builder, self._start = builder, start
        self._head = builder.pipeline.until_last_filter
        self.chunk_size = _choose_chunk_size(self._head)

    @property
    def num_chunks(self) -> int | None:
        length = self._head.length
        return None if length is None else -(-max(0, length - self._start) // self.chunk_size)

    def __call__(self, chunk: int) -> _FilteredChunk:
        try:
            return self.evaluate(chunk)
        except Exception as error:  # noqa: BLE001 (the consumer raises it after earlier batches)
            return _FilteredChunk(BatchResult([], error), None, None)

    def create_read_ahead(self) -> ReadAhead | None:
        """Return an object that requests the records of coming chunks; None without remote sources."""
        if not self._head.is_remote:
            return None
        from recordmill.pipeline.read_ahead import ReadAhead, iterate_chunks

        epoch = self._builder.epoch
        return ReadAhead(iterate_chunks(self._head, epoch, self._start, self.chunk_size), (epoch, 0))

    def evaluate(self, chunk: int) -> _FilteredChunk:
        first = self._start + chunk * self.chunk_size
        length = self._head.length
        stop = first + self.chunk_size if length is None else min(first + self.chunk_size, length)
        positions = Positions(self._builder.epoch, range(first, stop))
        context = self._builder.create_context()
        rows = self._head.evaluate(positions, context)
        result = BatchResult([], None, len(positions), context.skipped, context.timings, context.num_bytes)
        return _FilteredChunk(result, rows, positions.array[rows.ordinals])


class _ProcessFilterTask:
    """Function called by worker processes with a chunk number. It filters the chunk, or raises its error."""

    def __init__(self, builder: BatchBuilder, start: int) -> None:
        # The builder is sent to worker processes. Remove the functions after the last filter from the builder, because
        # these functions may not be picklable.
        self._builder, self._start = replace(builder, pipeline=builder.pipeline.until_last_filter, maps=()), start

    def __call__(self, chunk: int) -> _FilteredChunk:
        return _FilterTask(self._builder, self._start).evaluate(chunk)

    def compute_with_checks(self, chunk: int) -> _FilteredChunk:
        """Re-evaluate a chunk that could not be pickled, to raise an error that names the function."""
        return _FilterTask(self._builder.with_pickle_checks(), self._start).evaluate(chunk)


def _choose_chunk_size(head: CompiledPipeline) -> int:
    ratio = _DECODED_RATIO if any(isinstance(stage, Decode) for stage in head.stages) else 1
    return max(1, min(_CHUNK_SAMPLES, _CHUNK_BYTES // (head.mean_record_bytes * ratio)))


class _BatchTask:
    """Function called by worker threads with an element number. It builds the element from filtered samples."""

    def __init__(self, builder: BatchBuilder) -> None:
        self._builder = builder
        self._inputs: dict[int, FilteredBatch] = {}

    def store_input(self, number: int, batch: FilteredBatch) -> None:
        """Store the samples of element `number`. Must be called before the task of the element is submitted."""
        self._inputs[number] = batch

    def __call__(self, number: int) -> BatchResult:
        try:
            return self.build(number, self._inputs.pop(number))
        except Exception as error:  # noqa: BLE001 (the consumer raises it after earlier batches)
            return BatchResult([], error)

    def build(self, number: int, batch: FilteredBatch) -> BatchResult:
        context = self._builder.create_context()
        rows = self._apply_stages_after_filter(batch, context)
        result = self._builder.collate(rows, [batch.positions], range(number, number + 1), context)
        result.num_samples = 0  # `_FilterTask` has counted the samples already.
        return result

    def _apply_stages_after_filter(self, batch: FilteredBatch, context: Context) -> SampleRows:
        pipeline, epoch = self._builder.pipeline, self._builder.epoch
        if len(batch.rows):
            return pipeline.evaluate_after_filter(batch.rows, Positions(epoch, batch.positions), context)
        position = Positions(epoch, np.array([batch.position - 1], np.int64))
        template = replace(batch.template, ordinals=np.zeros(1, np.int64))
        rows = pipeline.evaluate_after_filter(template, position, context)
        return replace(rows, ordinals=np.empty(0, np.int64))


class _ProcessBatchTask:
    """Function called by worker processes with an element number. It reads the samples from the task buffer."""

    def __init__(self, builder: BatchBuilder) -> None:
        self._builder = replace(builder, pipeline=builder.pipeline.without_functions_until_filter)

    def __call__(self, number: int) -> BatchResult:
        return _BatchTask(self._builder).build(number, _read_task_input(number))

    def compute_with_checks(self, number: int) -> BatchResult:
        """Rebuild an element that could not be pickled, to raise an error that names the function."""
        return _BatchTask(self._builder.with_pickle_checks()).build(number, _read_task_input(number))


def _read_task_input(number: int) -> FilteredBatch:
    if TaskInputBuffer.current is None:
        raise RuntimeError("only worker processes have a task buffer")
    batch: FilteredBatch = TaskInputBuffer.current.read(number)
    return batch


class FilteredRun:
    """Iterates over the results of one epoch of a pipeline with a filter, and the loader state after each result.

    Parameters
    ----------
    builder : BatchBuilder
    state : State
        Position at which the iteration starts.
    options : PrefetchOptions
    create_pool : callable
        Takes a bool, which is True for worker processes. Returns a function that creates a pool, or None if there are
        no workers.
    stats : StatsCollector
    """

    def __init__(
        self,
        builder: BatchBuilder,
        state: State,
        options: PrefetchOptions,
        create_pool: Callable[[bool], CreatePool | None],
        stats: StatsCollector,
    ) -> None:
        self._builder, self._options, self._stats = builder, options, stats
        self._filter_task, self._batch_task = _FilterTask(builder, state.position), _BatchTask(builder)
        self._states: dict[int, State] = {}
        self._is_full_epoch = not state.position
        self._batcher = FilteredBatcher(builder.sampler, state.passed)
        self._pools: tuple[WorkerPool, WorkerPool] | None = None
        with_threads = create_pool(False)
        head_in_processes = with_threads is not None and uses_processes(builder.pipeline.until_last_filter.map_stages)
        self._read_ahead = None if head_in_processes else self._filter_task.create_read_ahead()
        if with_threads is not None:
            with_processes = create_pool(True) if uses_processes(builder.map_stages) else None
            tail_in_processes = uses_processes([*builder.pipeline.map_stages_after_filter, *builder.maps])
            filter_pool = (
                with_processes(_ProcessFilterTask(builder, state.position))
                if with_processes is not None and head_in_processes
                else with_threads(self._filter_task)
            )
            batch_pool = (
                with_processes(_ProcessBatchTask(builder))
                if with_processes is not None and tail_in_processes
                else with_threads(self._batch_task)
            )
            self._pools = filter_pool, batch_pool

    def __iter__(self) -> Iterator[tuple[BatchResult, State | None]]:
        """Yield (result, state); the state is None if the result only reports errors or skipped samples."""
        for pool in self._pools or ():
            self._stats.add_pool(pool)
        failed = True
        try:
            for result, state in self._build_elements():
                failed = result.error is not None
                yield result, state
                failed = True
            failed = False
        finally:
            if self._read_ahead is not None:
                self._read_ahead.close()
            for pool in self._pools or ():
                close_pool(pool, self._stats, failed=failed)

    def _build_elements(self) -> Iterator[tuple[BatchResult, State | None]]:
        ahead = self._options.workers + self._options.prefetch
        num_submitted = num_taken = 0
        for batch in self._iterate_own_batches():
            if isinstance(batch, BatchResult):
                for number in range(num_taken, num_submitted):
                    yield self._take_result(number)
                num_taken = num_submitted
                yield batch, None
                continue
            self._submit(num_submitted, batch)
            num_submitted += 1
            while num_submitted - num_taken > ahead:
                yield self._take_result(num_taken)
                num_taken += 1
        for number in range(num_taken, num_submitted):
            yield self._take_result(number)

    def _submit(self, number: int, batch: FilteredBatch) -> None:
        self._states[number] = State(self._builder.epoch, batch.position, batch.passed)
        pool = None if self._pools is None else self._pools[1]
        if isinstance(pool, ProcessPool):
            pool.write_input(number, batch)
        else:
            self._batch_task.store_input(number, batch)
        if pool is not None:
            pool.submit(number + 1)

    def _take_result(self, number: int) -> tuple[BatchResult, State]:
        started = perf_counter()
        if self._pools is None:
            result = self._batch_task(number)
        else:
            self._stats.count_request(self._pools[1])
            try:
                result = wait_for_result(self._pools[1], number, self._builder)
            except Exception as error:  # noqa: BLE001 (the consumer raises it after earlier batches)
                result = BatchResult([], error)
        self._stats.waited_s += perf_counter() - started
        return result, self._states.pop(number)

    def _iterate_own_batches(self) -> Iterator[FilteredBatch | BatchResult]:
        """Yield the batches that this loader delivers, and the result of each chunk in which samples failed."""
        index, count = self._options.part
        number = 0
        for batch in self._iterate_rank_batches():
            if isinstance(batch, BatchResult):
                yield batch
                continue
            if number % count == index:
                yield batch
            number += 1

    def _iterate_rank_batches(self) -> Iterator[FilteredBatch | BatchResult]:
        chunk = num_rejected = num_passed = num_batches = 0
        num_chunks = self._filter_task.num_chunks
        while (num_chunks is None or chunk < num_chunks) and not self._batcher.is_done:
            result, rows, positions = self._take_chunk(chunk)
            chunk += 1
            num_rejected = 0 if rows is None or len(rows) else num_rejected + self._filter_task.chunk_size
            self._check_any_passes(num_rejected)
            if result.error is not None or result.skipped:
                yield result
            else:
                self._stats.add(result)
            if rows is not None and positions is not None:
                num_passed += len(rows)
                for batch in self._batcher.add(rows, positions):
                    num_batches += 1
                    yield batch
        for batch in self._batcher.finish():
            num_batches += 1
            yield batch
        if self._builder.batch is not None and not num_batches and self._is_full_epoch:
            self._warn_epoch_has_no_batch(num_passed)

    def _take_chunk(self, chunk: int) -> _FilteredChunk:
        started = perf_counter()
        stop, num_chunks = chunk + self._options.workers + 2, self._filter_task.num_chunks
        stop = stop if num_chunks is None else min(stop, num_chunks)
        try:
            if self._read_ahead is not None:
                self._read_ahead.prepare((self._builder.epoch, stop - 1))
            if self._pools is None:
                return self._filter_task(chunk)
            self._pools[0].submit(stop)
            found: _FilteredChunk = wait_for_result(self._pools[0], chunk, self._builder)
        except Exception as error:  # noqa: BLE001 (the consumer raises it after earlier batches)
            found = _FilteredChunk(BatchResult([], error), None, None)
        finally:
            if self._read_ahead is not None:
                self._read_ahead.release((self._builder.epoch, chunk + 1))
        self._stats.waited_s += perf_counter() - started
        return found

    def _check_any_passes(self, num_rejected: int) -> None:
        """Raise MapError if no sample passes in many repetitions of a pipeline, to avoid an endless search."""
        head = self._builder.pipeline.until_last_filter
        repetition = next((length for length in reversed(head.lengths) if length is not None), 0)
        is_endless = self._filter_task.num_chunks is None
        if is_endless and num_rejected > _MAX_EMPTY_REPETITIONS * repetition + _CHUNK_SAMPLES:
            raise MapError(
                f"no sample passes {head.stages[-1]!r}: it rejected {num_rejected:,} consecutive samples",
                kind="nothing_passes",
                stage=repr(head.stages[-1]),
                found=f"{_MAX_EMPTY_REPETITIONS} repetitions of {repetition:,} samples",
                hint="check the function; an endless pipeline would search forever",
            )

    def _warn_epoch_has_no_batch(self, num_passed: int) -> None:
        head = self._builder.pipeline.until_last_filter
        found = f"{head.stages[-1]!r} passed {num_passed:,} of {head.length:,} samples"
        warnings.warn(f"epoch {self._builder.epoch} has no batch: {found}", RuntimeWarning, stacklevel=2)
