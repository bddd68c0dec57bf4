"""Wait for workers, and report functions that hang and worker processes that died."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any

from recordmill.concurrency.pool import NotReadyError, WorkerPool
from recordmill.errors import MapError, WorkerError
from recordmill.pipeline.stages.base import RunningCall

if TYPE_CHECKING:
    from recordmill.pipeline.compiled_pipeline import ExampleSource
    from recordmill.pipeline.engine import BatchBuilder

# If the consumer waits this many seconds while a function runs, one warning is emitted. It is not an error, because
# some functions are slow.
WARN_AFTER_S = 60.0


def wait_for_result(pool: WorkerPool, task: int, builder: BatchBuilder) -> Any:
    """Wait for the result of task number `task` in a pool; raise MapError if a function exceeds its timeout."""
    interval = min([WARN_AFTER_S, *builder.timeouts]) / 2
    started = monotonic()
    while True:
        try:
            return pool.result(task, timeout=interval)
        except NotReadyError:
            calls = [
                *builder.current_calls(),
                *(call for call in _read_published_calls(pool).values() if call.function),
            ]
            _check_timeouts(calls, builder.pipeline.sources)
            if calls and monotonic() - started >= WARN_AFTER_S:
                _warn_of_longest_call(calls, builder.pipeline.sources)
                started = inf
        except WorkerError as error:
            if error.exit_code is None:
                raise
            raise _add_call_to_error(pool, error, builder.pipeline.sources) from error.__cause__


def _check_timeouts(calls: Sequence[RunningCall], sources: Sequence[ExampleSource]) -> None:
    for call in calls:
        if call.timeout is not None and call.seconds > call.timeout:
            raise MapError(
                f"{call.function} hangs: it has not returned for {call.seconds:.1f} s",
                kind="function_hangs",
                expected=f"at most {call.timeout:g} s",
                hint="timeout= sets the limit",
                **call.error_fields(sources),
            )


def _warn_of_longest_call(calls: Sequence[RunningCall], sources: Sequence[ExampleSource]) -> None:
    call = max(calls, key=lambda call: call.seconds)
    fields = call.error_fields(sources)
    record = [f"{name} {fields[name]}" for name in ("shard", "record", "offset") if fields.get(name) is not None]
    where = ", ".join([f"stage {call.stage}", f"sample {call.position} of the epoch", *record])
    warnings.warn(
        f"{call.function} has not returned for {call.seconds:.0f} s ({where}); timeout= sets a limit",
        RuntimeWarning,
        stacklevel=2,
    )


def _read_published_calls(pool: WorkerPool) -> dict[int, RunningCall]:
    """Return the unfinished calls of all worker processes, including dead processes, by task number."""
    calls = {task: RunningCall.from_status_page(status) for task, status in pool.status_by_task().items()}
    return {task: call for task, call in calls.items() if call is not None}


def _add_call_to_error(pool: WorkerPool, error: WorkerError, sources: Sequence[ExampleSource]) -> WorkerError:
    """Return the error of a dead worker process, extended by the function or stage that was running, if known."""
    call = None if error.place is None else _read_published_calls(pool).get(error.place)
    if call is None:
        return error
    where = f" in {call.function}" if call.function else " while it processed this sample and others"
    return WorkerError(f"{error.message}{where}", **(error.parts() | call.error_fields(sources)))
