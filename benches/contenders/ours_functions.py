"""recordmill's loader with a Python function on each sample, in threads and in processes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benches.contenders.ours_images import PREFETCH, arrays, epochs, prepare
from benches.jobs import Job
from benches.steps import pad_and_crop
from benches.tasks.images import ONE_THREAD, TWO_PROCESSES, TWO_THREADS

__all__ = ["arrays", "prepare"]
LABEL = "ours"
ENVIRONMENT = ""
REQUIREMENTS = ("recordmill", "numpy")
VARIANTS = {"P5-function": (ONE_THREAD, TWO_THREADS, TWO_PROCESSES)}


def pad_and_crop_sample(sample: dict[str, Any]) -> dict[str, Any]:
    """Pad, crop and scale a sample; this is the measured Python function.

    Parameters
    ----------
    sample : dict

    Returns
    -------
    dict
    """
    return {"image": pad_and_crop(sample["image"][0]), "label": sample["label"]}


def run(job: Job) -> Iterator[tuple[int, Any]]:
    """Yield batches of one epoch after another; of a single epoch in the check pass."""
    import recordmill as rm

    digits = rm.open(job.shards).shuffle(seed=1).decode(image=rm.Image(channels="gray", dtype="uint8"))
    mapped = digits.map(pad_and_crop_sample, workers="processes" if job.variant == TWO_PROCESSES else "threads")
    batches = mapped.batch(job.num_records, last="keep" if job.is_check_pass else "drop")
    return epochs(job, batches.loader(threads=1 if job.variant == ONE_THREAD else 2, prefetch=PREFETCH))
