"""Programs for TensorFlow, run with TensorFlow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benches.contenders.ours_programs import arrays, columns, images
from benches.contenders.tensorflow import ENVIRONMENT, REQUIREMENTS, SETTINGS
from benches.jobs import Job
from benches.programs import for_tensorflow
from benches.tasks.programs import AS_WRITTEN, AUTOTUNE, IN_SEQUENCE

LABEL = "tensorflow"
__all__ = ["ENVIRONMENT", "REQUIREMENTS", "SETTINGS", "arrays", "columns", "images"]
VARIANTS = {
    "tf-photos": (AS_WRITTEN, IN_SEQUENCE, AUTOTUNE),
    **{name: ("",) for name in for_tensorflow.PROGRAMS if name != "tf-photos"},
}


def prepare(_: Job) -> None:
    """Do nothing, because the contender reads the datasets as they are."""


def load(_: Job) -> None:
    """Import the framework before the time is measured."""
    import tensorflow as tf

    tf.train.Example()


def run(job: Job) -> Iterator[tuple[int, Any]]:
    """Run the program; yield item counts and results."""
    import tensorflow as tf

    yield from for_tensorflow.PROGRAMS[job.task_name](tf, job)
