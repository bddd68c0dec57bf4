"""The loader: iterates over the epochs of a dataset with workers, and saves and restores its position."""

from __future__ import annotations

import atexit
import contextlib
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from inspect import GEN_RUNNING, getgeneratorstate
from textwrap import indent
from time import perf_counter
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from weakref import WeakSet

from recordmill.allocator import Memory
from recordmill.concurrency.thread_pool import ThreadPool
from recordmill.pipeline.checks import check_epoch, check_integer, is_integer, set_fields
from recordmill.pipeline.description import count_elements
from recordmill.pipeline.engine import BatchBuilder, BatchResult, CreatePool, PrefetchOptions, run_epoch
from recordmill.pipeline.failures import EmptyBatchLimit, FailureReport, OnError
from recordmill.pipeline.state import State, check_state, parse_state
from recordmill.pipeline.stats import LoaderStats, StatsCollector
from recordmill.types import Traffic

if TYPE_CHECKING:
    from recordmill.pipeline.dataset import Dataset
    from recordmill.pipeline.read_ahead import ReadAhead

# Maximum bytes of memory that the loader keeps for reuse after batches were released, also across epochs. Six batches
# of 128 images (224 x 224 pixels, float32) fit: two that worker threads are building, two that are prefetched, and two
# that the consumer holds.
_CACHED_BYTES = 480 << 20

# Iterations that have not ended. They are closed at exit, before the interpreter removes the modules that they use.
_RUNNING: WeakSet[Generator[Any]] = WeakSet()


@atexit.register
def _close_running_iterations() -> None:
    for iteration in list(_RUNNING):
        with contextlib.suppress(ValueError):  # Another thread is running the iteration.
            iteration.close()


@dataclass(frozen=True, slots=True)
class LoaderOptions:
    """Arguments of `Dataset.loader`."""

    threads: int = 2
    prefetch: int = 2
    rank: int = 0
    world_size: int = 1
    on_error: OnError = "raise"
    max_errors: int | float | None = None
    workers: tuple[int, int] = (0, 1)

    def __post_init__(self) -> None:
        """Raise TypeError or ValueError if an argument is invalid."""
        if not is_integer(self.threads) or not is_integer(self.prefetch):
            raise ValueError(
                f"threads and prefetch must be integers of at least 0, got {self.threads!r} and {self.prefetch!r}"
            )
        if self.on_error not in ("raise", "skip", "substitute"):
            raise ValueError(f'on_error must be "raise", "skip" or "substitute", got {self.on_error!r}')
        workers: Any = self.workers
        is_pair = isinstance(workers, tuple | list) and len(workers) == 2 and all(map(is_integer, workers))
        if not is_pair or not workers[0] < workers[1]:
            raise ValueError(f"workers must be (index, count) with an index from 0 to count - 1, got {workers!r}")
        set_fields(self, workers=(int(workers[0]), int(workers[1])))


