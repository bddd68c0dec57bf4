"""Compares re-encoded photographs with their sources: sizes of all, pixels of some."""

from __future__ import annotations

import io
from collections import defaultdict
from collections.abc import Iterable, Iterator

import numpy as np
from PIL import Image

Key = tuple[int, int, int]

# Mean difference, of 255, that encoding twice may make; a picture of another scene differs by 30 and more.
_MAX_DIFFERENCE = 4.0
_EVERY = 20


def find_fault(rows: Iterable[tuple[str, int]], images: Iterable[tuple[bytes, int]]) -> str | None:
    """Say what is wrong with re-encoded images, which may come in any order.

    Parameters
    ----------
    rows : iterable of (str, int)
        Path and label of the sources.
    images : iterable of (bytes, int)
        JPEG files and labels.

    Returns
    -------
    str or None
        None if every source is there once, in its size, with its label, and every twentieth shows what it should.
    """
    sources: dict[Key, list[str]] = defaultdict(list)
    for path, label in rows:
        with Image.open(path) as image:
            sources[label, *image.size].append(path)
    left = {key: len(paths) for key, paths in sources.items()}
    for number, (data, label) in enumerate(images):
        with Image.open(io.BytesIO(data)) as image:
            key = (label, *image.size)
            if image.format != "JPEG" or left.get(key, 0) == 0:
                return f"image {number} ({image.format}, {key[1]} x {key[2]}, label {label}) has no source"
            left[key] -= 1
            if number % _EVERY == 0 and min(_differences(image, sources[key])) > _MAX_DIFFERENCE:
                return f"image {number} does not show what its source shows"
    missing = sum(left.values())
    return f"{missing} images are missing" if missing else None


def _differences(image: Image.Image, paths: Iterable[str]) -> Iterator[float]:
    """Mean absolute difference from each of the files that it may come from."""
    pixels = np.asarray(image.convert("RGB"), np.int16)
    for path in paths:
        with Image.open(path) as source:
            yield float(np.abs(np.asarray(source.convert("RGB"), np.int16) - pixels).mean())
