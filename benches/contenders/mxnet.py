"""MXNet's im2rec.py with two workers; its start-up time of one to two seconds is included, as for users."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from benches import wire
from benches.jobs import Job

ENVIRONMENT = "mxnet"
# Older wheels of OpenCV encode JPEG without SIMD.
REQUIREMENTS = ("mxnet==1.9.1", "numpy==1.23.5", "opencv-python-headless==4.11.0.86")
VARIANTS = {"P1a": ("im2rec",), "P1b": ("im2rec",)}


def prepare(job: Job) -> None:
    """Write the list file of the images."""
    job.write_list_file()


def load(_: Job) -> None:
    """Do nothing, because the tool runs in its own process."""


def run(job: Job) -> Iterator[tuple[int, Any]]:
    """Run the task once; yield item counts and results."""
    shutil.copy(job.list_file, os.path.join(job.out, "photos.lst"))
    found = subprocess.run(
        [sys.executable, "-c", "import mxnet; print(mxnet.__path__[0])"], capture_output=True, text=True, check=True
    )
    tool = os.path.join(found.stdout.strip(), "tools", "im2rec.py")
    options = ["--pass-through"] if job.task_name != "P1b" else ["--quality", "95"]
    command = [sys.executable, tool, os.path.join(job.out, "photos"), job.data, "--num-thread", "2", *options]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    yield len(job.rows()), None


def images(job: Job) -> Iterator[tuple[bytes, int]]:
    """Yield images and labels from the packed files."""
    return map(wire.recordio_image, wire.recordio_payloads(os.path.join(job.out, "photos.rec")))
