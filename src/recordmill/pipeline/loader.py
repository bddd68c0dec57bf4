"""Iterations that still go on when the interpreter ends are closed while their modules are whole."""

from __future__ import annotations

import atexit
import contextlib
from collections.abc import Generator, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, replace
from inspect import GEN_RUNNING, getgeneratorstate
from time import perf_counter
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from weakref import WeakSet

from recordmill.allocator import Memory
from recordmill.concurrency.thread_pool import ThreadPool
from recordmill.pipeline.builder import Made, Maker
from recordmill.pipeline.checks import epoch_of, is_whole, settle
from recordmill.pipeline.failures import Barren, OnError, Report
from recordmill.pipeline.run import CreatePool, Pace, run
from recordmill.pipeline.state import State, check_inside, state_from
from recordmill.pipeline.stats import LoaderStats, Tally

if TYPE_CHECKING:
    from recordmill.pipeline.dataset import Dataset

_GOING_ON: WeakSet[Generator[Any]] = WeakSet()


def close_at_exit(running: Generator[Any]) -> None:
    """Close an iteration when the interpreter ends, if it is still there."""
    _GOING_ON.add(running)


@atexit.register
def _close_all() -> None:
    for running in list(_GOING_ON):
        with contextlib.suppress(ValueError):  # another thread is in it
            running.close()


# Memory of batches that nobody has any more, kept for the next ones, between epochs too: six of 128 photographs in
# float32, which two threads, what is ready and whoever looks at one may hold at once.
_KEPT_BYTES = 480 << 20


@dataclass(frozen=True, slots=True)
class LoaderOptions:
    """What `Dataset.loader` takes."""

    threads: int = 2
    prefetch: int = 2
    rank: int = 0
    world_size: int = 1
    on_error: OnError = "raise"
    max_errors: int | float | None = None
    workers: tuple[int, int] = (0, 1)

    def __post_init__(self) -> None:
        """Refuse what makes no loader."""
        if not is_whole(self.threads) or not is_whole(self.prefetch):
            raise ValueError(
                f"threads and prefetch are whole numbers, not negative: not {self.threads!r} and {self.prefetch!r}"
            )
        if self.on_error not in ("raise", "skip", "substitute"):
            raise ValueError(f'on_error is "raise", "skip" or "substitute", not {self.on_error!r}')
        given: Any = self.workers
        pair = isinstance(given, tuple | list) and len(given) == 2 and all(map(is_whole, given))
        if not pair or not given[0] < given[1]:
            raise ValueError(f"workers is (index, count) with an index from 0 to count - 1, not {given!r}")
        settle(self, workers=(int(given[0]), int(given[1])))