class Loader:
    """Iterates over the elements of a dataset in order, one epoch per iteration. Create it with `Dataset.loader`.

    The first iteration yields epoch 0, or the epoch that was set. Each later iteration yields the next epoch, or the
    same epoch again if the previous iteration delivered no element. Every iteration has its own workers, which stop
    when it ends, fails or is closed. Several iterations can run at once; `state_dict` then returns the state of the one
    that started last. An error is raised at the position of the element that failed.

    Parameters
    ----------
    dataset : Dataset
    options : LoaderOptions
    """

    def __init__(self, dataset: Dataset, options: LoaderOptions) -> None:
        self._dataset, self._options = dataset, options
        self._report = FailureReport(options.max_errors)
        self._stats = StatsCollector(in_processes=dataset.runs_in_processes and options.threads > 0)
        self._memory = Memory(_CACHED_BYTES)
        self._state, self._has_started, self._epoch = State(), False, 0
        self._iterations: WeakSet[Generator[Any]] = WeakSet()
        self._current: object = None  # Identifies the iteration that updates the state.
        self._is_closed = False
        self._read_ahead: ReadAhead | None = None
        self._first_traffic = self._measure_traffic()
        if dataset.pipeline.has_filter and options.on_error == "substitute":
            raise ValueError(
                'on_error="substitute" cannot be combined with filter, which makes the number of samples unknown; '
                'use "skip"'
            )
        sampler, pipeline = self._create_builder(State()).sampler, dataset.pipeline
        if pipeline.has_filter:
            sampler.check_filtered_epoch(pipeline.until_last_filter.length)
        else:
            sampler.check_has_batches()

    @property
    def epoch(self) -> int:
        """Epoch of the current iteration; between iterations, the epoch of the next one."""
        return self._epoch

    @property
    def rank(self) -> int:
        """Rank of this process."""
        return self._options.rank

    @property
    def world_size(self) -> int:
        """Number of processes (ranks) among which the samples are divided."""
        return self._options.world_size

    @property
    def report(self) -> FailureReport:
        """Samples that failed and were skipped or substituted, in all epochs."""
        return self._report

    def __len__(self) -> int:
        """Return the number of elements per epoch that this loader yields, for its rank and worker."""
        count = None if self._dataset.pipeline.has_filter else self._create_builder(State()).sampler.num_batches
        index, step = self._options.workers
        return len(range(index, len(self._dataset) if count is None else count, step))

    def _create_builder(self, state: State) -> BatchBuilder:
        dataset, options = self._dataset, self._options
        sampler = dataset.create_sampler(options.rank, options.world_size)
        if not dataset.pipeline.has_filter:
            sampler = replace(sampler, start=max(sampler.start, state.position))
        return BatchBuilder(
            dataset.pipeline,
            dataset.batch_stage,
            dataset.batch_maps,
            sampler,
            state.epoch,
            options.on_error,
            in_processes=self._stats.in_processes,
            memory=self._memory,
        )

    def __iter__(self) -> Iterator[Any]:
        """Return an iterator over the next epoch, or over the rest of the epoch whose state was loaded."""
        self._raise_if_closed()
        if self._has_started:
            self._set_state(State(self._state.epoch + 1))
        self._current = object()
        iteration = self._iterate(self._state, self._current)
        self._iterations.add(iteration)
        _RUNNING.add(iteration)
        return iteration

    def _raise_if_closed(self) -> None:
        if self._is_closed:
            raise ValueError("the loader is closed")

    def __reduce__(self) -> Any:
        """Raise TypeError, because a loader cannot be pickled: its workers belong to this process."""
        raise TypeError("a loader cannot be pickled or copied; pickle its dataset and its state_dict() instead")

    def _set_state(self, state: State) -> None:
        """Set the state from which the next iteration starts. Running iterations stop updating the state."""
        self._state, self._has_started, self._epoch = state, False, state.epoch
        self._current = None

    def _iterate(self, state: State, identity: object) -> Generator[Any]:
        builder = self._create_builder(state)
        run = self._iterate_filtered if builder.pipeline.has_filter else self._iterate_unfiltered
        started = perf_counter()
        with closing(run(builder, state)) as elements:
            for element, state_after in elements:
                if self._is_closed:
                    self._raise_if_closed()
                if self._current is identity:
                    self._state, self._has_started = state_after, True
                self._stats.elements += 1
                self._stats.elapsed_s += perf_counter() - started
                started = perf_counter()
                yield element
        if self._current is identity:
            self._set_state(State(state.epoch + 1))

    def _iterate_unfiltered(self, builder: BatchBuilder, state: State) -> Generator[tuple[Any, State]]:
        limit = self._create_empty_batch_limit(builder, state)
        options = self._create_prefetch_options(builder.in_processes)
        create_pool = self._create_pool_factory(builder.in_processes)
        read_ahead = self._take_read_ahead(builder, state)
        next_epoch = None
        try:
            for result in run_epoch(builder, options, create_pool, self._stats, read_ahead):
                self._add_to_stats_and_report(result)
                for number, element in result.elements:
                    if element is None:
                        limit.add_failed_batch(result.skipped)
                        continue
                    limit.num_failed, limit.is_empty = 0, False
                    position = builder.sampler.position_after(number + 1)
                    yield element, State(state.epoch, position, position)
                if result.error is not None:
                    raise result.error
            next_epoch = state.epoch + 1
        finally:
            self._keep_read_ahead(read_ahead, next_epoch)
        limit.finish()

    def _take_read_ahead(self, builder: BatchBuilder, state: State) -> ReadAhead | None:
        """Return the `ReadAhead` that the previous epoch started, or a new one; None without remote sources."""
        if builder.in_processes or not builder.pipeline.is_remote:
            return None
        from recordmill.pipeline.read_ahead import ReadAhead, iterate_batches

        part, start = self._options.workers, (builder.epoch, self._options.workers[0])
        read_ahead, self._read_ahead = self._read_ahead, None
        if read_ahead is not None:
            if read_ahead.position == start and not state.position:
                return read_ahead
            read_ahead.close()

        def create_builder(epoch: int) -> BatchBuilder:
            return builder if epoch == builder.epoch else self._create_builder(State(epoch))

        return ReadAhead(iterate_batches(create_builder, part, start), start)

    def _keep_read_ahead(self, read_ahead: ReadAhead | None, next_epoch: int | None) -> None:
        """Keep the records that were requested for the next epoch; drop them if this epoch was not finished."""
        if read_ahead is None:
            return
        if next_epoch is None or self._is_closed or self._read_ahead is not None:
            read_ahead.close()
        else:
            read_ahead.release((next_epoch, self._options.workers[0]))
            self._read_ahead = read_ahead

    def _iterate_filtered(self, builder: BatchBuilder, state: State) -> Generator[tuple[Any, State]]:
        from recordmill.pipeline.filtered_run import FilteredRun

        limit = self._create_empty_batch_limit(builder, state)
        run = FilteredRun(builder, state, self._create_prefetch_options(False), self._create_pool_factory, self._stats)
        for result, state_after in run:
            self._add_to_stats_and_report(result)
            if result.error is not None:
                raise result.error
            if state_after is None:
                continue
            for _, element in result.elements:
                if element is None:
                    limit.add_failed_batch(result.skipped)
                    continue
                limit.num_failed, limit.is_empty = 0, False
                yield element, state_after
        limit.finish()

    def _create_empty_batch_limit(self, builder: BatchBuilder, state: State) -> EmptyBatchLimit:
        is_full_epoch = self._options.workers[1] == 1 and not state.position
        return EmptyBatchLimit(builder.batch.size if builder.batch else 1, is_full_epoch=is_full_epoch)

    def _add_to_stats_and_report(self, result: BatchResult) -> None:
        self._stats.add(result)
        self._report.num_samples += result.num_samples
        if result.skipped:
            self._report.add_skipped(result.skipped)

    def _create_prefetch_options(self, in_processes: bool) -> PrefetchOptions:
        options = self._options
        return PrefetchOptions(options.threads, options.prefetch, options.workers, not in_processes)

    def _create_pool_factory(self, in_processes: bool) -> CreatePool | None:
        num_workers = self._options.threads
        if not num_workers:
            return None
        if in_processes:
            from recordmill.concurrency.process_pool import ProcessPool

            return lambda function: ProcessPool(function, num_workers)
        return lambda function: ThreadPool(function, num_workers)

    def set_epoch(self, epoch: int) -> None:
        """Choose the epoch of the next iteration.

        If a state inside this epoch was loaded, the iteration still starts at the position of the state.

        Parameters
        ----------
        epoch : int
        """
        chosen = State(check_epoch(epoch))
        if self._has_started or chosen.epoch != self._state.epoch:
            self._set_state(chosen)

    def state_dict(self) -> dict[str, Any]:
        """Return the position after the last delivered element, for a checkpoint.

        Returns
        -------
        dict
            A small dict of numbers and text. It is the same for every rank, and can be loaded with any number of
            threads, ranks and workers.
        """
        return self._state.to_dict(self._dataset.fingerprint())

    def state_after(self, epoch: int, num_batches: int) -> dict[str, Any]:
        """Return the state after a number of batches of an epoch, without reading them.

        Parameters
        ----------
        epoch : int
            Number of the epoch, from 0.
        num_batches : int
            Number of batches that each rank has received; number of samples if the dataset is not batched.

        Returns
        -------
        dict
            The state that `state_dict` returns at this position.

        Raises
        ------
        TypeError
            If the dataset has a `filter` stage: which samples pass is unknown before they are read.
        """
        if self._dataset.pipeline.has_filter:
            raise TypeError("state_after() is not supported with filter; save state_dict() instead")
        count = check_integer(num_batches, "num_batches must be an integer of at least 0")
        position = self._create_builder(State()).sampler.position_after(count) if count else 0
        return State(check_epoch(epoch), position, position).to_dict(self._dataset.fingerprint())

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Resume from the state of another loader of the same data and order.

        Parameters
        ----------
        state_dict : mapping
            The result of `state_dict`.

        Raises
        ------
        StateError
            If the state was changed after it was saved, belongs to another pipeline, is beyond the end of its epoch, or
            is not a state.
        """
        state = parse_state(state_dict, self._dataset.fingerprint())
        pipeline, stop = self._dataset.pipeline, self._create_builder(State()).sampler.length
        check_state(state, pipeline.until_last_filter.length if pipeline.has_filter else stop, stop)
        self._set_state(state)

    def stats(self) -> LoaderStats:
        """Return statistics of all epochs so far: throughput, wait times and the bottleneck.

        Returns
        -------
        LoaderStats
        """
        traffic = self._measure_traffic()
        return replace(
            self._stats.stats(),
            traffic=None if traffic is None else traffic - (self._first_traffic or Traffic()),
            shuffle_quality=self._dataset.pipeline.shuffle_quality,
        )

    def _measure_traffic(self) -> Traffic | None:
        """Return the traffic of all remote sources; None if there are none."""
        sources = [source for source in self._dataset.pipeline.sources if getattr(source, "is_remote", False)]
        storages: dict[int, Any] = {id(source.storage): source.storage for source in sources}  # type: ignore[attr-defined]
        return sum((storage.traffic for storage in storages.values()), Traffic()) if storages else None

    def close(self) -> None:
        """Stop the workers. The loader cannot be used afterwards; a thread that waits for an element gets an error."""
        self._is_closed = True
        for iteration in list(self._iterations):
            self._close_iteration(iteration)
        self._memory.close()
        self._keep_read_ahead(self._read_ahead, None)

    def _close_iteration(self, iteration: Generator[Any]) -> None:
        try:
            iteration.close()
        except ValueError:
            if getgeneratorstate(iteration) != GEN_RUNNING:
                raise
            # The iteration is still waiting for its workers. It runs in another thread, or a signal handler that called
            # `close` has interrupted it. Closing the worker pools ends the wait.
            for pool in list(self._stats.pools):
                pool.close()

    def __enter__(self) -> Self:
        """Return the loader."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the loader."""
        self.close()

    def __repr__(self) -> str:
        """Return the expression that creates the loader, as text."""
        options = self._options
        rank = f", rank={options.rank}, world_size={options.world_size}" if options.world_size > 1 else ""
        return f"{self._dataset!r}.loader(threads={options.threads}, prefetch={options.prefetch}{rank})"

    def __str__(self) -> str:
        """Return the number of elements, the options and the dataset, as text of several lines."""
        options, noun = self._options, "samples" if self._dataset.batch_stage is None else "batches"
        rank = f", rank {options.rank} of {options.world_size}" if options.world_size > 1 else ""
        first = f"Loader of {count_elements(self)} {noun} per epoch, next epoch {self.epoch}"
        settings = f"threads {options.threads}, prefetch {options.prefetch}{rank}"
        return f"{first}\n  {settings}\n{indent(str(self._dataset), '  ')}"
