"""The program of a worker process: run tasks until the consumer stops the worker or exits."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import pickle
import socket
import sys
from multiprocessing import spawn
from time import monotonic
from typing import Any, NoReturn, cast

from recordmill.concurrency.messages import (
    MAX_INLINE_BYTES,
    STOP,
    Message,
    MessageKind,
    receive_released_segment,
    receive_task_number,
    send_message,
)
from recordmill.concurrency.pool import TaskFunction
from recordmill.concurrency.processes import MEMORY_HINT, PICKLE_HINT, prepare_worker_process
from recordmill.concurrency.serialization import ErrorChain, PickleParts
from recordmill.concurrency.shared_memory import NO_SLOT, SegmentPool, TaskInputBuffer
from recordmill.concurrency.status_page import StatusPage
from recordmill.errors import WorkerError


def main(link: int, tasks: int, setup: int, consumer: int, status: int, inputs: int) -> NoReturn:
    """Run tasks in a worker process. The arguments are file descriptors that the process inherited."""
    prepare_worker_process(consumer)
    connection = socket.socket(fileno=link)
    StatusPage.current, TaskInputBuffer.current = StatusPage(status), TaskInputBuffer(inputs)
    try:
        function = _import_main_and_load_function(setup)
    except BaseException as error:  # noqa: BLE001 (raised in the consumer)
        _flush_and_exit(_send_value(connection, Message(MessageKind.BROKEN), ErrorChain.from_exception(error)))
    _flush_and_exit(_Worker(function, connection, tasks).run())


def _import_main_and_load_function(setup: int) -> TaskFunction:
    """Set the import paths of the consumer, import its main module, and return the unpickled task function."""
    with open(setup, "rb") as file:
        preparation, function = pickle.load(file)  # noqa: S301 (written by the consumer, our parent)
    process = multiprocessing.current_process()
    process._inheriting = True  # type: ignore[attr-defined]  # forbids the main module to start processes
    try:
        spawn.prepare(preparation)
    finally:
        del process._inheriting  # type: ignore[attr-defined]
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(line_buffering=True)
    return cast("TaskFunction", pickle.loads(function))  # noqa: S301


def _flush_and_exit(success: bool) -> NoReturn:
    """Flush the output and exit at once, without waiting for other threads or running exit handlers."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    os._exit(0 if success else 1)


def _send_value(link: socket.socket, message: Message, value: Any, segments: SegmentPool | None = None) -> bool:
    """Send a message with a value (in a segment if it is large); return False if the consumer has closed the socket."""
    parts = PickleParts(value)
    kind, task, seconds, waited_s = message.kind, message.task, message.seconds, message.waited_s
    try:
        if parts.nbytes <= MAX_INLINE_BYTES:
            send_message(link, Message(kind, task, NO_SLOT, 0, seconds, waited_s, data=parts.tobytes()))
            return True
        segment = (segments or SegmentPool(0)).acquire(parts.nbytes)
        try:
            parts.write(segment.file)
            header = Message(kind, task, segment.slot, parts.nbytes, seconds, waited_s)
            send_message(link, header, segment.file if segment.is_new else None)
        except OSError:
            if segments is not None and segment.slot != NO_SLOT:
                segments.release(segment.slot, reusable=not segment.is_new)
            raise
        finally:
            if segment.slot == NO_SLOT:
                os.close(segment.file)
    except ConnectionError:
        return False
    return True


def _compute_result(function: TaskFunction, task: int) -> tuple[Any, MessageKind]:
    """Call the function for a task; return (result, RESULT), or (error, ERROR) if the function raises."""
    try:
        return function(task), MessageKind.RESULT
    except BaseException as error:  # noqa: BLE001 (raised in the consumer)
        return ErrorChain.from_exception(error), MessageKind.ERROR


class _Worker:
    """Runs tasks and sends their results to the consumer.

    Parameters
    ----------
    function : callable
    link : socket
    tasks : int
    """

    def __init__(self, function: TaskFunction, link: socket.socket, tasks: int) -> None:
        self._function, self._link, self._tasks, self._segments = function, link, tasks, SegmentPool()

    def run(self) -> bool:
        """Run tasks until the consumer stops this worker; return False if a result could not be sent."""
        try:
            send_message(self._link, Message(MessageKind.READY))
        except ConnectionError:
            return True
        ready = monotonic()
        while (task := receive_task_number(self._tasks)) != STOP:
            begun = monotonic()
            if not self._receive_released_segments() or not self._send_started(task, begun, begun - ready):
                return True
            if not self._run_and_send_task(task, begun):
                return False
            ready = monotonic()
        return True

    def _receive_released_segments(self) -> bool:
        """Free the segments that the consumer no longer uses; return False if the consumer has closed the socket."""
        try:
            while (release := receive_released_segment(self._link)) is not None:
                self._segments.release(release[0], reusable=release[1])
        except BlockingIOError:
            return True
        return False

    def _send_started(self, task: int, begun: float, waited_s: float) -> bool:
        try:
            send_message(self._link, Message(MessageKind.STARTED, task, seconds=begun, waited_s=waited_s))
        except ConnectionError:
            return False
        return True

    def _run_and_send_task(self, task: int, begun: float) -> bool:
        value, kind = _compute_result(self._function, task)
        try:
            return self._send_result(kind, task, begun, value)
        except Exception as error:  # noqa: BLE001 (a foreign class may raise anything when pickled; out of memory)
            return self._send_replacement_result(task, begun, value, error)

    def _send_replacement_result(self, task: int, begun: float, value: Any, cause: Exception) -> bool:
        """Send a replacement for a result that cannot be sent: a recomputed result, or an error.

        If the task function has a method `compute_with_checks`, which finds the cause, send the result or error of
        this method. Otherwise, send an error that describes the result.
        """
        compute_with_checks = getattr(self._function, "compute_with_checks", None)
        if compute_with_checks is not None and not isinstance(cause, OSError):
            result, kind = _compute_result(compute_with_checks, task)
            with contextlib.suppress(Exception):
                return self._send_result(kind, task, begun, result)
        chain = ErrorChain.from_exception(_build_send_error(task, value, cause))
        return self._send_result(MessageKind.ERROR, task, begun, chain)

    def _send_result(self, kind: MessageKind, task: int, begun: float, value: Any) -> bool:
        return _send_value(self._link, Message(kind, task, seconds=monotonic() - begun), value, self._segments)


def _build_send_error(task: int, value: Any, cause: Exception) -> WorkerError:
    hint = f"{MEMORY_HINT} or a smaller prefetch" if isinstance(cause, OSError) else PICKLE_HINT
    error = WorkerError(f"a worker process cannot send a result of type {type(value).__name__}", place=task, hint=hint)
    error.__cause__ = cause
    return error