class Loader:
    """Elements of a pipeline, in order, one epoch per iteration; made by `Dataset.loader`.

    The first iteration is epoch 0, or the one that was set; each later one, once something was delivered, the next.
    Every iteration has its own workers, which end with it, also when it is left early or fails. Several may go on at
    once; the state is that of the last one begun. An error reaches the caller in the place of the element that it
    spoiled.

    Parameters
    ----------
    dataset : Dataset
    options : LoaderOptions
    """

    def __init__(self, dataset: Dataset, options: LoaderOptions) -> None:
        self._dataset, self._options = dataset, options
        self._report = Report(options.max_errors)
        self._tally = Tally(in_processes=dataset.runs_in_processes and options.threads > 0)
        self._memory = Memory(_KEPT_BYTES)
        self._state, self._begun, self._epoch = State(), False, 0
        self._running: WeakSet[Generator[Any]] = WeakSet()
        self._run = object()
        self._closed = False
        if dataset.program.is_stream and options.on_error == "substitute":
            raise ValueError(
                'on_error="substitute" needs the number of samples, which a filter leaves open: take "skip"'
            )
        cuts, program = self._maker(State()).cuts, dataset.program
        if program.is_stream:
            cuts.check_filtered(program.head.length)
        else:
            cuts.check()

    @property
    def epoch(self) -> int:
        """The epoch being iterated over, or the one that comes next."""
        return self._epoch

    @property
    def rank(self) -> int:
        """Of this process."""
        return self._options.rank

    @property
    def world_size(self) -> int:
        """Processes that share the samples."""
        return self._options.world_size

    @property
    def report(self) -> Report:
        """Samples that failed and were left out or replaced."""
        return self._report

    def __len__(self) -> int:
        """Return the number of elements of an epoch of this rank (and worker)."""
        count = None if self._dataset.program.is_stream else self._maker(State()).cuts.count
        index, step = self._options.workers
        return len(range(index, len(self._dataset) if count is None else count, step))

    def _maker(self, state: State) -> Maker:
        dataset, options = self._dataset, self._options
        cuts = dataset.cuts(options.rank, options.world_size)
        if not dataset.program.is_stream:
            cuts = replace(cuts, start=max(cuts.start, state.position))
        return Maker(
            dataset.program,
            dataset.stage,
            dataset.maps,
            cuts,
            state.epoch,
            options.on_error,
            shares_memory=not self._tally.in_processes,
            memory=self._memory,
        )

    def __iter__(self) -> Iterator[Any]:
        """Elements of the next epoch, or of the rest of the one whose state was loaded."""
        self._check_open()
        if self._begun:
            self._stand(State(self._state.epoch + 1))
        self._run = object()
        running = self._deliver(self._state, self._run)
        self._running.add(running)
        close_at_exit(running)
        return running

    def _check_open(self) -> None:
        if self._closed:
            raise ValueError("the loader is closed")

    def __reduce__(self) -> Any:
        """Refuse to be pickled or copied: workers belong to their process."""
        raise TypeError("a loader stays in its process: pickle the pipeline it was made from, and its state_dict()")

    def _stand(self, state: State) -> None:
        """Be between two epochs, or where a state says: runs that still go on do not count any more."""
        self._state, self._begun, self._epoch = state, False, state.epoch
        self._run = object()

    def _deliver(self, state: State, this: object) -> Generator[Any]:
        maker = self._maker(state)
        elements = self._of_stream(maker, state) if maker.program.is_stream else self._of_positions(maker, state)
        begun = perf_counter()
        with closing(elements):
            for element, behind in elements:
                self._check_open()
                if self._run is this:
                    self._state, self._begun = behind, True
                self._tally.elements += 1
                self._tally.elapsed_s += perf_counter() - begun
                begun = perf_counter()
                yield element
        if self._run is this:
            self._stand(State(state.epoch + 1))

    def _of_positions(self, maker: Maker, state: State) -> Generator[tuple[Any, State]]:
        processes, barren = not maker.shares_memory, self._barren(maker, state)
        for made in run(maker, self._pace(processes), self._pool_factory(processes), self._tally, processes=processes):
            self._note(made)
            for number, element in made.elements:
                if not barren.lacks(element, made.skipped):
                    behind = maker.cuts.behind(number + 1)
                    yield element, State(state.epoch, behind, behind)
            if made.error is not None:
                raise made.error
        barren.end()

    def _of_stream(self, maker: Maker, state: State) -> Generator[tuple[Any, State]]:
        from recordmill.pipeline.filtered_run import StreamRun

        barren = self._barren(maker, state)
        for made, stand in StreamRun(maker, state, self._pace(False), self._pool_factory, self._tally):
            self._note(made)
            if made.error is not None:
                raise made.error
            for _, element in made.elements:
                if stand is not None and not barren.lacks(element, made.skipped):
                    yield element, State(state.epoch, *stand)
        barren.end()

    def _barren(self, maker: Maker, state: State) -> Barren:
        alone = self._options.workers[1] == 1
        return Barren(maker.batch.size if maker.batch else 1, whole=alone and not state.position)

    def _note(self, made: Made) -> None:
        self._tally.count(made)
        self._report.add(made.num_samples, made.skipped)

    def _pace(self, processes: bool) -> Pace:
        options = self._options
        return Pace(options.threads, options.prefetch, options.workers, not processes)

    def _pool_factory(self, processes: bool) -> CreatePool | None:
        threads = self._options.threads
        if not threads:
            return None
        if processes:
            from recordmill.concurrency.process_pool import ProcessPool

            return lambda function: ProcessPool(function, threads)
        return lambda function: ThreadPool(function, threads)

    def set_epoch(self, epoch: int) -> None:
        """Choose the epoch of the next iteration; one that a loaded state is in goes on where that says.

        Parameters
        ----------
        epoch : int
        """
        chosen = State(epoch_of(epoch))
        if self._begun or chosen.epoch != self._state.epoch:
            self._stand(chosen)

    def state_dict(self) -> dict[str, Any]:
        """Where the loader stands: behind the element that was delivered last.

        Returns
        -------
        dict
            Small, of numbers and text; the same for every rank, and good for any number of threads, ranks and workers.
        """
        return self._state.to_dict(self._dataset.fingerprint())

    def load_state_dict(self, state_dict: Mapping[str, Any]) -> None:
        """Go on where another loader of the same data and order stood.

        Parameters
        ----------
        state_dict : mapping
            Of `state_dict`.

        Raises
        ------
        StateError
            It belongs to another pipeline, lies beyond the end of the epoch, or is no state.
        """
        state = state_from(state_dict, self._dataset.fingerprint())
        program, cuts = self._dataset.program, self._maker(State()).cuts
        check_inside(state, program.head.length if program.is_stream else cuts.length, cuts.length)
        self._stand(state)

    def stats(self) -> LoaderStats:
        """Where time went until now.

        Returns
        -------
        LoaderStats
        """
        return self._tally.stats()

    def close(self) -> None:
        """End the workers; the loader cannot be used afterwards. A thread that waits for an element gets an error."""
        self._closed = True
        for running in list(self._running):
            self._end(running)
        self._memory.close()

    def _end(self, running: Generator[Any]) -> None:
        try:
            running.close()
        except ValueError:
            if getgeneratorstate(running) != GEN_RUNNING:
                raise
            # The iteration waits for its workers, in another thread or in the frame below a signal handler.
            for pool in list(self._tally.pools):
                pool.close()

    def __enter__(self) -> Self:
        """Return the loader itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        self.close()

    def __repr__(self) -> str:
        """Readable form."""
        options = self._options
        rank = f", rank={options.rank}, world_size={options.world_size}" if options.world_size > 1 else ""
        return f"{self._dataset!r}.loader(threads={options.threads}, prefetch={options.prefetch}{rank})"
