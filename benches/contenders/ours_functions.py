"""recordmill's loader with a Python function on each sample, in threads and in processes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benches.contenders.ours_images import PREFETCH, arrays, epochs, prepare
from benches.jobs import Job
from benches.steps import framed
from benches.tasks.images import ONE_THREAD, TWO_PROCESSES, TWO_THREADS

__all__ = ["arrays", "prepare"]
LABEL = "ours"
ENVIRONMENT = ""
REQUIREMENTS = ("recordmill", "numpy")
VARIANTS = {"P5-function": (ONE_THREAD, TWO_THREADS, TWO_PROCESSES)}


def changed(sample: dict[str, Any]) -> dict[str, Any]:
    """What the function makes of a sample.

    Parameters
    ----------
    sample : dict

    Returns
    -------
    dict
    """
    return {"image": framed(sample["image"][0]), "label": sample["label"]}


def run(job: Job) -> Iterator[tuple[int, Any]]:
    """Epoch after epoch; one if results are compared."""
    import recordmill as rm

    digits = rm.open(job.shards).shuffle(seed=1).decode(image=rm.Image(channels="gray", dtype="uint8"))
    mapped = digits.map(changed, workers="processes" if job.variant == TWO_PROCESSES else "threads")
    batches = mapped.batch(job.num_records, last="keep" if job.checking else "drop")
    return epochs(job, batches.loader(threads=1 if job.variant == ONE_THREAD else 2, prefetch=PREFETCH))
