"""Help, exit codes and output streams of the command line."""

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
from tests.cli.conftest import Result

NAMES = (
    "pack",
    "convert",
    "split",
    "export",
    "info",
    "count",
    "head",
    "show",
    "view",
    "cat",
    "diff",
    "index",
    "verify",
    "salvage",
    "repair",
    "demo",
)
COMMAND = [sys.executable, "-m", "recordmill"]
Run = Callable[..., Result]

PRINT_HEAVY_MODULES = """
import contextlib, io, sys
from recordmill.cli.main import main
with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
    main(sys.argv[1:])
print(*sorted({"numpy", "recordmill._core", "rich", "PIL", "recordmill.demo"} & set(sys.modules)))
"""

# A shell ignores SIGINT in background jobs, and child processes inherit that; the default handler is restored here.
INTERRUPTIBLE = """
import signal, sys
from recordmill.cli.main import main
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.exit(main(sys.argv[1:]))
"""


def test_commands_are_those_of_the_documentation() -> None:
    assert tuple(module.__name__.rpartition(".")[2] for module in COMMANDS) == NAMES


def test_help_lists_all_commands_on_standard_output(run: Run) -> None:
    result = run("--help")
    assert result.code == 0 and result.err == ""
    assert all(f"\n    {name} " in result.out for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_command_help_shows_usage_and_json_option(run: Run, name: str) -> None:
    result = run(name, "--help")
    assert result.code == 0 and result.err == ""
    assert result.out.startswith(f"usage: recordmill {name}") and "--json" in result.out


@pytest.mark.parametrize("name", NAMES)
def test_command_help_imports_no_heavy_modules(name: str) -> None:
    result = subprocess.run(
        [sys.executable, "-c", PRINT_HEAVY_MODULES, name, "--help"], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == ""


def test_version_is_printed(run: Run) -> None:
    assert run("--version").out == f"recordmill {__version__}\n"


@pytest.mark.parametrize(
    "arguments", [[], ["unknown"], ["info"], ["info", "--nonsense", "x"], ["head", "-n", "0", "x"]]
)
def test_invalid_arguments_print_usage_and_exit_with_2(run: Run, arguments: list[str]) -> None:
    result = run(*arguments)
    assert result.code == 2 and result.out == ""
    assert "usage: recordmill" in result.err


@pytest.mark.parametrize("name", ["info", "head", "index", "verify"])
def test_missing_shard_is_named_and_exits_with_2(run: Run, tmp_path: Path, name: str) -> None:
    result = run(name, tmp_path / "none")
    assert result.code == 2 and result.out == ""
    assert result.err == f"error: no shard has this name: {tmp_path / 'none'}\n"


@pytest.mark.parametrize("name", ["info", "head", "index", "verify"])
def test_address_of_unknown_scheme_exits_with_2(run: Run, name: str) -> None:
    result = run(name, "hdfs://host/train-*")
    assert result.code == 2 and result.out == ""
    assert result.err.startswith("error: addresses with the scheme 'hdfs' are not supported")


def test_error_prints_location_and_hint_on_separate_lines(run: Run, shards: Path) -> None:
    result = run("head", "--format", "recordio", shards)
    assert result.code == 2 and result.out == ""
    message, location, hint = result.err.splitlines()
    assert message == "error: the shard does not have the declared format (expected recordio, found tfrecord)"
    assert location == f"  shard '{shards / 'train-00000-of-00002.tfrecord'}'"
    assert hint == "hint: omit --format to detect it, or use --format tfrecord"


def test_traceback_variable_adds_traceback_to_error(run: Run, shards: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "Traceback" not in run("head", "--format", "recordio", shards).err
    monkeypatch.setenv("RECORDMILL_TRACEBACK", "1")
    result = run("head", "--format", "recordio", shards)
    assert result.code == 2 and "Traceback" in result.err and "\nhint: " in result.err


def test_unexpected_exception_prints_traceback_and_exits_with_2(
    run: Run, shards: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise KeyError("oops")

    monkeypatch.setattr("recordmill.info", fail, raising=False)
    result = run("info", shards)
    assert result.code == 2 and "Traceback" in result.err and "please report it" in result.err


def test_keyboard_interrupt_prints_one_line_and_exits_with_130(
    run: Run, shards: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("recordmill.info", interrupt, raising=False)
    result = run("info", shards)
    assert (result.code, result.out, result.err) == (130, "", "interrupted\n")


def test_closed_output_pipe_exits_quietly_with_141(shards: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as closed:
        result = subprocess.run([*COMMAND, "head", str(shards)], stdout=closed, stderr=subprocess.PIPE, check=False)
    assert result.returncode == 141 and result.stderr == b""


def test_process_exits_with_code_of_command(shards: Path, truncated: Path) -> None:
    sound = subprocess.run([*COMMAND, "verify", str(shards)], capture_output=True, text=True, check=False)
    assert sound.returncode == 0 and sound.stderr == "" and "no faults" in sound.stdout
    faulty = subprocess.run([*COMMAND, "verify", str(truncated)], capture_output=True, text=True, check=False)
    assert faulty.returncode == 1 and faulty.stderr == "" and "truncated_payload" in faulty.stdout


def test_interrupted_process_exits_with_130(tmp_path: Path) -> None:
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


def test_closed_standard_streams_cause_no_error(shards: Path) -> None:
    command = [*COMMAND, "info", str(shards)]
    closed = subprocess.run(["sh", "-c", '"$@" >&-', "sh", *command], capture_output=True, text=True, check=False)
    assert (closed.returncode, closed.stderr) == (0, "")
    lost = subprocess.run(["sh", "-c", '"$@" 2>&-', "sh", *command, "missing"], capture_output=True, check=False)
    assert (lost.returncode, lost.stdout) == (2, b"")
