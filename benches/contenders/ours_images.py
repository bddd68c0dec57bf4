"""recordmill's pipeline from shards of images to batches, through its public names."""

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
# Options of an image by variant; without any, it is antialiased and has the accurate transform, as in Pillow.
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
# One in each thread, those that are ready, and the one that was delivered.
BATCHES_IN_FLIGHT = THREADS + PREFETCH + 1


def prepare(job: Job) -> None:
    """Index the shards; for row entry points, links to them with tables beside them, which are nobody else's."""
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
    """Spec of the task's images.

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
    """Pipeline of the task's batches.

    Parameters
    ----------
    job : Job

    Returns
    -------
    recordmill.Dataset
    """
    import recordmill as rm

    last = "keep" if job.checking else "drop"
    dataset = rm.open(_shards(job))
    if job.variant != IN_FILE_ORDER:
        dataset = dataset.shuffle(seed=1)
    return dataset.decode(image=spec_of(job)).batch(job.num_records, last=last)


def loader_of(job: Job) -> Any:
    """Loader of the task's batches.

    Parameters
    ----------
    job : Job

    Returns
    -------
    recordmill.Loader
    """
    return dataset_of(job).loader(threads=1 if job.variant == "1 thread" else THREADS, prefetch=PREFETCH)


def run(job: Job) -> Iterator[tuple[int, Any]]:
    """Epoch after epoch; one if results are compared."""
    return epochs(job, loader_of(job))


def epochs(job: Job, loader: Any) -> Iterator[tuple[int, Any]]:
    """Batches of a loader, epoch after epoch; of one epoch if results are compared.

    Parameters
    ----------
    job : Job
    loader : recordmill.Loader

    Yields
    ------
    int
        Samples of the batch.
    dict
    """
    while True:
        for batch in loader:
            yield len(batch["label"]), batch
        if job.checking:
            return


def arrays(_: Job, delivered: Any) -> tuple[Any, Any]:
    """Images and labels of a batch."""
    return delivered["image"], delivered["label"]
