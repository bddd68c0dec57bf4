"""Build the elements (batches or samples) of an epoch ahead of the consumer, and return them in order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf
from threading import get_ident
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from recordmill.allocator import Memory
from recordmill.concurrency.pool import WorkerPool
from recordmill.pipeline.compiled_pipeline import CompiledPipeline
from recordmill.pipeline.failures import MAX_CONSECUTIVE_FAILURES, OnError, SkippedSample
from recordmill.pipeline.function_lock import FunctionLock
from recordmill.pipeline.samples import (
    Columns,
    Ints,
    Positions,
    SampleRows,
    concatenate_positions,
    count_bytes,
    split_samples,
)
from recordmill.pipeline.stages.base import Context, RunningCall
from recordmill.pipeline.stages.batch import Batch, BatchSampler
from recordmill.pipeline.stages.decode import Decode
from recordmill.pipeline.stages.filter import Filter
from recordmill.pipeline.stages.map import Map
from recordmill.pipeline.stats import Timings
from recordmill.pipeline.watch import wait_for_result

if TYPE_CHECKING:
    from recordmill.pipeline.read_ahead import ReadAhead
    from recordmill.pipeline.stats import StatsCollector

# A job builds one element, or several small elements. These are the limits for their total bytes and their number.
_JOB_BYTES = 8 << 20
_MAX_ELEMENTS_PER_JOB = 64
# Maximum seconds that a job of several elements spends in user functions. The limit is low because error handling and
# `close` wait until running jobs end.
_JOB_SECONDS = 0.25
# Number of initial jobs that measure the size of elements and the time of functions. One job is not enough, because the
# first call of a function may be slow.
_MEASURED_JOBS = 4
_FIRST_SAMPLES = 16  # Samples per job until the size of an element is known.
# Maximum wait, in seconds, for running jobs when a worker pool is closed after an error.
_CLOSE_AFTER_ERROR_S = 0.5

CreatePool = Callable[[Callable[[int], Any]], WorkerPool]


@dataclass(slots=True)
class BatchResult:
    """The elements that one job built, and the times, sizes and skipped samples of the job.

    Parameters
    ----------
    elements : list of (int, object)
        Pairs (position, element), sorted by the position in the epoch of this rank. An element is a batch or a sample,
        or None if all of its samples failed.
    error : Exception, optional
        Error of the element that follows the last one in `elements`.
    num_samples : int
        Number of samples that were requested.
    skipped : list of SkippedSample
    timings : Timings
    num_bytes : int
        Bytes of the features that were read.
    peak_bytes : int
        Largest number of bytes that the samples occupied after any stage.
    """

    elements: list[tuple[int, Any]]
    error: BaseException | None = None
    num_samples: int = 0
    skipped: list[SkippedSample] = field(default_factory=list)
    timings: Timings = field(default_factory=Timings)
    num_bytes: int = 0
    peak_bytes: int = 0


@dataclass(frozen=True)
class BatchBuilder:
    """Builds the elements of one epoch for one rank, in any thread or process.

    Parameters
    ----------
    pipeline : CompiledPipeline
    batch : Batch, optional
        Batch stage; without it, elements are samples.
    maps : tuple of Map
        Map stages on batches.
    sampler : BatchSampler
    epoch : int
    on_error : str
        One of "raise", "skip" or "substitute".
    threads : int
        Number of threads inside one native call.
    first_results : dict
        Names, dtypes and shapes of the first result of each function.
    in_processes : bool
        Whether functions run in worker processes.
    memory : Memory, optional
        Allocator of large arrays.
    pickled_maps : tuple of Map
        Functions whose return values must be picklable because they run in worker processes.
    function_lock : FunctionLock
        Lock of user functions, for the worker threads of this process.
    """

    pipeline: CompiledPipeline
    batch: Batch | None
    maps: tuple[Map, ...]
    sampler: BatchSampler
    epoch: int = 0
    on_error: OnError = "raise"
    threads: int = 1
    first_results: dict[Any, Any] = field(default_factory=dict, compare=False)
    in_processes: bool = False
    memory: Memory | None = field(default=None, compare=False)
    pickled_maps: tuple[Map, ...] = ()
    function_lock: FunctionLock = field(default_factory=FunctionLock, compare=False)
    _contexts: dict[int, Context] = field(default_factory=dict, compare=False)

    @property
    def map_stages(self) -> list[Map]:
        """All map stages: first the stages on samples, then the stages on batches."""
        return [*self.pipeline.map_stages, *self.maps]

    @property
    def timeouts(self) -> list[float]:
        """Timeouts in seconds of the map and filter stages. Stages without a timeout are omitted."""
        filters = [stage for stage in self.pipeline.stages if isinstance(stage, Filter)]
        timeouts = [*(stage.timeout for stage in self.map_stages), *(stage.timeout for stage in filters)]
        return [timeout for timeout in timeouts if timeout is not None]

    def with_pickle_checks(self) -> BatchBuilder:
        """Return a copy of this builder that raises an error with the function name if a result cannot be pickled."""
        maps = [stage for stage in (*self.pipeline.stages, *self.maps) if isinstance(stage, Map)]
        # Worker processes pickle only the results of the last map stage. If only the datasets of a mixture have map
        # stages, each dataset has its own last map stage. Then check the results of all map stages.
        return replace(self, pickled_maps=tuple(maps[-1:] or self.pipeline.map_stages))

    def current_calls(self) -> list[RunningCall]:
        """Return the calls of user functions that the threads of this process are executing."""
        return [call for context in list(self._contexts.values()) if (call := context.current_call) is not None]

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes for pickling, without the values that belong to this process."""
        return self.__dict__ | {"_contexts": {}, "first_results": {}, "memory": None}

    def build(self, numbers: range) -> BatchResult:
        """Build elements in order, up to the first error."""
        if len(numbers) > 1 and not len(self.sampler.positions(numbers[-1])):
            # This rank gets no samples of the last batch. Build this batch separately, without rows and with the
            # features, dtypes and shapes of a sample of another rank.
            return self._build_one_by_one(numbers)
        try:
            return self._build_all_at_once(numbers)
        except Exception as error:  # noqa: BLE001 (the consumer raises it after earlier elements)
            return BatchResult([], error) if len(numbers) == 1 else self._build_one_by_one(numbers)

    def _build_one_by_one(self, numbers: range) -> BatchResult:
        result = BatchResult([])
        for number in numbers:
            single = self.build(range(number, number + 1))
            result.elements += single.elements
            result.skipped += single.skipped
            result.num_samples += single.num_samples
            result.num_bytes += single.num_bytes
            result.peak_bytes += single.peak_bytes
            result.timings.merge(single.timings)
            if single.error is not None:
                result.error = single.error
                break
        return result

    def create_context(self) -> Context:
        """Create the context for one evaluation of the pipeline in this thread."""
        collect_errors = self.on_error != "raise"
        context = Context(
            collect_errors, self.threads, self.memory, self.first_results, self.pickled_maps, self.function_lock
        )
        self._contexts[get_ident()] = context
        return context

    def _build_all_at_once(self, numbers: range) -> BatchResult:
        parts = [self.sampler.positions(number) for number in numbers]
        context = self.create_context()
        positions = concatenate_positions(self.epoch, parts)
        if not len(positions.values):
            rows = self._build_empty_rows(numbers[0], context)
        elif self.on_error == "substitute":
            rows = self.pipeline.evaluate_with_substitutes(positions, context)
        else:
            rows = self.pipeline.evaluate(positions, context)
        return self.collate(rows, parts, numbers, context)

    def _build_empty_rows(self, number: int, context: Context) -> SampleRows:
        """Return columns without rows. Their features, dtypes and shapes are those of a sample of another rank."""
        positions = Positions(self.epoch, np.array([self.sampler.position_after(number)], np.int64))
        evaluate = self.pipeline.evaluate_with_substitutes if context.collect_errors else self.pipeline.evaluate
        rows = evaluate(positions, context)
        context.skipped.clear()  # The rank that owns the sample reports its errors.
        return replace(rows, ordinals=np.empty(0, np.int64))

    def collate(self, rows: SampleRows, parts: Sequence[range | Ints], numbers: range, context: Context) -> BatchResult:
        """Build elements from evaluated samples. `parts[i]` holds the requested positions of element `numbers[i]`."""
        if self.batch is None:
            found = (numbers[0] + numbers.step * rows.ordinals).tolist()
            elements: list[tuple[int, Any]] = list(zip(found, split_samples(rows.columns, len(rows)), strict=True))
        else:
            elements = list(zip(numbers, self._collate_batches(self.batch, rows, parts, context), strict=True))
        num_samples = sum(map(len, parts))
        peak_bytes = max(context.peak_bytes, context.num_bytes)
        return BatchResult(elements, None, num_samples, context.skipped, context.timings, context.num_bytes, peak_bytes)

    def _collate_batches(
        self, stage: Batch, rows: SampleRows, parts: Sequence[range | Ints], context: Context
    ) -> list[Columns | None]:
        """Collate samples into batches and apply the map stages to each. A batch whose samples all failed is None."""
        offsets = np.cumsum([0, *map(len, parts)])
        starts = np.searchsorted(rows.ordinals, offsets).tolist()
        context.begin_stage(stage)  # Time all batches together: reading the clock takes as long as a small batch.
        batches: list[Columns | None] = []
        for part, offset, start, stop in zip(parts, offsets, starts, starts[1:], strict=False):
            if start == stop and len(part):
                self._check_skipped_batch(context, len(part))
                batches.append(None)
            else:
                columns = rows.slice(start, stop)
                locate = partial(self._locate_row, rows, start)
                batches.append(stage.collate(columns, stage.size, rows.ordinals[start:stop] - offset, locate))
        context.end_stage("batch")
        if self.maps:
            for index, batch in enumerate(batches):
                if batch is not None:
                    batches[index] = self._apply_batch_maps(batch, rows, parts[index], starts[index], context)
        return batches

    def _locate_row(self, rows: SampleRows, start: int, row: int) -> dict[str, Any]:
        """Return shard, record and offset of a row of the batch that begins at row `start`."""
        source, record = rows.origins[start + row].tolist()
        shard, inside, offset = self.pipeline.sources[source].where(record)
        return {"shard": shard, "record": inside, "offset": offset}

    def _check_skipped_batch(self, context: Context, count: int) -> None:
        """Raise the last error of a batch whose `count` samples all failed. Do nothing if the batch may be skipped."""
        is_single_rank = self.sampler.world_size == 1
        if self.on_error == "skip" and is_single_rank and count < MAX_CONSECUTIVE_FAILURES:
            return
        error = context.skipped[-1].error
        error.add_note(
            f"all {count} samples of a batch failed" + ("" if is_single_rank else ", and every rank needs a batch")
        )
        raise error

    def _apply_batch_maps(
        self, batch: Columns, rows: SampleRows, part: range | Ints, start: int, context: Context
    ) -> Columns:
        """Apply the map stages to a batch. Errors and random numbers refer to the first sample of the batch."""
        first = Positions(self.epoch, np.array([int(part[0]) if len(part) else 0], np.int64))
        sample = SampleRows({}, np.zeros(1, np.int64), rows.origins[start : start + 1])
        for index, stage in enumerate(self.maps):
            number = len(self.pipeline.stages) + index
            stage_input = self.pipeline.build_stage_input(number, sample, first, first, context)
            context.begin_stage(stage)
            batch = stage.apply_batch(stage_input, batch)
            context.end_stage(stage.name)
        return batch


