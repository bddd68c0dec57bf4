"""ffcv, whose own format stores photographs as pixels: five times as large, but without decoding."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from benches.jobs import Job
from benches.steps import MEAN, SHORTER, SIDE, STD

ENVIRONMENT = "ffcv"
REQUIREMENTS = (
    "torch==2.13.0",
    "numba==0.68.1",
    "opencv-python-headless==5.0.0.93",
    *("setuptools", "wheel", "pybind11", "pillow", "terminaltables", "tqdm", "psutil"),
    *("assertpy", "fastargs", "imgcat", "pandas", "matplotlib"),
)
# Compiled against the OpenCV and libjpeg-turbo of the system and the packages installed before.
BUILT = ("ffcv==1.0.2",)
VARIANTS = {"P4a": ("raw pixels",), "P4b": ("raw pixels",), "P4c": ("raw pixels",), "P5-arrays": ("",)}


class Sources:
    """Dataset of images as arrays, and their labels, for the writer.

    Parameters
    ----------
    rows : list of (str, int)
    is_gray : bool
    """

    def __init__(self, rows: list[tuple[str, int]], is_gray: bool) -> None:
        self._rows, self._is_gray = rows, is_gray

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, place: int) -> tuple[Any, int]:
        import cv2

        path, label = self._rows[place]
        return cv2.imread(path, cv2.IMREAD_GRAYSCALE if self._is_gray else cv2.IMREAD_COLOR_RGB), label


def _path(job: Job) -> str:
    return job.packed("-pixels.beton")


def prepare(job: Job) -> None:
    """Convert the dataset, unless that was done before."""
    if os.path.exists(_path(job)):
        return
    from ffcv.fields import IntField, NDArrayField, RGBImageField
    from ffcv.writer import DatasetWriter

    is_gray = job.task.recipe == "array"
    image = NDArrayField(np.dtype("uint8"), (28, 28)) if is_gray else RGBImageField(write_mode="raw")
    writer = DatasetWriter(f"{_path(job)}.part", {"image": image, "label": IntField()}, num_workers=2)
    writer.from_indexed_dataset(Sources(job.rows(), is_gray))
    os.replace(f"{_path(job)}.part", _path(job))


def run(job: Job) -> Iterator[tuple[int, Any]]:
    """Yield batches of one epoch after another; of a single epoch in the check pass."""
    loader = _loader(job)
    while True:
        for images, labels in loader:
            values = images.float().mul_(1 / 255) if job.task.recipe == "array" else images
            yield len(values), (values, labels)
        if job.is_check_pass:
            return


def _loader(job: Job) -> Any:
    from ffcv.fields.decoders import IntDecoder
    from ffcv.loader import Loader, OrderOption
    from ffcv.transforms import ToTensor

    return Loader(
        _path(job),
        batch_size=job.num_records,
        num_workers=2,
        order=OrderOption.RANDOM,
        os_cache=True,
        drop_last=not job.is_check_pass,
        pipelines={"image": [*_steps(job), ToTensor()], "label": [IntDecoder(), ToTensor()]},
    )


def _steps(job: Job) -> list[Any]:
    from ffcv.fields import decoders
    from ffcv.transforms import NormalizeImage, RandomHorizontalFlip

    if job.task.recipe == "array":
        return [decoders.NDArrayDecoder()]
    normal = NormalizeImage(np.array(MEAN), np.array(STD), np.float32)
    if job.task.recipe == "center":
        return [decoders.CenterCropRGBImageDecoder((SIDE, SIDE), ratio=SIDE / SHORTER), normal]
    crop = [decoders.RandomResizedCropRGBImageDecoder((SIDE, SIDE)), RandomHorizontalFlip()]
    return crop if job.task.recipe == "crop-uint8" else [*crop, normal]


def arrays(_: Job, delivered: Any) -> tuple[Any, Any]:
    """Return images and labels of a batch."""
    return delivered[0].numpy(), delivered[1].numpy()
