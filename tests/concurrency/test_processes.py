"""Executors whose processes ignore Ctrl-C and exit with their parent; status pages and task buffers."""

from __future__ import annotations

import mmap
import os
import signal
from pathlib import Path

import numpy as np
import pytest

from recordmill.concurrency.processes import create_process_executor
from recordmill.concurrency.shared_memory import TaskInputBuffer
from recordmill.concurrency.status_page import StatusPage
from recordmill.errors import WorkerError
from tests.concurrency.helpers import are_equal, child_processes, is_running, running_script, wait_until

pytestmark = pytest.mark.usefixtures("_light_main")

SCRIPT = """
import os, time
from recordmill.concurrency.processes import create_process_executor

if __name__ == "__main__":
    executor = create_process_executor(1, os.getpid)
    executor.submit(os.getpid).result()
    executor.submit(time.sleep, 10_000)
    print("ready", flush=True)
    time.sleep(10_000)
"""


def _set_variable(value: str) -> None:
    os.environ["RECORDMILL_TEST_VALUE"] = value


def test_executor_initializes_processes_that_ignore_interrupts() -> None:
    with create_process_executor(1, _set_variable, "set") as executor:
        assert executor.submit(os.getenv, "RECORDMILL_TEST_VALUE").result() == "set"
        os.kill(executor.submit(os.getpid).result(), signal.SIGINT)
        assert executor.submit(os.getenv, "RECORDMILL_TEST_VALUE").result() == "set"


def test_executor_processes_exit_when_the_parent_is_killed(tmp_path: Path) -> None:
    with running_script(SCRIPT, tmp_path) as process:
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        workers = [
            one for one in child_processes(process.pid) if b"spawn_main" in Path(f"/proc/{one}/cmdline").read_bytes()
        ]
        assert workers
        process.kill()
        assert wait_until(lambda: not any(map(is_running, workers)))


def test_status_page_keeps_the_last_status_that_fits() -> None:
    file = StatusPage.create_file()
    writer, reader = StatusPage(file), StatusPage(file)
    os.close(file)
    assert reader.read() == b""
    for status, expected in [(b"first", b"first"), (b"2", b"2"), (bytes(mmap.PAGESIZE), b""), (b"last", b"last")]:
        writer.write(status)
        assert reader.read() == expected
    writer.clear()
    assert reader.read() == b""
    writer.close()
    reader.close()


def test_task_buffer_returns_inputs_and_reuses_slots() -> None:
    writer = TaskInputBuffer.create()
    reader = TaskInputBuffer(writer.file)
    inputs = {task: {"task": task, "rows": np.full(10_000 * (task % 3), task)} for task in range(20)}
    for task, value in inputs.items():
        writer.write(task, value)
        if task >= 4:
            assert are_equal(reader.read(task - 4), inputs[task - 4])
            writer.discard(task - 4)
    assert os.fstat(writer.file).st_size < 6 << 40  # at most five slots
    with pytest.raises(WorkerError, match="cannot be sent"):
        writer.write(20, lambda: None)
    os.close(writer.file)
