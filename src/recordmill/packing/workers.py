"""Workers that build the records of chunks in parallel and write them in order.

Each shard task has a queue of chunks and a sink. A worker that has built a chunk waits until all earlier chunks of
the task are written. Workers are spread over up to as many tasks as there are workers, so that they rarely wait.
"""

from __future__ import annotations

import signal
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import Self

from recordmill.concurrency.processes import MAIN_GUARD_HINT, MEMORY_HINT, create_process_executor
from recordmill.errors import WriteError
from recordmill.packing.chunks import Chunk, ChunkQueue
from recordmill.packing.records import ChunkRecords, RecordBuilder
from recordmill.packing.resume import TaskRecorder
from recordmill.packing.sources.base import Items
from recordmill.shards.output import RecordSink

# The main thread wakes at this interval to run Python signal handlers. A signal that the system delivers to another
# thread does not interrupt the wait of the main thread.
_MAX_WAIT_S = 0.2
# Seconds that a worker process has after SIGTERM to finish its chunk.
_GRACE_S = 1


@dataclass(slots=True)
class ShardTask:
    """A queue of chunks, and the sink to which their records are written in order."""

    queue: ChunkQueue
    sink: RecordSink
    recorder: TaskRecorder | None = None
    num_written: int = 0
    condition: threading.Condition = field(default_factory=threading.Condition)

    @property
    def num_pending(self) -> int:
        """Number of chunks that workers have taken from the queue but not yet written."""
        return self.queue.num_taken - self.num_written


class TaskRunner:
    """Builds and writes the records of shard tasks with one or several threads.

    `build` is called from several threads. `on_built` is called before a chunk is written; an exception that it
    raises stops all workers. `on_appended` is called after a chunk is written, before the next chunk of the task is
    written. `on_written` is called at any time after that. `on_finished` is called when the sink of a task is finished.
    """

    def __init__(
        self,
        tasks: list[ShardTask],
        build: Callable[[Items], ChunkRecords],
        on_built: Callable[[Chunk, ChunkRecords], None],
        on_appended: Callable[[ShardTask, Chunk, ChunkRecords], None],
        on_written: Callable[[Chunk], None],
        on_finished: Callable[[ShardTask], None],
        num_workers: int,
    ) -> None:
        self._build, self._on_built, self._on_written = build, on_built, on_written
        self._on_appended, self._on_finished = on_appended, on_finished
        self._tasks, self._num_workers = tasks, num_workers
        self._waiting_tasks = deque(tasks)
        self._active_tasks: list[ShardTask] = []
        self._lock = threading.Lock()
        self._errors: list[tuple[int, Exception]] = []
        self._stopped = False

    def run(self) -> None:
        """Process all tasks; raise the error of the earliest chunk that failed."""
        if self._num_workers == 1:
            self._process_chunks()
        else:
            self._process_chunks_in_threads()
        if self._errors:
            raise min(self._errors, key=lambda error: error[0])[1]

    def _process_chunks_in_threads(self) -> None:
        with ThreadPoolExecutor(self._num_workers, "recordmill-pack") as pool:
            try:
                for future in [pool.submit(self._process_chunks) for _ in range(self._num_workers)]:
                    while not future.done():
                        wait([future], _MAX_WAIT_S)
                    future.result()
            except BaseException:
                self._stop_workers()
                raise

    def _process_chunks(self) -> None:
        while not self._stopped:
            assignment = self._take_chunk()
            if assignment is None:
                return
            task, chunk = assignment
            try:
                self._process_chunk(task, chunk)
            except Exception as error:  # noqa: BLE001 (run() raises it)
                with self._lock:
                    self._errors.append((chunk.start, error))
                self._stop_workers()

    def _take_chunk(self) -> tuple[ShardTask, Chunk] | None:
        """Take a chunk from the active task with the fewest pending chunks. None means that no chunk is left."""
        with self._lock:
            while True:
                self._active_tasks = [task for task in self._active_tasks if not task.queue.is_empty]
                while self._waiting_tasks and len(self._active_tasks) < self._num_workers:
                    self._active_tasks.append(self._waiting_tasks.popleft())
                if not self._active_tasks:
                    return None
                task = min(self._active_tasks, key=lambda active: active.num_pending)
                chunk = task.queue.take()
                if chunk is not None:
                    return task, chunk

    def _process_chunk(self, task: ShardTask, chunk: Chunk) -> None:
        records = self._build(chunk.items)
        self._on_built(chunk, records)
        with task.condition:
            task.condition.wait_for(lambda: self._stopped or task.num_written == chunk.ordinal)
        if self._stopped:
            return
        if len(records.framed.lengths):
            task.sink.append(records.framed, records.keys)
        self._on_appended(task, chunk, records)
        with task.condition:
            task.num_written += 1
            task.condition.notify_all()
        self._on_written(chunk)
        if task.queue.is_empty and task.num_written == task.queue.num_taken == chunk.ordinal + 1:
            task.sink.finish()
            self._on_finished(task)

    def _stop_workers(self) -> None:
        self._stopped = True
        for task in self._tasks:
            with task.condition:
                task.condition.notify_all()


_builder: RecordBuilder | None = None


class WorkerProcesses:
    """Worker processes that build records. As a context manager, it ends the processes on exit."""

    def __init__(self, builder: RecordBuilder, num_workers: int) -> None:
        self._executor = create_process_executor(num_workers, _initialize_worker_process, builder)

    def build(self, items: Items) -> ChunkRecords:
        """Build the records of `items` in a worker process; raise WriteError if a worker process has died."""
        try:
            return self._executor.submit(_build_in_worker_process, items).result()
        except BrokenProcessPool as error:
            hint = f"{MEMORY_HINT}; {MAIN_GUARD_HINT}"
            raise WriteError("a worker process ended unexpectedly", hint=hint) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._executor.shutdown(wait=True, cancel_futures=True)


def _initialize_worker_process(builder: RecordBuilder) -> None:
    global _builder  # noqa: PLW0603 (sent once per process, not with every chunk)
    _builder = builder
    # If a worker ends while it sends a result, the executor waits forever for the missing bytes. A signal to the whole
    # process group must therefore not end a worker immediately. Workers ignore SIGHUP; the parent process ends them.
    # Workers cannot ignore SIGTERM, because the executor uses this signal to end all workers after one has crashed.
    # SIGTERM ends a worker after a delay, in which the worker can finish sending a result.
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: signal.alarm(_GRACE_S))


def _build_in_worker_process(items: Items) -> ChunkRecords:
    if _builder is None:
        raise RuntimeError("the worker process received no record builder")
    records = _builder.build(items)
    # Copy the data, because memory blocks of the native module cannot be pickled.
    return replace(records, framed=replace(records.framed, data=bytes(records.framed.data)))
