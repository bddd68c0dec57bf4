"""One virtual environment per peer, made when it is first needed; versions are pinned by the contenders."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path

# Packages that carry the photographs and digits, and OpenCV, which cuts and encodes them.
DATA = (
    "scikit-image==0.26.0",
    "scikit-learn==1.9.1",
    "matplotlib==3.11.2",
    "opencv-python-headless==5.0.0.93",
    "numpy==2.4.6",
)
_LIST = "import importlib.metadata as m, json; print(json.dumps({d.name: d.version for d in m.distributions()}))"


class UnavailableError(Exception):
    """An environment cannot be made here."""


def home() -> Path:
    """Folder of the environments: ``$RECORDMILL_BENCH_HOME``, else ``~/.cache/recordmill-bench``."""
    return Path(os.environ.get("RECORDMILL_BENCH_HOME") or Path.home() / ".cache" / "recordmill-bench")


def interpreter(name: str, requirements: Sequence[str], built: Sequence[str] = ()) -> str:
    """Interpreter of an environment, which is made if it is not there or lacks a version.

    Parameters
    ----------
    name : str
        "" for the environment that this process runs in.
    requirements : sequence of str
        ``name==version`` each; a name alone for any version.
    built : sequence of str
        The same, of packages that are compiled with what is installed by then.

    Returns
    -------
    str

    Raises
    ------
    UnavailableError
        Packages cannot be installed.
    """
    if not name:
        return sys.executable
    folder = home() / name
    python = folder / "bin" / "python"
    if not python.exists():
        venv.EnvBuilder(symlinks=True).create(folder)
    if not _fulfilled(str(python), requirements):
        _install(str(python), requirements)
    if not _fulfilled(str(python), built):
        _install(str(python), ["--no-build-isolation", *built])
    return str(python)


def _fulfilled(python: str, requirements: Sequence[str]) -> bool:
    listed = subprocess.run([python, "-c", _LIST], capture_output=True, text=True, check=True).stdout
    found = {_normal(name): version for name, version in json.loads(listed).items()}
    for name, _, version in (requirement.partition("==") for requirement in requirements):
        # A build for this machine adds a word of its own to the version: 2.13.0+cpu.
        if _normal(name) not in found or version not in ("", found[_normal(name)].partition("+")[0]):
            return False
    return True


def _normal(name: str) -> str:
    return name.lower().replace("_", "-")


def _install(python: str, requirements: Sequence[str]) -> None:
    """Install with the pip of this process, which knows the index and certificates from its own configuration."""
    print(f"installing {', '.join(requirements)}", file=sys.stderr)
    command = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", *requirements]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        raise UnavailableError(lines[-1] if lines else f"pip ended with {done.returncode}")
