"""recordmill's decoders and resize without Python: the speed examples of the crate recordmill-image."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from typing import Any

from benches.data import ROOT
from benches.jobs import Job
from benches.tasks.images import AS_THEY_ARE, WITH_POINTS
from benches.tasks.pixels import RESIZES
from benches.windows import list_file, write_list

LABEL = "ours"
ENVIRONMENT = ""
REQUIREMENTS = ("recordmill",)
_ARGUMENTS = {
    "image-whole": {"": ("jpeg_speed", "plain")},
    "image-windows": {AS_THEY_ARE: ("jpeg_speed", "plain"), WITH_POINTS: ("jpeg_speed", "entry")},
    "image-progressive": {"": ("jpeg_speed", "plain")},
    "image-png-digits": {"": ("png_speed", "ours")},
    "image-png-photos": {"": ("png_speed", "ours")},
    "image-resize": {
        name: ("resize_speed", "taps" if name.startswith("two") else "pillow", name[-4:].lower()) for name in RESIZES
    },
}
VARIANTS = {task: tuple(words) for task, words in _ARGUMENTS.items()}


def build() -> None:
    """Build the examples in release mode, if they are not up to date."""
    command = ["cargo", "build", "--quiet", "--release", "--locked", "--package", "recordmill-image", "--examples"]
    subprocess.run(command, cwd=ROOT, check=True)


def example(name: str) -> str:
    """Return the path of a built example.

    Parameters
    ----------
    name : str

    Returns
    -------
    str
    """
    target = os.environ.get("CARGO_TARGET_DIR") or os.path.join(ROOT, "target")
    return os.path.join(target, "release", "examples", name)


def prepare(job: Job) -> None:
    """Build the examples, and write the list of the images and windows to decode."""
    build()
    write_list(job)


def _command(job: Job) -> list[str]:
    name, *words = _ARGUMENTS[job.task_name][job.variant]
    return [example(name), list_file(job), *words]


def run(job: Job) -> Iterator[tuple[int, Any]]:
    """Run the example without end in a process of the same process group."""
    yield from counts(_command(job))


def counts(command: list[str]) -> Iterator[tuple[int, None]]:
    """Run an example, and yield the item counts that it prints.

    Parameters
    ----------
    command : list of str

    Yields
    ------
    int
    None
    """
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            yield int(line), None
    raise RuntimeError(f"{command[0]} exited with code {process.returncode}")


def checked(job: Job) -> dict[str, Any]:
    """Return the digest of the decoded pixels."""
    return digest(_command(job))


def digest(command: list[str]) -> dict[str, Any]:
    """Run an example, and return the digest that it prints.

    Parameters
    ----------
    command : list of str

    Returns
    -------
    dict
    """
    count, total = subprocess.run([*command, "digest"], capture_output=True, text=True, check=True).stdout.split()
    return {"count": int(count), "sum": total}
