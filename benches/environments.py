"""Virtual environments of the contenders, which are created on first use; the contenders pin versions."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path

# Packages that contain the photographs and digits, and OpenCV, which crops and encodes them.
DATA = (
    "scikit-image==0.26.0",
    "scikit-learn==1.9.1",
    "matplotlib==3.11.2",
    "opencv-python-headless==5.0.0.93",
    "numpy==2.4.6",
)
_LIST = "import importlib.metadata as m, json; print(json.dumps({d.name: d.version for d in m.distributions()}))"


class UnavailableError(Exception):
    """An environment cannot be created on this machine."""


def home() -> Path:
    """Return the folder of the environments: ``$RECORDMILL_BENCH_HOME``, else ``~/.cache/recordmill-bench``."""
    return Path(os.environ.get("RECORDMILL_BENCH_HOME") or Path.home() / ".cache" / "recordmill-bench")


def interpreter(name: str, requirements: Sequence[str], built: Sequence[str] = ()) -> str:
    """Return the interpreter of an environment; create it, and install missing packages.

    Parameters
    ----------
    name : str
        Name of the environment; "" is that of this process.
    requirements : sequence of str
        Packages as ``name==version``, or as ``name`` for any version.
    built : sequence of str
        Packages that are compiled against the ones installed before.

    Returns
    -------
    str

    Raises
    ------
    UnavailableError
        If packages cannot be installed.
    """
    if not name:
        return sys.executable
    folder = home() / name
    python = folder / "bin" / "python"
    if not python.exists():
        venv.EnvBuilder(symlinks=True).create(folder)
    if not _are_installed(str(python), requirements):
        _install(str(python), requirements)
    if not _are_installed(str(python), built):
        _install(str(python), ["--no-build-isolation", *built])
    return str(python)


def _are_installed(python: str, requirements: Sequence[str]) -> bool:
    listed = subprocess.run([python, "-c", _LIST], capture_output=True, text=True, check=True).stdout
    found = {_normalize_name(name): version for name, version in json.loads(listed).items()}
    for name, _, version in (requirement.partition("==") for requirement in requirements):
        # Builds for specific hardware have a local version label, such as 2.13.0+cpu.
        if _normalize_name(name) not in found or version not in ("", found[_normalize_name(name)].partition("+")[0]):
            return False
    return True


def _normalize_name(name: str) -> str:
    return name.lower().replace("_", "-")


def _install(python: str, requirements: Sequence[str]) -> None:
    """Install with the pip of this process, which knows the index and certificates from its own configuration."""
    print(f"installing {', '.join(requirements)}", file=sys.stderr)
    command = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", *requirements]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = done.stderr.strip().splitlines()
        raise UnavailableError(lines[-1] if lines else f"pip exited with code {done.returncode}")
