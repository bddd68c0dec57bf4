"""Programs for TensorFlow under TensorFlow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benches.contenders.ours_programs import arrays, columns
from benches.contenders.tensorflow import ENVIRONMENT, REQUIREMENTS, SETTINGS
from benches.jobs import Job
from benches.programs import for_tensorflow
from benches.tasks.programs import AS_WRITTEN, AUTOTUNE

LABEL = "tensorflow"
__all__ = ["ENVIRONMENT", "REQUIREMENTS", "SETTINGS", "arrays", "columns"]
VARIANTS = {"tf-photos": (AS_WRITTEN, AUTOTUNE), "tf-parse": ("",)}


def prepare(_: Job) -> None:
    """Nothing to do: it reads the data sets as they are."""


def run(job: Job) -> Iterator[tuple[int, Any]]:
    """Run the program."""
    import tensorflow as tf

    yield from (for_tensorflow.parsing if job.task_name == "tf-parse" else for_tensorflow.photographs)(tf, job)
