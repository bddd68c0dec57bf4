"""The file of `mean_img`: read where it is there, else made of all images of the part."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.mxnet.base import MXNetError
from recordmill.compat.mxnet.io.chunks import Span
from recordmill.compat.mxnet.io.order import Visit
from recordmill.compat.mxnet.nd import load, save, wrap

Floats = NDArray[np.float32]


def mean_image(
    values: Mapping[str, Any], ranges: list[list[Span]], make: Callable[[Visit], NDArray[Any]]
) -> Floats | None:
    """Means of single pixels.

    Parameters
    ----------
    values : mapping of str to object
        The parameters of the iterator.
    ranges : list of list of (int, int)
        The chunks of every range, in rows of the part.
    make : callable
        Makes the images of some records, without the mean image.

    Returns
    -------
    ndarray of float32, shape (channels, height, width), or None
        None where no file is named, or levels stay as they are.

    Raises
    ------
    MXNetError
        A file that holds something else.
    """
    path, dtype = values["mean_img"], values["dtype"]
    if not path or dtype == "uint8":
        return None
    if not os.path.exists(path):
        visits = _visits(ranges, values["batch_size"], indexed=bool(values["path_imgidx"]))
        image = _averaged(make(visit) for visit in visits)
        save(path, {"mean_img": wrap(image)})
        return image
    found = load(path)
    arrays = list(found.values()) if isinstance(found, dict) else found
    wanted = values["data_shape"]
    if len(arrays) != 1 or arrays[0].shape != wanted:
        what = f"{len(arrays)} arrays" if len(arrays) != 1 else f"shape {arrays[0].shape}"
        message = "Check failed: Invalid mean image file format"
        raise MXNetError(message, kind="bad_shape", shard=path, expected=f"one array of shape {wanted}", found=what)
    read: Floats = arrays[0].asnumpy().astype(np.float32)
    return read


def _visits(ranges: list[list[Span]], batch_size: int, *, indexed: bool) -> Iterator[Visit]:
    """All records; MXNet reads a batch at a time with an index file, else a chunk, and keeps it behind a batch."""
    for first, last in (chunk for chunks in ranges for chunk in chunks):
        for start in range(first, last, batch_size):
            rows = np.arange(start, min(start + batch_size, last))
            yield Visit(rows, rows - (start if indexed else first) + batch_size, 0, start)


def _averaged(batches: Iterator[NDArray[Any]]) -> Floats:
    """Sum in float32, one image after the other, times the inverse of their number."""
    total, count = np.zeros((), np.float32), 0
    for batch in batches:
        for image in batch:
            total = total + image.astype(np.float32)
        count += len(batch)
    return total * (np.float32(1) / np.float32(count))
