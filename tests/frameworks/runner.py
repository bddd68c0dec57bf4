"""Run a program with an original framework, and with recordmill after replacing its import lines."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

RECORDINGS = Path(__file__).parents[1] / "recordings"


def find_interpreter(framework: str) -> str:
    """Return the interpreter of an environment with an original framework; create the environment if it is missing."""
    command = [sys.executable, str(RECORDINGS / "environments.py"), framework]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout.strip()


def replace_imports(source: str, lines: dict[str, str]) -> str:
    """Return a program with other import lines; each must occur exactly once."""
    for line, replacement in lines.items():
        assert source.count(f"{line}\n") == 1, line
        source = source.replace(f"{line}\n", f"{replacement}\n")
    return source


def run_program(interpreter: str, source: str, folder: Path) -> list[str]:
    """Run a program in a new folder with the default backend of Keras, and return the lines that it prints."""
    folder.mkdir()
    (folder / "program.py").write_text(source)
    command = [interpreter, "-W", "ignore", "program.py"]
    environment = {name: value for name, value in os.environ.items() if name != "KERAS_BACKEND"}
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, env=environment)
    assert result.returncode == 0, result.stderr[-4000:]
    return result.stdout.splitlines()
