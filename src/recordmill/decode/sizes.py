"""Sizes of encoded images, from their headers alone."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.decode.columns import byte_rows
from recordmill.decode.executors.registry import executor_of
from recordmill.decode.features.image import reading_of
from recordmill.decode.options import MAX_PIXELS, DecodeOptions
from recordmill.decode.presets import Like, Orientation, find_preset
from recordmill.decode.specs.image import Decoder, Image
from recordmill.types import Ragged


def image_sizes(
    payloads: Ragged | Sequence[Any],
    *,
    like: Like = "pillow",
    orientation: Orientation | None = None,
    decoder: Decoder = "auto",
    max_pixels: int = MAX_PIXELS,
) -> NDArray[np.int64]:
    """Heights and widths of encoded images; nothing is decoded.

    Parameters
    ----------
    payloads : Ragged of uint8, or sequence of buffer
    like : {"pillow", "opencv", "tensorflow", "mxnet"}
        Whose choice holds where `orientation` is not given.
    orientation : {"ignore", "apply"}, optional
        Whether the sizes are those after a rotation that EXIF asks for.
    decoder : {"auto", "pillow", "native"}
    max_pixels : int

    Returns
    -------
    ndarray of int64, shape (n, 2)
        Height and width; 0, 0 where decoding will fail: no image, a broken header, more than `max_pixels` pixels.
    """
    preset = find_preset(like)
    upright = (orientation or preset.orientation) == "apply"
    reading = _reading(like, decoder)
    rows = byte_rows(payloads, "images")
    found = executor_of(decoder).headers(rows, reading, upright=upright, max_pixels=max_pixels)
    sizes: NDArray[np.int64] = np.ascontiguousarray(found.sizes[:, ::-1])
    sizes[list(found.faults)] = 0
    return sizes


@lru_cache
def _reading(like: Like, decoder: Decoder) -> DecodeOptions:
    return reading_of(Image(like=like, decoder=decoder))
