"""Packs chunks in worker processes; what they do is the same as in threads."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from types import TracebackType
from typing import Self

from recordmill.errors import WriteError
from recordmill.packing.job import Job, Packed
from recordmill.packing.sources.base import Items

_job: Job | None = None


class ProcessPool:
    """Worker processes, started afresh (spawn), so that threads and locks of the caller do them no harm.

    Parameters
    ----------
    job : Job
    workers : int
    """

    def __init__(self, job: Job, workers: int) -> None:
        context = multiprocessing.get_context("spawn")
        self._pool = ProcessPoolExecutor(workers, context, initializer=_begin, initargs=(job,))

    def pack(self, items: Items) -> Packed:
        """Pack items in one of the processes.

        Parameters
        ----------
        items : Items

        Returns
        -------
        Packed

        Raises
        ------
        WriteError
            A process died.
        """
        try:
            return self._pool.submit(_pack, items).result()
        except BrokenProcessPool as error:
            hint = (
                "memory may be short: use fewer workers; a script needs `if __name__ == '__main__':` around its calls"
            )
            raise WriteError("a worker process ended unexpectedly", hint=hint) from error

    def __enter__(self) -> Self:
        """Return the pool itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the processes; what is not yet begun is dropped."""
        self._pool.shutdown(wait=True, cancel_futures=True)


def _begin(job: Job) -> None:
    global _job  # noqa: PLW0603 (one job per process, sent once)
    _job = job
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to the whole group; the parent ends us
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this process when the parent does: a parent that was killed tells nobody, and the queue stays open."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _pack(items: Items) -> Packed:
    if _job is None:
        raise RuntimeError("the worker process was not told its job")
    packed = _job.run(items)
    return replace(packed, framed=replace(packed.framed, data=bytes(packed.framed.data)))
