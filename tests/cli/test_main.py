"""The command as a whole: help, exit codes, what goes to which stream."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from recordmill import __version__
from recordmill.cli.main import COMMANDS
from tests.cli.conftest import Done

NAMES = ("pack", "info", "head", "index", "verify", "demo")
COMMAND = [sys.executable, "-m", "recordmill"]
Run = Callable[..., Done]

NOTHING_HEAVY = """
import contextlib, io, sys
from recordmill.cli.main import main
with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
    main(sys.argv[1:])
print(*sorted({"numpy", "recordmill._core", "rich", "PIL", "recordmill.demo"} & set(sys.modules)))
"""

# Where the tests run in the background, signals that would interrupt are ignored, and children inherit that.
INTERRUPTIBLE = """
import signal, sys
from recordmill.cli.main import main
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.exit(main(sys.argv[1:]))
"""


def test_commands_when_listed_then_are_those_of_the_documentation() -> None:
    assert tuple(module.__name__.rpartition(".")[2] for module in COMMANDS) == NAMES


def test_help_when_asked_for_then_lists_every_command_on_standard_output(run: Run) -> None:
    done = run("--help")
    assert done.code == 0 and done.err == ""
    assert all(f"\n    {name} " in done.out for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_help_of_a_command_when_asked_for_then_explains_it_and_offers_json(run: Run, name: str) -> None:
    done = run(name, "--help")
    assert done.code == 0 and done.err == ""
    assert done.out.startswith(f"usage: recordmill {name}") and "--json" in done.out


@pytest.mark.parametrize("name", NAMES)
def test_help_of_a_command_when_asked_for_then_loads_nothing_heavy(name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", NOTHING_HEAVY, name, "--help"], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == ""


def test_version_when_asked_for_then_is_printed(run: Run) -> None:
    assert run("--version").out == f"recordmill {__version__}\n"


@pytest.mark.parametrize(
    "arguments", [[], ["unknown"], ["info"], ["info", "--nonsense", "x"], ["head", "-n", "0", "x"]]
)
def test_arguments_when_wrong_then_usage_on_standard_error_and_exit_code_2(run: Run, arguments: list[str]) -> None:
    done = run(*arguments)
    assert done.code == 2 and done.out == ""
    assert "usage: recordmill" in done.err


@pytest.mark.parametrize("name", ["info", "head", "index", "verify"])
def test_shard_when_missing_then_error_names_it_and_exit_code_2(run: Run, tmp_path: Path, name: str) -> None:
    done = run(name, tmp_path / "none")
    assert done.code == 2 and done.out == ""
    assert done.err == f"error: no shard has this name: {tmp_path / 'none'}\n"


def test_error_when_it_has_place_and_hint_then_each_has_its_line(run: Run, shards: Path) -> None:
    done = run("head", "--format", "recordio", shards)
    assert done.code == 2 and done.out == ""
    message, place, hint = done.err.splitlines()
    assert message == "error: the shard does not have the declared format (expected recordio, found tfrecord)"
    assert place == f"  shard '{shards / 'train-00000-of-00002.tfrecord'}'"
    assert hint == "hint: omit --format to detect it, or use --format tfrecord"


def test_error_when_a_traceback_is_wanted_then_comes_with_one(
    run: Run, shards: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "Traceback" not in run("head", "--format", "recordio", shards).err
    monkeypatch.setenv("RECORDMILL_TRACEBACK", "1")
    done = run("head", "--format", "recordio", shards)
    assert done.code == 2 and "Traceback" in done.err and "\nhint: " in done.err


def test_exception_when_not_expected_then_shows_where_and_exit_code_2(
    run: Run, shards: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise KeyError("oops")

    monkeypatch.setattr("recordmill.info", broken, raising=False)
    done = run("info", shards)
    assert done.code == 2 and "Traceback" in done.err and "please report it" in done.err


def test_interrupt_when_it_comes_then_exit_code_130_and_one_line(
    run: Run, shards: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("recordmill.info", interrupted, raising=False)
    done = run("info", shards)
    assert (done.code, done.out, done.err) == (130, "", "interrupted\n")


def test_reader_of_the_output_when_it_stops_then_the_command_ends_quietly(shards: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as closed:
        done = subprocess.run([*COMMAND, "head", str(shards)], stdout=closed, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 141 and done.stderr == b""


def test_command_when_started_as_a_process_then_exit_code_is_the_commands(shards: Path, cut: Path) -> None:
    sound = subprocess.run([*COMMAND, "verify", str(shards)], capture_output=True, text=True, check=False)
    assert sound.returncode == 0 and sound.stderr == "" and "no faults" in sound.stdout
    faulty = subprocess.run([*COMMAND, "verify", str(cut)], capture_output=True, text=True, check=False)
    assert faulty.returncode == 1 and faulty.stderr == "" and "truncated_payload" in faulty.stdout


def test_process_when_interrupted_by_a_signal_then_exit_code_130(tmp_path: Path) -> None:
    fifo = tmp_path / "names.txt"
    os.mkfifo(fifo)
    arguments = [sys.executable, "-c", INTERRUPTIBLE, "pack", str(fifo), str(tmp_path / "out"), "--source", "labels"]
    with subprocess.Popen(arguments, stderr=subprocess.PIPE, text=True) as process:
        writing = os.open(fifo, os.O_WRONLY)  # returns once the command waits for the label file
        time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        os.close(writing)
    assert process.returncode == 130 and err == "interrupted\n"


def test_streams_when_the_caller_closed_them_then_nothing_else_fails_or_gets_their_lines(shards: Path) -> None:
    command = [*COMMAND, "info", str(shards)]
    closed = subprocess.run(["sh", "-c", '"$@" >&-', "sh", *command], capture_output=True, text=True, check=False)
    assert (closed.returncode, closed.stderr) == (0, "")
    lost = subprocess.run(["sh", "-c", '"$@" 2>&-', "sh", *command, "missing"], capture_output=True, check=False)
    assert (lost.returncode, lost.stdout) == (2, b"")
