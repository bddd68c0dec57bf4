"""Pillow, whose wheels carry libjpeg-turbo with vector code."""

from __future__ import annotations

import io
from collections.abc import Iterator
from itertools import cycle
from typing import Any

from benches.jobs import Job, counted
from benches.steps import SIDE, center_box
from benches.windows import digest_of, read_list, write_list

ENVIRONMENT = ""
REQUIREMENTS = ("pillow", "numpy")
_WHOLE, _DRAFT = "all pixels", "draft mode"
VARIANTS = {
    "image-whole": ("",),
    "image-progressive": ("",),
    "image-png-digits": ("",),
    "image-png-photos": ("",),
    "image-large": (_WHOLE, _DRAFT),
}


def prepare(job: Job) -> None:
    """Write the list of what is decoded."""
    write_list(job)


def run(job: Job) -> Iterator[tuple[int, Any]]:
    """Decode everything over and over."""
    step = _crop if job.task_name == "image-large" else _load
    files = cycle(data for data, _ in read_list(job))
    yield from counted((step(data, job.variant) for data in files), 1 if step is _crop else 32)


def _load(data: bytes, _: str) -> None:
    from PIL import Image

    with Image.open(io.BytesIO(data)) as image:
        image.load()


def _crop(data: bytes, variant: str) -> Any:
    """The center crop as float32, of all pixels or of as few as do."""
    import numpy as np
    from PIL import Image

    with Image.open(io.BytesIO(data)) as image:
        if variant == _DRAFT:
            image.draft("RGB", (256, 256))
        x, y, width, height = center_box(image.height, image.width)
        box = (x, y, x + width, y + height)
        return np.asarray(image.resize((SIDE, SIDE), Image.Resampling.BILINEAR, box=box), np.float32)


def checked(job: Job) -> dict[str, Any]:
    """Digest of the pixels."""
    from PIL import Image

    return digest_of(Image.open(io.BytesIO(data)).tobytes() for data, _ in read_list(job))
