"""Pillow, whose wheels contain libjpeg-turbo with SIMD."""

from __future__ import annotations

import io
from collections.abc import Iterator
from itertools import cycle
from typing import Any

from benches.jobs import Job, count_in_chunks
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
    """Write the list of the images and windows to decode."""
    write_list(job)


def run(job: Job) -> Iterator[tuple[int, Any]]:
    """Decode all listed images again and again."""
    step = _crop if job.task_name == "image-large" else _load
    files = cycle(data for data, _ in read_list(job))
    yield from count_in_chunks((step(data, job.variant) for data in files), 1 if step is _crop else 32)


def _load(data: bytes, _: str) -> None:
    from PIL import Image

    with Image.open(io.BytesIO(data)) as image:
        image.load()


def _crop(data: bytes, variant: str) -> Any:
    """Return the center crop as float32, decoded at full size, or at reduced size in draft mode."""
    import numpy as np
    from PIL import Image

    with Image.open(io.BytesIO(data)) as image:
        if variant == _DRAFT:
            image.draft("RGB", (256, 256))
        x, y, width, height = center_box(image.height, image.width)
        box = (x, y, x + width, y + height)
        return np.asarray(image.resize((SIDE, SIDE), Image.Resampling.BILINEAR, box=box), np.float32)


def checked(job: Job) -> dict[str, Any]:
    """Return the digest of the decoded pixels."""
    from PIL import Image

    return digest_of(Image.open(io.BytesIO(data)).tobytes() for data, _ in read_list(job))
