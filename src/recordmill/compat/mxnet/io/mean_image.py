"""The file of `mean_img`: read where it is there, else made of all images of the part."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.mxnet.base import ParameterError
from recordmill.compat.mxnet.io.chunks import Span
from recordmill.compat.mxnet.io.order import Visit
from recordmill.compat.mxnet.nd import load, save, wrap

Floats = NDArray[np.float32]


def mean_image(
    values: Mapping[str, Any], ranges: list[list[Span]], make: Callable[[Visit], NDArray[Any]]
) -> Floats | None:
    """Means of single pixels."""
    if not values["mean_img"] or values["dtype"] == "uint8":
        return None
    visits = _visits(ranges, values["batch_size"], indexed=bool(values["path_imgidx"]))
    return keep_mean(values["mean_img"], values["data_shape"], lambda: map(make, visits))


def keep_mean(path: str, shape: tuple[int, ...], batches: Callable[[], Iterable[NDArray[Any]]]) -> Floats:
    """Mean of images of a file, which is written first where there is none."""
    if not os.path.exists(path):
        save(path, {"mean_img": wrap(_averaged(shape, batches()))})
    arrays = load(path)
    found: Any = list(arrays.values()) if isinstance(arrays, dict) else arrays
    if len(found) != 1 or found[0].shape != shape:
        message, expected = "Invalid mean image file format", f"one array of shape {shape}"
        shapes = ", ".join(str(one.shape) for one in found)
        raise ParameterError(message, kind="bad_shape", shard=path, expected=expected, found=shapes or "no array")
    return np.asarray(found[0], np.float32)


def _visits(ranges: list[list[Span]], batch_size: int, *, indexed: bool) -> Iterator[Visit]:
    """All records; MXNet reads a batch at a time with an index file, else a chunk, and keeps it behind a batch."""
    for first, last in (chunk for chunks in ranges for chunk in chunks):
        for start in range(first, last, batch_size):
            rows = np.arange(start, min(start + batch_size, last))
            yield Visit(rows, rows - (start if indexed else first) + batch_size, 0, start)


def _averaged(shape: tuple[int, ...], batches: Iterable[NDArray[Any]]) -> Floats:
    """Sum in float32, one image after another as MXNet adds them, times one over their number."""
    total, count = np.zeros(shape, np.float32), 0
    for batch in batches:
        for image in batch:
            total += image
        count += len(batch)
    mean: Floats = total * (np.float32(1) / np.float32(count))
    return mean