@dataclass(frozen=True, slots=True)
class PrefetchOptions:
    """Options that limit how far ahead of the consumer elements are built.

    Parameters
    ----------
    workers : int
    prefetch : int
        Maximum number of finished elements that wait for the consumer.
    part : (int, int)
        ``(index, count)``: build only every `count`-th element, starting with `index`.
    combine : bool
        Whether a job may build several small elements.
    """

    workers: int
    prefetch: int
    part: tuple[int, int] = (0, 1)
    combine: bool = True


class JobPlanner:
    """Groups the elements of an epoch into numbered jobs, ahead of the workers.

    Parameters
    ----------
    total : int, optional
        Number of elements of the epoch; None if endless.
    options : PrefetchOptions
    first_count : int
        Number of elements per job until their size is known.
    first_alone : bool
        Whether to plan only the first job until the caller has taken its result.
    """

    def __init__(
        self, total: int | None, options: PrefetchOptions, first_count: int, *, first_alone: bool = False
    ) -> None:
        self._total, self._options, self._first_alone = total, options, first_alone
        self._count = first_count if options.combine else 1
        self._next, self._seconds = options.part[0], inf
        self._jobs: dict[int, range] = {}
        self.num_planned = 0

    def set_element_size(self, num_bytes: int, seconds: float = 0.0) -> None:
        """Set the number of elements per job from the bytes and the function time of an element."""
        self._seconds = min(self._seconds, seconds)
        if self._options.combine:
            is_quick = self._seconds * _MAX_ELEMENTS_PER_JOB <= _JOB_SECONDS
            limit = _MAX_ELEMENTS_PER_JOB if is_quick else int(_JOB_SECONDS / self._seconds)
            self._count = max(1, min(limit, _JOB_BYTES // max(num_bytes, 1)))

    def plan(self, num_taken: int) -> int:
        """Plan more jobs after `num_taken` results were taken; return the total number of planned jobs."""
        ahead = self._options.workers + -(-self._options.prefetch // self._count) + 1
        if self._first_alone and not num_taken:
            ahead = 1
        while self.num_planned - num_taken < ahead and (self._total is None or self._next < self._total):
            step, count = self._options.part[1], self._count
            if self._total is not None:  # Divide the last elements among all workers.
                remaining = len(range(self._next, self._total, step))
                count = min(count, -(-remaining // max(self._options.workers, 1)))
            stop = self._next + count * step
            self._jobs[self.num_planned] = range(self._next, stop, step)
            self._next = stop
            self.num_planned += 1
        return self.num_planned

    def elements(self, job: int) -> range:
        """Return the epoch positions of the elements that a job builds."""
        return self._jobs[job]

    @property
    def last_element(self) -> int:
        """Epoch position of the last element for which a job is planned."""
        return self._next - self._options.part[1]

    def remove_job(self, job: int) -> range:
        """Remove a finished job from the plan; return its elements."""
        return self._jobs.pop(job)


class _ThreadTask:
    """Function called by worker threads with the number of a planned job. It builds the elements of the job."""

    def __init__(self, builder: BatchBuilder, planner: JobPlanner, first_threads: int) -> None:
        self._builder, self._planner = builder, planner
        self._first_builder = replace(builder, threads=first_threads)

    def __call__(self, job: int) -> BatchResult:
        return (self._builder if job else self._first_builder).build(self._planner.elements(job))


class _ProcessTask:
    """Function called by worker processes with a job number. It builds one element, or raises its error."""

    def __init__(self, builder: BatchBuilder, part: tuple[int, int]) -> None:
        self._builder, self._part = builder, part

    def __call__(self, job: int) -> BatchResult:
        return self._build_element(self._builder, job)

    def compute_with_checks(self, job: int) -> BatchResult:
        """Rebuild an element that could not be pickled, to raise an error that names the function."""
        return self._build_element(self._builder.with_pickle_checks(), job)

    def _build_element(self, builder: BatchBuilder, job: int) -> BatchResult:
        index, count = self._part
        number = index + job * count
        result = builder.build(range(number, number + 1))
        if result.error is not None:
            raise result.error
        return result


def run_epoch(
    builder: BatchBuilder,
    options: PrefetchOptions,
    create_pool: CreatePool | None,
    stats: StatsCollector,
    read_ahead: ReadAhead | None = None,
) -> Iterator[BatchResult]:
    """Yield the results of all jobs of an epoch in order. The last result may contain an error."""
    is_measured = stats.element_bytes > 0
    parallel_first = not is_measured and options.workers > builder.threads and _can_decode_together(builder)
    first_samples = max(1, min(_FIRST_SAMPLES, _JOB_BYTES // builder.pipeline.mean_record_bytes))
    first_count = 1 if builder.batch is not None else first_samples
    planner = JobPlanner(builder.sampler.num_batches, options, first_count, first_alone=parallel_first)
    if is_measured:
        planner.set_element_size(stats.element_bytes, stats.element_s)
    task: _ProcessTask | _ThreadTask
    if builder.in_processes:
        task = _ProcessTask(builder, options.part)
    else:
        task = _ThreadTask(builder, planner, options.workers if parallel_first else builder.threads)
    pool = None if create_pool is None else create_pool(task)
    if pool is not None:
        stats.add_pool(pool)
    failed = True
    try:
        num_taken = 0
        while planner.plan(num_taken) > num_taken:
            started = perf_counter()
            if read_ahead is not None:
                read_ahead.prepare((builder.epoch, planner.last_element))
            if pool is None:
                result = task(num_taken)
            else:
                pool.submit(planner.num_planned)
                stats.count_request(pool)
                result = wait_for_result(pool, num_taken, builder)
            stats.waited_s += perf_counter() - started
            elements = planner.remove_job(num_taken)
            if read_ahead is not None:
                read_ahead.release((builder.epoch, elements.stop))
            num_taken += 1
            if num_taken <= _MEASURED_JOBS:
                _measure_elements(result, planner, stats)
            failed = result.error is not None
            yield result
            failed = True
        failed = False
    finally:
        if pool is not None:
            close_pool(pool, stats, failed=failed)


def _can_decode_together(builder: BatchBuilder) -> bool:
    """Return True if all threads can decode one batch together, so that the first batch is ready sooner."""
    has_decode = any(isinstance(stage, Decode) for stage in builder.pipeline.stages)
    return not builder.in_processes and builder.batch is not None and not builder.map_stages and has_decode


def _measure_elements(result: BatchResult, planner: JobPlanner, stats: StatsCollector) -> None:
    """Measure the size and function time of the elements in a result, and adjust the number of elements per job."""
    for _, element in result.elements:
        if element is not None:
            num_elements = len(result.elements)
            timings = result.timings
            map_s = timings.busy.get("map", 0.0) + timings.waited.get("map", 0.0)
            stats.element_bytes = max(1, count_bytes(element), result.peak_bytes // num_elements)
            stats.element_s = map_s / num_elements
            planner.set_element_size(stats.element_bytes, stats.element_s)
            return


def close_pool(pool: WorkerPool, stats: StatsCollector, *, failed: bool) -> None:
    """Close a worker pool and add its counters to `stats`; after an error, wait only briefly for running jobs."""
    stats.remove_pool(pool)
    if failed:
        pool.close(timeout=_CLOSE_AFTER_ERROR_S)
    else:
        pool.close()
