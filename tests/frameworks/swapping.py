"""Runs one program under a real framework and under ours, with other import lines."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

RECORDINGS = Path(__file__).parents[1] / "recordings"


def interpreter_of(framework: str) -> str:
    """Make the environment of a real framework, or find it, and return its interpreter."""
    command = [sys.executable, str(RECORDINGS / "environments.py"), framework]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stdout + made.stderr
    return made.stdout.strip()


def swapped(source: str, lines: dict[str, str]) -> str:
    """Return a program with other import lines; each must stand in it once."""
    for line, ours in lines.items():
        assert source.count(f"{line}\n") == 1, line
        source = source.replace(f"{line}\n", f"{ours}\n")
    return source


def run(interpreter: str, source: str, folder: Path) -> list[str]:
    """Return the lines that a program prints, run in a new folder with the backend of Keras that is its own."""
    folder.mkdir()
    (folder / "program.py").write_text(source)
    command = [interpreter, "-W", "ignore", "program.py"]
    environment = {name: value for name, value in os.environ.items() if name != "KERAS_BACKEND"}
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stdout.splitlines()
