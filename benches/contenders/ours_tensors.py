"""recordmill's batches as NumPy arrays, without and with an imported framework, and as tensors of frameworks."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from benches.contenders.ours_images import PREFETCH, THREADS, dataset_of, prepare
from benches.jobs import Job
from benches.tasks.images import BESIDE, HANDED

__all__ = ["prepare"]
LABEL = "ours"
ENVIRONMENT = "tensors"
REQUIREMENTS = ("torch==2.13.0", "jax==0.10.2", "keras==3.15.1", "numpy==2.4.6")
SETTINGS = {"KERAS_BACKEND": "jax", "JAX_PLATFORMS": "cpu", "CUDA_VISIBLE_DEVICES": ""}
VARIANTS = {"tensors": ("NumPy", *(f"{beside}{name}" for name in HANDED for beside in (BESIDE, "")))}


def run(job: Job) -> Iterator[tuple[int, Any]]:
    """Yield batches of one epoch after another; of a single epoch in the check pass."""
    batches = _BATCHES.get(job.variant, _numpy)(job)
    num_batches = len(dataset_of(job)) if job.is_check_pass else -1
    while num_batches:
        images, labels = next(batches)
        yield len(labels), (images, labels)
        num_batches -= 1


def _epochs(loader: Any) -> Iterator[tuple[Any, Any]]:
    while True:
        for batch in loader:
            yield batch["image"], batch["label"]


def _numpy(job: Job) -> Iterator[tuple[Any, Any]]:
    if job.variant.startswith(BESIDE):
        importlib.import_module(job.variant.removeprefix(BESIDE))
    return _epochs(dataset_of(job).loader(threads=THREADS, prefetch=PREFETCH))


def _torch(job: Job) -> Iterator[tuple[Any, Any]]:
    import recordmill as rm

    return _epochs(rm.torch.loader(dataset_of(job), threads=THREADS, prefetch=PREFETCH))


def _jax(job: Job) -> Iterator[tuple[Any, Any]]:
    import recordmill as rm

    return _epochs(rm.jax.loader(dataset_of(job), threads=THREADS, prefetch=PREFETCH))


def _keras(job: Job) -> Iterator[tuple[Any, Any]]:
    """Yield batches on the device, where Keras's JAX trainer puts them (keras/src/backend/jax/trainer.py)."""
    import jax

    import recordmill as rm

    stream = rm.keras.Stream(dataset_of(job).loader(threads=THREADS, prefetch=PREFETCH), "image", "label")
    for images, labels in stream.batches():
        yield jax.device_put(images), labels


_BATCHES = {"torch": _torch, "keras": _keras, "jax": _jax}


def arrays(_: Job, delivered: Any) -> tuple[Any, Any]:
    """Return images and labels of a batch."""
    return np.asarray(delivered[0]), np.asarray(delivered[1])
