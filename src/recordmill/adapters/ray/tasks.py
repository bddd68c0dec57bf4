"""Run functions as Ray tasks: limit the number of concurrent tasks, and retry tasks whose worker or node has died."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from recordmill.adapters.common import require_extra
from recordmill.errors import WorkerError
from recordmill.shards.paths import list_paths
from recordmill.storage.addresses import absolute_path

# Number of tasks to submit for each task that can run at the same time. Queued tasks keep CPUs busy until the driver
# submits the next ones.
_QUEUED_PER_CPU = 2
# Seconds between two updates of the number of CPUs in the cluster; also the timeout of `ray.wait`.
_WAIT_S = 1.0
_MEMORY_HINT = "reserve memory for each task with memory=, so that fewer tasks run on a node at the same time"


@dataclass(frozen=True, slots=True)
class TaskOptions:
    """Resources and maximum number of retries of each task.

    Parameters
    ----------
    num_cpus : int
        CPUs that Ray reserves for a task.
    memory : int or None
        Bytes of memory that Ray reserves for a task.
    max_retries : int
        Maximum number of times that a task is repeated after its worker or node has died.
    """

    num_cpus: int = 1
    memory: int | None = None
    max_retries: int = 3

    def __post_init__(self) -> None:
        for name, least in (("num_cpus", 1), ("memory", 1), ("max_retries", 0)):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, int) or value < least):
                raise ValueError(f"{name} must be an integer of at least {least}, got {value!r}")


@dataclass(frozen=True, slots=True)
class TaskFailure:
    """The error that a function raised in a task, and the machine on which the task ran."""

    error: Exception
    host: str


def import_ray() -> Any:
    """Import Ray; raise MissingExtraError if it is not installed."""
    with require_extra("ray"):
        import ray
    return ray


class TaskRunner:
    """Runs one function as Ray tasks.

    Parameters
    ----------
    function : callable
        Function of a module, which the workers import.
    shared : object
        First argument of each call; sent to each node once.
    options : TaskOptions
    """

    def __init__(self, function: Callable[..., Any], shared: Any, options: TaskOptions) -> None:
        self._ray, self._options = import_ray(), options
        self._function, self._shared = function, self._ray.put(shared)
        self._slots, self._counted = 0, -_WAIT_S
        # Without max_retries=0, Ray would retry a task without limit if it is killed for lack of memory. Instead, this
        # class retries tasks and counts the retries.
        self._task = self._ray.remote(num_cpus=options.num_cpus, memory=options.memory, max_retries=0)(_call_in_worker)

    def run(self, inputs: Sequence[Any]) -> Generator[tuple[int, Any]]:
        """Call the function with each input; yield ``(position in inputs, result)`` whenever a task ends.

        A result is a `TaskFailure` if the function raised an error. If the caller closes the generator, running tasks
        are cancelled.
        """
        waiting, running = iter(range(len(inputs))), dict[Any, int]()
        attempts = dict[int, int]()
        try:
            number = next(waiting, None)
            while number is not None or running:
                while number is not None and len(running) < self._compute_task_limit():
                    running[self._submit(inputs[number])] = number
                    number = next(waiting, None)
                finished, _ = self._ray.wait(list(running), timeout=_WAIT_S)
                for reference in finished:
                    position = running.pop(reference)
                    try:
                        result = self._fetch_result(reference)
                    except self._list_crash_error_types() as error:
                        attempts[position] = attempts.get(position, 0) + 1
                        if attempts[position] <= self._options.max_retries:
                            running[self._submit(inputs[position])] = position
                            continue
                        result = TaskFailure(_describe_crash(error, attempts[position]), "a worker")
                    yield position, result
        finally:
            self._cancel_tasks(list(running))

    def call(self, *args: Any) -> Any:
        """Call the function once and wait for its result, which may be a `TaskFailure`."""
        num_attempts = self._options.max_retries + 1
        for _ in range(num_attempts):
            reference = self._task.remote(self._function, self._shared, *args)
            try:
                return self._fetch_result(reference)
            except self._list_crash_error_types() as error:
                crash = error
        return TaskFailure(_describe_crash(crash, num_attempts), "a worker")

    def count_tasks(self) -> int:
        """Return the number of tasks that the cluster can run at the same time."""
        return max(int(self._ray.cluster_resources().get("CPU", 1) / self._options.num_cpus), 1)

    def _compute_task_limit(self) -> int:
        """Return the maximum number of submitted tasks. It is updated every second, because nodes join and leave."""
        now = time.monotonic()
        if now - self._counted >= _WAIT_S:
            self._slots, self._counted = _QUEUED_PER_CPU * self.count_tasks(), now
        return self._slots

    def _fetch_result(self, reference: Any) -> Any:
        """Return the result of a task; return a `TaskFailure` if Ray failed to call the function."""
        errors = self._ray.exceptions
        try:
            return self._ray.get(reference)
        except self._list_crash_error_types():
            raise
        except errors.RayError as error:
            cause = getattr(error, "cause", None)
            return TaskFailure(cause if isinstance(cause, Exception) else error, "a worker")

    def _submit(self, value: Any) -> Any:
        return self._task.remote(self._function, self._shared, value)

    def _list_crash_error_types(self) -> tuple[type[Exception], ...]:
        errors = self._ray.exceptions
        return (errors.WorkerCrashedError, errors.OutOfMemoryError, errors.NodeDiedError, errors.ObjectLostError)

    def _cancel_tasks(self, references: list[Any]) -> None:
        for reference in references:
            self._ray.cancel(reference)
        if references:
            self._ray.wait(references, num_returns=len(references), timeout=_WAIT_S)


def _call_in_worker(function: Callable[..., Any], *args: Any) -> Any:
    """Call a function in a worker. Errors of the function are returned, because Ray would wrap raised errors."""
    try:
        return function(*args)
    except Exception as error:  # noqa: BLE001 (the driver raises it)
        return TaskFailure(error, platform.node())


def _describe_crash(error: Exception, num_attempts: int) -> WorkerError:
    reason = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
    is_memory = type(error).__name__ == "OutOfMemoryError"
    return WorkerError(
        f"the worker process or its node died in each of {num_attempts} attempts: {reason}",
        kind="out_of_memory" if is_memory else "worker_died",
        hint=_MEMORY_HINT
        if is_memory
        else "see the log of the Ray worker for the reason; max_retries= allows more attempts",
    )


def absolute_paths(paths: Any) -> list[str]:
    """Make paths and patterns absolute, because workers may have other working folders."""
    return list(map(absolute_path, list_paths(paths)))


def raise_failure(failure: TaskFailure) -> NoReturn:
    """Raise the error of a task, with a note that names the machine."""
    failure.error.add_note(f"raised on {failure.host}, in a Ray task")
    raise failure.error
