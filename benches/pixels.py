"""Compare re-encoded photographs with their sources: the sizes of all, and the pixels of some."""

from __future__ import annotations

import io
from collections import defaultdict
from collections.abc import Iterable, Iterator

import numpy as np
from PIL import Image

Key = tuple[int, int, int]

# Maximum mean difference of 8-bit levels after re-encoding. Images of other scenes differ by 30 or more.
_MAX_DIFFERENCE = 4.0
_EVERY = 20


def find_fault(rows: Iterable[tuple[str, int]], images: Iterable[tuple[bytes, int]]) -> str | None:
    """Describe what is wrong with re-encoded images, which may have any order.

    Parameters
    ----------
    rows : iterable of (str, int)
        Path and label of the sources.
    images : iterable of (bytes, int)
        JPEG files and labels.

    Returns
    -------
    str or None
        None if every source was delivered once with its size and label, and the pixels of every twentieth are right.
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
                return f"the pixels of image {number} differ from those of its source"
    missing = sum(left.values())
    return f"{missing} images are missing" if missing else None


def _differences(image: Image.Image, paths: Iterable[str]) -> Iterator[float]:
    """Yield the mean absolute difference of an image from each of its possible sources."""
    pixels = np.asarray(image.convert("RGB"), np.int16)
    for path in paths:
        with Image.open(path) as source:
            yield float(np.abs(np.asarray(source.convert("RGB"), np.int16) - pixels).mean())
