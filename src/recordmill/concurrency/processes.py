"""Create worker processes that ignore Ctrl-C and exit when their parent process exits."""

from __future__ import annotations

import os
import select
import signal
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

MAIN_GUARD_HINT = (
    "put the calls in the script under `if __name__ == '__main__':`, because each worker process imports the script"
)
MEMORY_HINT = "if memory ran out, use fewer workers"
PICKLE_HINT = "only values that can be pickled can be sent between processes: arrays, numbers, strings, dicts and lists"


def prepare_worker_process(parent: int) -> None:
    """Ignore Ctrl-C in this process, and exit when its parent process exits for any reason."""
    # Ctrl-C interrupts all processes of the group, but the parent should decide what its workers do.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    threading.Thread(target=_exit_with_parent, args=(parent,), name="recordmill-watch", daemon=True).start()


def _exit_with_parent(parent: int) -> None:
    """Wait for the parent process to exit, then exit at once, even in the middle of a task."""
    poller = select.poll()
    poller.register(parent, select.POLLIN)
    poller.poll()
    os._exit(1)


def create_process_executor(workers: int, initialize: Callable[..., None], *args: Any) -> ProcessPoolExecutor:
    """Return an executor whose worker processes first call ``initialize(*args)``."""
    import multiprocessing
    from concurrent.futures import ProcessPoolExecutor

    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(workers, context, initializer=_initialize_worker, initargs=(initialize, args))


def _initialize_worker(initialize: Callable[..., None], args: tuple[Any, ...]) -> None:
    import multiprocessing

    parent = multiprocessing.parent_process()
    if parent is not None:
        prepare_worker_process(parent.sentinel)
    initialize(*args)
