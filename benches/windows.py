"""Lists of images and windows for the tasks that measure only decoders."""

from __future__ import annotations

import os
import random
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from benches.digest import Digest
from benches.jobs import Job
from benches.steps import Box, random_box

# Numbers of images, evenly spread over the dataset, and of windows in each, so that a pass takes much less than 1 s.
_NUM_IMAGES, _NUM_WINDOWS = 400, 3


def targets(job: Job) -> Iterator[tuple[str, Box | None]]:
    """Yield files and the window of each to decode: that of a random-resized crop, or None.

    Parameters
    ----------
    job : Job

    Yields
    ------
    path : str
    window : tuple of int or None
        x, y, width, height; None for the whole image.
    """
    paths = [path for path, _ in job.rows()]
    for path in paths[:: max(1, len(paths) // _NUM_IMAGES)]:
        if job.task_name in ("image-windows", "image-resize"):
            from PIL import Image

            with Image.open(path) as image:
                width, height = image.size
            draw = random.Random(zlib.crc32(os.path.basename(path).encode()))
            yield from ((path, random_box(height, width, draw)) for _ in range(_NUM_WINDOWS))
        else:
            yield path, None


def list_file(job: Job) -> str:
    """Return the path of the list file, which has a line per target: path, and x, y, width and height of a window.

    Parameters
    ----------
    job : Job

    Returns
    -------
    str
    """
    return job.packed(f"-{job.task_name}.tsv")


def write_list(job: Job) -> None:
    """Write the list file, unless it exists.

    Parameters
    ----------
    job : Job
    """
    path = list_file(job)
    if not os.path.exists(path):
        with open(f"{path}.part", "w", encoding="utf-8") as file:
            file.writelines("\t".join(map(str, (name, *(window or ())))) + "\n" for name, window in targets(job))
        os.replace(f"{path}.part", path)


def read_list(job: Job) -> list[tuple[bytes, Box | None]]:
    """Return the content of each listed file, and its window.

    Parameters
    ----------
    job : Job

    Returns
    -------
    list of (bytes, tuple of int or None)
    """
    contents: dict[str, bytes] = {}
    found: list[tuple[bytes, Box | None]] = []
    with open(list_file(job), encoding="utf-8") as file:
        for line in file:
            path, *numbers = line.rstrip("\n").split("\t")
            if path not in contents:
                with open(path, "rb") as image:
                    contents[path] = image.read()
            x, y, width, height = map(int, numbers) if numbers else (0, 0, 0, 0)
            found.append((contents[path], (x, y, width, height) if numbers else None))
    return found


def expected_pixels(job: Job) -> Iterator[bytes]:
    """Yield the pixels of every target as Pillow decodes them.

    Parameters
    ----------
    job : Job

    Yields
    ------
    bytes
    """
    from PIL import Image

    for path, window in targets(job):
        with Image.open(path) as image:
            if window is None:
                yield image.tobytes()
                continue
            x, y, width, height = window
            yield image.convert("RGB").crop((x, y, x + width, y + height)).tobytes()


def digest_of(images: Iterator[Any]) -> dict[str, int | str]:
    """Return the digest of decoded images.

    Parameters
    ----------
    images : iterator of bytes or ndarray of uint8

    Returns
    -------
    dict
        ``count`` and ``sum``.
    """
    digest = Digest()
    digest.add_payloads(image if isinstance(image, bytes) else np.asarray(image).tobytes() for image in images)
    return digest.to_json()
