"""Makes an environment with a real framework in it: python environments.py tensorflow|tfrecord|mxnet|oneflow.

"numpy" is one for the tests themselves, with the oldest NumPy. Prints the path of its interpreter; with --json,
{"python": path, "packages": [...]}. The environments stay under $RECORDMILL_FRAMEWORKS (default
~/.cache/recordmill-frameworks) and are used again. Needs uv and the package registry; OneFlow needs CPython 3.10
(exit status 3 if there is none). OneFlow's CUDA libraries need no setting from outside: the scripts here find them by
themselves (recipes/oneflow_runtime.py).
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PACKAGES = {
    "tensorflow": ["tensorflow-cpu==2.21.0", "protobuf==7.36.2", "numpy==2.4.6"],
    "tfrecord": ["tfrecord==1.14.6", "protobuf==7.36.2", "numpy==2.4.6"],
    "mxnet": ["mxnet==1.9.1", "numpy==1.23.5", "opencv-python-headless==4.7.0.72"],
    "oneflow": [
        "oneflow==0.9.0",
        "numpy==1.23.5",
        "protobuf==3.20.3",
        "opencv-python-headless==4.7.0.72",
        "pillow==12.3.0",
        "six==1.17.0",
        "nvidia-cudnn-cu11==8.9.6.50",
        "nvidia-cublas-cu11==11.11.3.6",
    ],
    "numpy": [
        "numpy==1.26.0",
        "pillow==13.0.0",
        "protobuf==7.36.2",
        "pytest==9.2.0",
        "pytest-timeout==2.4.0",
        "hypothesis==6.170.15",
        "sybil==10.1.0",
    ],
}
PYTHON = {"tensorflow": "3.11", "tfrecord": "3.11", "mxnet": "3.11", "oneflow": "3.10", "numpy": "3.11"}
NO_PYTHON = 3


def cache_folder() -> Path:
    """Return the folder of the environments."""
    return Path(os.environ.get("RECORDMILL_FRAMEWORKS") or Path.home() / ".cache" / "recordmill-frameworks")


def find_uv() -> str:
    """Return uv: beside this interpreter, or on the path."""
    beside = Path(sys.executable).parent / "uv"
    found = str(beside) if beside.exists() else shutil.which("uv")
    if not found:
        sys.exit("uv is needed to make the environments of the frameworks: pip install uv")
    return found


def find_python(uv: str, version: str) -> str:
    """Return an interpreter of that version: uv's choice, or the newest of pyenv."""
    asked = subprocess.run([uv, "python", "find", "--system", version], capture_output=True, text=True, check=False)
    if asked.returncode == 0 and works(asked.stdout.strip()):
        return asked.stdout.strip()
    for path in sorted(Path.home().glob(f".pyenv/versions/{version}*/bin/python"), reverse=True):
        if works(str(path)):
            return str(path)
    print(f"CPython {version} is needed and was not found, neither by uv nor under ~/.pyenv/versions", file=sys.stderr)
    sys.exit(NO_PYTHON)


def works(python: str) -> bool:
    """Return whether the interpreter runs."""
    return subprocess.run([python, "-c", ""], capture_output=True, check=False).returncode == 0


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock of an environment, so that two test runs do not make it at once."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def environment(name: str) -> str:
    """Return the interpreter of the framework's environment, which is made if it is not whole."""
    folder = cache_folder() / name
    python, stamp = folder / "bin" / "python", folder / "packages.json"
    with locked(cache_folder() / f"{name}.lock"):
        wanted = json.dumps(PACKAGES[name])
        if not (stamp.exists() and stamp.read_text() == wanted and works(str(python))):
            uv = find_uv()
            base = find_python(uv, PYTHON[name])
            shutil.rmtree(folder, ignore_errors=True)
            run([uv, "venv", "--quiet", "--python", base, str(folder)])
            run([uv, "pip", "install", "--quiet", "--python", str(python), *PACKAGES[name]])
            stamp.write_text(wanted)
    return str(python)


def run(command: list[str]) -> None:
    """Run a command whose output goes to the standard error stream."""
    print(" ".join(command), file=sys.stderr)
    subprocess.run(command, check=True, stdout=sys.stderr)


def main() -> None:
    """Make the environment named on the command line and print its interpreter."""
    parser = argparse.ArgumentParser(description="Make an environment with a real framework in it.")
    parser.add_argument("name", choices=sorted(PACKAGES))
    parser.add_argument("--json", action="store_true", help="print the interpreter and the packages as JSON")
    arguments = parser.parse_args()
    python = environment(arguments.name)
    print(json.dumps({"python": python, "packages": PACKAGES[arguments.name]}) if arguments.json else python)


if __name__ == "__main__":
    main()
