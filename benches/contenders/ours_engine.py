"""recordmill's decoders and resize alone, without Python: the speed examples of the crate recordmill-image."""

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
_WORDS = {
    "image-whole": {"": ("jpeg_speed", "plain")},
    "image-windows": {AS_THEY_ARE: ("jpeg_speed", "plain"), WITH_POINTS: ("jpeg_speed", "entry")},
    "image-progressive": {"": ("jpeg_speed", "plain")},
    "image-png-digits": {"": ("png_speed", "ours")},
    "image-png-photos": {"": ("png_speed", "ours")},
    "image-resize": {
        name: ("resize_speed", "taps" if name.startswith("two") else "pillow", name[-4:].lower()) for name in RESIZES
    },
}
VARIANTS = {task: tuple(words) for task, words in _WORDS.items()}


def build() -> None:
    """Build the examples in release mode; cargo knows whether there is something to do."""
    command = ["cargo", "build", "--quiet", "--release", "--locked", "--package", "recordmill-image", "--examples"]
    subprocess.run(command, cwd=ROOT, check=True)


def example(name: str) -> str:
    """Path of a built example.

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
    """Build the examples, and write the list of what is decoded."""
    build()
    write_list(job)


def _command(job: Job) -> list[str]:
    name, *words = _WORDS[job.task_name][job.variant]
    return [example(name), list_file(job), *words]


def run(job: Job) -> Iterator[tuple[int, Any]]:
    """Work for ever in a process of the same group."""
    yield from counts(_command(job))


def counts(command: list[str]) -> Iterator[tuple[int, None]]:
    """Numbers that an example prints.

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
    raise RuntimeError(f"{command[0]} ended with {process.returncode}")


def checked(job: Job) -> dict[str, Any]:
    """Digest of the pixels."""
    return digest(_command(job))


def digest(command: list[str]) -> dict[str, Any]:
    """Digest that an example prints.

    Parameters
    ----------
    command : list of str

    Returns
    -------
    dict
    """
    count, total = subprocess.run([*command, "digest"], capture_output=True, text=True, check=True).stdout.split()
    return {"count": int(count), "sum": total}
