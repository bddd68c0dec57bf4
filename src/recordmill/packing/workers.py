"""Workers that pack chunks at the same time and write them in order.

A lane is a sink and the queue of what goes into it. Every chunk of a lane has a turn, and a worker that has packed a
chunk waits until it is this chunk's turn to be written. Workers spread over as many lanes as there are workers, so
that they seldom wait for each other.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Self

from recordmill.concurrency.processes import MAIN_GUARD_HINT, MEMORY_HINT, create_executor
from recordmill.errors import WriteError
from recordmill.packing.job import Job, Packed
from recordmill.packing.plan import Chunk, Queue
from recordmill.packing.sources.base import Items
from recordmill.shards.output import Sink


@dataclass(slots=True)
class Lane:
    """A sink, what goes into it, and whose turn it is."""

    queue: Queue
    sink: Sink
    num_written: int = 0
    condition: threading.Condition = field(default_factory=threading.Condition)

    @property
    def num_waiting(self) -> int:
        """Chunks that were taken and not yet written."""
        return self.queue.num_taken - self.num_written


class Halted(Exception):  # noqa: N818
    """Another worker failed; there is nothing to report."""


class LaneRunner:
    """Empties lanes into their sinks with some workers.

    Parameters
    ----------
    lanes : list of Lane
    pack : callable
        Packs items; called from several threads.
    on_written : callable
        Called with each chunk and its result, in the thread that wrote it.
    on_packed : callable
        Called before a chunk is written; an exception that it raises stops everything.
    """

    def __init__(
        self,
        lanes: list[Lane],
        pack: Callable[[Items], Packed],
        on_packed: Callable[[Chunk, Packed], None],
        on_written: Callable[[Chunk, Packed], None],
    ) -> None:
        self._pack, self._on_packed, self._on_written = pack, on_packed, on_written
        self._all = lanes
        self._idle = deque(lanes)
        self._active: list[Lane] = []
        self._lock = threading.Lock()
        self._errors: list[tuple[int, BaseException]] = []
        self._halted = False

    def run(self, workers: int) -> None:
        """Work until all lanes are empty and finished."""
        self._num_lanes = workers
        if workers == 1:
            self._work()
        else:
            self._work_in_threads(workers)
        if self._errors:
            raise min(self._errors, key=lambda found: found[0])[1]

    def _work_in_threads(self, workers: int) -> None:
        with ThreadPoolExecutor(workers, "recordmill-pack") as pool:
            try:
                for done in [pool.submit(self._work) for _ in range(workers)]:
                    done.result()
            except BaseException:
                self._halt()
                raise

    def _work(self) -> None:
        while not self._halted:
            taken = self._take()
            if taken is None:
                return
            lane, chunk = taken
            try:
                self._do(lane, chunk)
            except Halted:
                return
            except Exception as error:  # noqa: BLE001 (told to the caller, who raises it)
                with self._lock:
                    self._errors.append((chunk.start, error))
                self._halt()

    def _take(self) -> tuple[Lane, Chunk] | None:
        """Take the next chunk of the lane that has the fewest under way."""
        with self._lock:
            while True:
                self._active = [lane for lane in self._active if not lane.queue.is_empty]
                while self._idle and len(self._active) < self._num_lanes:
                    self._active.append(self._idle.popleft())
                if not self._active:
                    return None
                lane = min(self._active, key=lambda one: one.num_waiting)
                chunk = lane.queue.take()
                if chunk is not None:
                    return lane, chunk

    def _do(self, lane: Lane, chunk: Chunk) -> None:
        packed = self._pack(chunk.items)
        self._on_packed(chunk, packed)
        with lane.condition:
            lane.condition.wait_for(lambda: self._halted or lane.num_written == chunk.turn)
        if self._halted:
            raise Halted
        if len(packed.framed.lengths):
            lane.sink.append(packed.framed, packed.keys)
        with lane.condition:
            lane.num_written += 1
            lane.condition.notify_all()
        self._on_written(chunk, packed)
        if lane.queue.is_empty and lane.num_written == lane.queue.num_taken == chunk.turn + 1:
            lane.sink.finish()

    def _halt(self) -> None:
        self._halted = True
        for lane in self._all:
            with lane.condition:
                lane.condition.notify_all()


_job: Job | None = None


class ProcessPool:
    """Worker processes that pack items.

    Parameters
    ----------
    job : Job
    workers : int
    """

    def __init__(self, job: Job, workers: int) -> None:
        self._executor = create_executor(workers, _set_job, job)

    def pack(self, items: Items) -> Packed:
        """Pack items in one of the processes; raise WriteError if a process died."""
        try:
            return self._executor.submit(_pack, items).result()
        except BrokenProcessPool as error:
            hint = f"{MEMORY_HINT}; {MAIN_GUARD_HINT}"
            raise WriteError("a worker process ended unexpectedly", hint=hint) from error

    def __enter__(self) -> Self:
        """Return the pool itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the processes, and drop items that are still waiting."""
        self._executor.shutdown(wait=True, cancel_futures=True)


def _set_job(job: Job) -> None:
    global _job  # noqa: PLW0603 (one job per process, sent once)
    _job = job


def _pack(items: Items) -> Packed:
    if _job is None:
        raise RuntimeError("the worker process received no job")
    packed = _job.run(items)
    return replace(packed, framed=replace(packed.framed, data=bytes(packed.framed.data)))
