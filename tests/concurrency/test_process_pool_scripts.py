"""Worker processes end with their script, however it ends, and print nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import recordmill as rm
from tests.concurrency.helpers import child_processes, is_running, run_script, running_script, wait_until

ROOT = str(Path(__file__).parents[2])

BEGINNING = f"""
import os, sys, time
sys.path.insert(0, {ROOT!r})
import numpy as np
from functools import partial
from recordmill.concurrency.process_pool import ProcessPool
from tests.concurrency import tasks

def doubled(task):
    return np.arange(task * 10_000) * 2
"""
SLOW = (
    BEGINNING
    + """
if __name__ == "__main__":
    pool = ProcessPool(partial(tasks.hang, os.path.dirname(__file__)), 2)
    pool.submit(9)
    assert (pool.result(0), pool.result(1)) == (0, 1)
    if sys.argv[0].endswith("copied.py") and os.fork() == 0:
        time.sleep(10_000)
    try:
        print("ready", flush=True)
        pool.result(2)
    except KeyboardInterrupt:
        pool.close(timeout=0)
        print("closed")
"""
)


def ready(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None and process.stdout.readline() == "ready\n"


@pytest.mark.parametrize("name", ["script.py", "copied.py"])
def test_workers_end_when_the_consumer_is_killed(name: str, tmp_path: Path) -> None:
    with running_script(SLOW, tmp_path, name=name) as process:
        ready(process)
        assert wait_until((tmp_path / "hangs").exists)
        everyone = child_processes(process.pid)
        assert len(everyone) == (3 if name == "copied.py" else 2)
        workers = [one for one in everyone if b"concurrency.worker_main" in Path(f"/proc/{one}/cmdline").read_bytes()]
        assert len(workers) == 2
        process.kill()
        assert wait_until(lambda: not any(map(is_running, workers)))
        for one in set(everyone) - set(workers):
            os.kill(one, signal.SIGKILL)


def test_workers_end_silently_after_ctrl_c(tmp_path: Path) -> None:
    with running_script(SLOW, tmp_path) as process:
        ready(process)
        assert wait_until((tmp_path / "hangs").exists)
        workers = child_processes(process.pid)
        for one in (*workers, process.pid):  # as a terminal does
            os.kill(one, signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, "closed\n", "")
    assert not any(map(is_running, workers))


def test_script_that_ends_early_ends_cleanly(tmp_path: Path) -> None:
    text = (
        BEGINNING
        + """
if __name__ == "__main__":
    pool = ProcessPool(doubled, 2)
    pool.submit(500)
    for task in range(4):
        assert np.array_equal(pool.result(task), doubled(task))
    printing = ProcessPool(tasks.print_task, 1)
    printing.submit(2)
    printing.result(1)
    from tests.concurrency.helpers import child_processes
    print(*child_processes())
"""
    )
    done = run_script(text, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    *printed, workers = done.stdout.splitlines()
    assert printed == ["task 0", "task 1"]
    assert len(workers.split()) == 3 and not any(is_running(int(one)) for one in workers.split())


def test_script_without_main_guard_gets_a_hint(tmp_path: Path) -> None:
    text = BEGINNING + "pool = ProcessPool(doubled, 2)\npool.submit(3)\nprint(pool.result(1))\n"
    done = run_script(text, tmp_path)
    assert done.returncode == 1 and done.stdout == ""
    last = done.stderr.strip().splitlines()[-2:]
    assert "WorkerError: a worker process could not start" in last[0]
    assert "if __name__ == " in last[1] and "hint" in last[1]


@pytest.mark.deep
def test_command_line_script_uses_functions_of_modules_only(tmp_path: Path) -> None:
    text = BEGINNING.replace("def doubled", "def other") + (
        "pool = ProcessPool(tasks.return_process_id, 1); pool.submit(1)\n"
        "assert pool.result(0) != os.getpid(); pool.close()\n"
        "pool = ProcessPool(other, 1); pool.submit(1)\n"
        "try: pool.result(0)\n"
        "except Exception as error: print(type(error).__name__, error.hint)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, cwd=tmp_path, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("WorkerError each worker process imports the functions") and "file" in done.stdout


NOTEBOOK = """
import sys, types
import recordmill as rm

main = sys.modules["__main__"]
del main.__file__
exec("def doubled(sample): return sample", main.__dict__)
try:
    list(rm.open({path!r}).map(doubled, workers="processes").loader(threads=1))
except rm.WorkerError as error:
    print(error)
"""


def test_notebook_function_gets_a_hint(tmp_path: Path) -> None:
    with rm.ShardWriter(tmp_path / "numbers.tfrecord") as writer:
        writer.write({"id": 1})
    done = run_script(NOTEBOOK.format(path=str(tmp_path / "numbers.tfrecord")), tmp_path)
    assert "could not start: AttributeError: Can't get attribute 'doubled'" in done.stdout, done.stderr
    assert "a notebook into a module" in done.stdout
