"""Crews of processes in scripts that end in any way: their workers end too, and leave nothing on the screen."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import recordmill as rm
from tests.pipeline.crews import children, is_running, run_script, script, until

ROOT = str(Path(__file__).parents[2])

BEGINNING = f"""
import os, sys, time
sys.path.insert(0, {ROOT!r})
import numpy as np
from functools import partial
from recordmill.pipeline.crew.processes import ProcessCrew
from tests.pipeline import made

def doubled(place):
    return np.arange(place * 10_000) * 2
"""
SLOW = (
    BEGINNING
    + """
if __name__ == "__main__":
    crew = ProcessCrew(partial(made.hang, os.path.dirname(__file__)), 2)
    crew.order(9)
    assert (crew.take(0), crew.take(1)) == (0, 1)
    if sys.argv[0].endswith("copied.py") and os.fork() == 0:
        time.sleep(10_000)
    try:
        print("ready", flush=True)
        crew.take(2)
    except KeyboardInterrupt:
        crew.dismiss(timeout=0)
        print("dismissed")
"""
)


def ready(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None and process.stdout.readline() == "ready\n"


@pytest.mark.parametrize("name", ["script.py", "copied.py"])
def test_consumer_when_killed_then_its_workers_end_even_those_that_hang(name: str, tmp_path: Path) -> None:
    with script(SLOW, tmp_path, name=name) as process:
        ready(process)
        assert until((tmp_path / "hangs").exists)
        everyone = children(process.pid)
        assert len(everyone) == (3 if name == "copied.py" else 2)
        workers = [one for one in everyone if b"crew.worker" in Path(f"/proc/{one}/cmdline").read_bytes()]
        assert len(workers) == 2
        process.kill()
        assert until(lambda: not any(map(is_running, workers)))
        for one in set(everyone) - set(workers):
            os.kill(one, signal.SIGKILL)


def test_script_when_interrupted_then_workers_say_nothing_and_end(tmp_path: Path) -> None:
    with script(SLOW, tmp_path) as process:
        ready(process)
        assert until((tmp_path / "hangs").exists)
        workers = children(process.pid)
        for one in (*workers, process.pid):  # as a terminal does
            os.kill(one, signal.SIGINT)
        out, err = process.communicate(timeout=60)
    assert (process.returncode, out, err) == (0, "dismissed\n", "")
    assert not any(map(is_running, workers))


def test_script_when_it_ends_in_the_middle_then_ends_well(tmp_path: Path) -> None:
    text = (
        BEGINNING
        + """
if __name__ == "__main__":
    crew = ProcessCrew(doubled, 2)
    crew.order(500)
    for place in range(4):
        assert np.array_equal(crew.take(place), doubled(place))
    printing = ProcessCrew(made.prints, 1)
    printing.order(2)
    printing.take(1)
    from tests.pipeline.crews import children
    print(*children())
"""
    )
    done = run_script(text, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    *printed, workers = done.stdout.splitlines()
    assert printed == ["made 0", "made 1"]
    assert len(workers.split()) == 3 and not any(is_running(int(one)) for one in workers.split())


def test_script_when_it_has_no_guard_then_the_error_says_so(tmp_path: Path) -> None:
    text = BEGINNING + "crew = ProcessCrew(doubled, 2)\ncrew.order(3)\nprint(crew.take(1))\n"
    done = run_script(text, tmp_path)
    assert done.returncode == 1 and done.stdout == ""
    last = done.stderr.strip().splitlines()[-2:]
    assert "WorkerError: a worker process could not start" in last[0]
    assert "if __name__ == " in last[1] and "hint" in last[1]


@pytest.mark.deep
def test_script_when_given_on_the_command_line_then_uses_what_modules_hold(tmp_path: Path) -> None:
    text = BEGINNING.replace("def doubled", "def other") + (
        "crew = ProcessCrew(made.pid, 1); crew.order(1); assert crew.take(0) != os.getpid(); crew.dismiss()\n"
        "crew = ProcessCrew(other, 1); crew.order(1)\n"
        "try: crew.take(0)\n"
        "except Exception as error: print(type(error).__name__, error.hint)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, cwd=tmp_path, timeout=60, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("WorkerError it imports anew what the work needs") and "file" in done.stdout


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


def test_function_when_of_a_notebook_then_the_error_tells_what_to_do(tmp_path: Path) -> None:
    with rm.ShardWriter(tmp_path / "numbers.tfrecord") as writer:
        writer.write({"id": 1})
    done = run_script(NOTEBOOK.format(path=str(tmp_path / "numbers.tfrecord")), tmp_path)
    assert "could not start: AttributeError: Can't get attribute 'doubled'" in done.stdout, done.stderr
    assert "a notebook go into a module" in done.stdout
