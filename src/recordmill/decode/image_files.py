"""Find the sizes of encoded images and the entry points of JPEG files, without decoding pixels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill import _core
from recordmill.decode.columns import convert_to_byte_rows
from recordmill.decode.native import read_headers
from recordmill.decode.options import MAX_PIXELS
from recordmill.decode.plan import compile_image_spec
from recordmill.decode.presets import Like, Orientation
from recordmill.decode.specs.image import Decoder, Image
from recordmill.suggestions import suggest_arguments
from recordmill.types import Ragged


@suggest_arguments
def image_sizes(
    payloads: Ragged | Sequence[Any],
    *,
    like: Like = "pillow",
    orientation: Orientation | None = None,
    decoder: Decoder = "auto",
    max_pixels: int = MAX_PIXELS,
) -> NDArray[np.int64]:
    """Return the heights and widths of encoded images, read from their headers.

    Parameters
    ----------
    payloads : Ragged of uint8, or sequence of buffer
    like : str
        Framework whose default for `orientation` is used. One of "pillow", "opencv", "tensorflow" or "mxnet".
    orientation : str, optional
        "apply" returns the sizes after applying the EXIF orientation, "ignore" the sizes of the stored images.
    decoder : str
        One of "auto", "pillow" or "native".
    max_pixels : int
        Maximum number of pixels per image.

    Returns
    -------
    ndarray of int64, shape (n, 2)
        Height and width. 0, 0 for files that cannot be decoded: files that are not images, have a broken header, or
        have more than `max_pixels` pixels.

    Raises
    ------
    FeatureError
        If `payloads` are not byte strings.
    ValueError
        If an option is not supported.

    Examples
    --------
    >>> rm.image_sizes([Path("photo.jpg").read_bytes()]).tolist()
    [[48, 64]]
    """
    compiled = compile_image_spec(Image(like=like, orientation=orientation, decoder=decoder))
    headers, errors = read_headers(
        convert_to_byte_rows(payloads, "images"),
        compiled.plan.options,
        upright=compiled.upright,
        max_pixels=max_pixels,
        decoder=decoder,
    )
    sizes: NDArray[np.int64] = np.ascontiguousarray(headers.sizes[:, ::-1])
    sizes[list(errors)] = 0
    return sizes


@suggest_arguments
def find_entry_points(payloads: Any, *, max_share: float = 0.01, threads: int = 1) -> Ragged:
    """Find the entry points of JPEG files. Decoding can start at an entry point to skip the rows above a crop.

    Parameters
    ----------
    payloads : list of bytes, or Ragged
        Encoded images.
    max_share : float
        Maximum size of the entry points as a fraction of the size of the image file. A photograph needs about 0.002.
    threads : int
        Number of threads.

    Returns
    -------
    Ragged of uint8
        One row per image, for `decode_batch` and `decode_jpeg`. The row is empty if the file is not a sequential JPEG
        with one scan, is damaged, has restart markers at every row of blocks, or is too small for `max_share`.

    Raises
    ------
    ValueError
        If `max_share` is not positive, or `threads` is negative.
    """
    if not max_share > 0:
        raise ValueError(f"max_share must be above 0, got {max_share}")
    if threads < 0:
        raise ValueError(f"threads must not be negative, got {threads}")
    if isinstance(payloads, Ragged):
        images = payloads
    else:
        images = Ragged.from_rows([memoryview(row) for row in convert_to_byte_rows(payloads, "images")])
    splits = np.ascontiguousarray(images.row_splits, np.int64)
    return Ragged.from_blocks(*_core.entry_points(images.data, splits, float(max_share), 0, max(1, threads)))
