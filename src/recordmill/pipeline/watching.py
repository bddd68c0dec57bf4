"""Waits for workers, and names the function that keeps one of them too long, or has ended it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from time import monotonic
from typing import TYPE_CHECKING, Any

from recordmill.concurrency.pool import NotReadyError
from recordmill.errors import MapError, WorkerError
from recordmill.pipeline.context import Calling

if TYPE_CHECKING:
    from recordmill.concurrency.pool import WorkerPool
    from recordmill.pipeline.maker import Maker
    from recordmill.pipeline.source import ExampleSource

# A call that takes longer is told of, where nothing limits it; once, as some functions are slow.
_TELL_S = 60.0


def take_watched(pool: WorkerPool, task: int, maker: Maker) -> Any:
    """Wait for the result of a task, but not for a function that hangs.

    Parameters
    ----------
    pool : WorkerPool
    task : int
    maker : Maker
        Whose functions are called.

    Returns
    -------
    object

    Raises
    ------
    MapError
        A call took longer than its stage allows.
    WorkerError
        A worker process ended; with the call that it was in.

    Warns
    -----
    RuntimeWarning
        A call has taken a minute.
    """
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
