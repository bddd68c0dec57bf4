"""recordmill's pipeline from shards of images to batches."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from benches.jobs import Job
from benches.tasks.images import AS_THEY_ARE, LIKE_FAST, LIKE_FUSED, WITH_POINTS

LABEL = "ours"
ENVIRONMENT = ""
REQUIREMENTS = ("recordmill", "numpy")
IN_FILE_ORDER = "file order"
_FORMS = (AS_THEY_ARE, WITH_POINTS, LIKE_FUSED, LIKE_FAST)
# Image options by variant. The defaults are antialiasing and the accurate inverse DCT, as in Pillow.
_LIKE: dict[str, dict[str, Any]] = {
    LIKE_FUSED: {"kernel": "tensorflow:bilinear", "dct": "fast"},
    LIKE_FAST: {"kernel": "tensorflow:bilinear", "dct": "fast", "upsampling": "plain"},
}
VARIANTS = {
    "P4a": _FORMS,
    "P4b": _FORMS,
    "P4c": _FORMS,
    "P4-large": _FORMS,
    "P4-progressive": ("",),
    "P4-threads": ("1 thread", "2 threads"),
    "P5": ("",),
    "P5-arrays": ("",),
    "sorted": (IN_FILE_ORDER, "shuffled"),
    "P6a": ("",),
}
THREADS, PREFETCH = 2, 2
# Batches in the worker threads, finished batches, and the batch of the consumer.
BATCHES_IN_FLIGHT = THREADS + PREFETCH + 1


def prepare(job: Job) -> None:
    """Index the shards; with entry points, in a folder of links, so that other variants do not use them."""
    import recordmill as rm

    if job.variant != WITH_POINTS:
        rm.build_index(job.shards)
        return
    folder = job.empty_out()
    for path in job.shards:
        os.symlink(path, os.path.join(folder, os.path.basename(path)))
    rm.build_index(_shards(job), entry_points="image")


def _shards(job: Job) -> list[str]:
    if job.variant != WITH_POINTS:
        return job.shards
    return [os.path.join(job.out, os.path.basename(path)) for path in job.shards]


def spec_of(job: Job) -> Any:
    """Return the spec of the task's images.

    Parameters
    ----------
    job : Job

    Returns
    -------
    recordmill.Image or recordmill.Raw
    """
    import recordmill as rm

    normal = {"mean": rm.IMAGENET_MEAN, "std": rm.IMAGENET_STD}
    like = _LIKE.get(job.variant, {})
    if job.task.recipe == "crop":
        return rm.Image(crop=rm.RandomResizedCrop(224), flip=True, **normal, **like)
    if job.task.recipe == "crop-uint8":
        return rm.Image(crop=rm.RandomResizedCrop(224), flip=True, dtype="uint8", **like)
    if job.task.recipe == "center":
        return rm.Image(resize=rm.Resize(shorter=256), crop=rm.CenterCrop(224), **normal, **like)
    if job.task.recipe == "digit":
        return rm.Image(channels="gray", dtype="float32")
    return rm.Raw("uint8", (28, 28), cast="float32", scale=1 / 255)


def dataset_of(job: Job) -> Any:
    """Return the pipeline of the task's batches.

    Parameters
    ----------
    job : Job

    Returns
    -------
    recordmill.Dataset
    """
    import recordmill as rm

    last = "keep" if job.is_check_pass else "drop"
    dataset = rm.open(_shards(job))
    if job.variant != IN_FILE_ORDER:
        dataset = dataset.shuffle(seed=1)
    return dataset.decode(image=spec_of(job)).batch(job.num_records, last=last)


def loader_of(job: Job) -> Any:
    """Return the loader of the task's batches.

    Parameters
    ----------
    job : Job

    Returns
    -------
    recordmill.Loader
    """
    return dataset_of(job).loader(threads=1 if job.variant == "1 thread" else THREADS, prefetch=PREFETCH)


def run(job: Job) -> Iterator[tuple[int, Any]]:
    """Yield batches of one epoch after another; of a single epoch in the check pass."""
    return epochs(job, loader_of(job))


def epochs(job: Job, loader: Any) -> Iterator[tuple[int, Any]]:
    """Yield the batches of a loader, one epoch after another; of a single epoch in the check pass.

    Parameters
    ----------
    job : Job
    loader : recordmill.Loader

    Yields
    ------
    int
        Number of samples of the batch.
    dict
    """
    while True:
        for batch in loader:
            yield len(batch["label"]), batch
        if job.is_check_pass:
            return


def arrays(_: Job, delivered: Any) -> tuple[Any, Any]:
    """Return images and labels of a batch."""
    return delivered["image"], delivered["label"]
