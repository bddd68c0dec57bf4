"""Packs chunks in worker processes; what they do is the same as in threads."""

from __future__ import annotations

from concurrent.futures.process import BrokenProcessPool
from dataclasses import replace
from types import TracebackType
from typing import Self

from recordmill.concurrency.processes import MAIN_GUARD_HINT, MEMORY_HINT, create_executor
from recordmill.errors import WriteError
from recordmill.packing.job import Job, Packed
from recordmill.packing.sources.base import Items

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
