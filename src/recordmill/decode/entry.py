"""Entry points of JPEG images: tables with which a crop is decoded without the rows above it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from recordmill import _core
from recordmill.decode.check import Spec
from recordmill.decode.columns import byte_rows
from recordmill.decode.specs.image import Image
from recordmill.errors import FeatureError
from recordmill.types import Ragged


def find_entry_points(payloads: Any, *, max_share: float = 0.01, threads: int = 1) -> Ragged:
    """Entry points of encoded images, for `decode_batch` and `decode_jpeg`.

    Parameters
    ----------
    payloads : list of bytes, or Ragged
    max_share : float
        Bytes that entry points may take for each byte of their image; those of a photograph take about 0.002.
    threads : int
        At work side by side.

    Returns
    -------
    Ragged of uint8
        A row for each image; an empty one for what is no sequential JPEG of one scan, is damaged, has restart markers
        at each of its rows, or is so small that its entry points would take more than their share.
    """
    if not max_share > 0:
        raise ValueError(f"max_share is above 0, not {max_share}")
    if threads < 0:
        raise ValueError(f"threads is not negative, not {threads}")
    if isinstance(payloads, Ragged):
        images = payloads
    else:
        images = Ragged.from_rows([memoryview(row) for row in byte_rows(payloads, "images")])
    splits = np.ascontiguousarray(images.row_splits, np.int64)
    return Ragged.from_blocks(*_core.entry_points(images.data, splits, float(max_share), 0, max(1, threads)))


def tables_of(given: Any, specs: Mapping[str, Spec], count: int) -> dict[str, Sequence[Any]]:
    """Entry points of a batch by feature."""
    if given is None:
        return {}
    images = list(dict.fromkeys(spec.feature or name for name, spec in specs.items() if isinstance(spec, Image)))
    if not isinstance(given, Mapping):
        if len(images) != 1:
            raise FeatureError("entry points without a name are those of one image", found=f"{len(images)} images")
        given = {images[0]: given}
    tables = {name: byte_rows(rows, name) for name, rows in given.items() if rows is not None}
    for name, rows in tables.items():
        if name not in images:
            raise FeatureError("entry points are for images", expected=", ".join(images) or "none", found=name)
        if len(rows) != count:
            message = f"entry points of '{name}' are one row for each sample"
            raise FeatureError(message, expected=str(count), found=str(len(rows)))
    return tables
