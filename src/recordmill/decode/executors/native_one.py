"""Single images through the native module."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill import _core
from recordmill.decode.executors.base import Border, ImageJob
from recordmill.decode.executors.native_plan import as_array, native_job, native_reading
from recordmill.decode.moves import Moves
from recordmill.decode.pixels.reading import Reading
from recordmill.decode.pixels.values import Values
from recordmill.errors import ImageError, LimitError

Parts = tuple[str, int, str, str]


def image_error(parts: Parts, hint: str | None = None) -> ImageError | LimitError:
    """Exception for the parts of a native fault.

    Parameters
    ----------
    parts : (str, int, str, str)
        Kind, offset in the encoded image, what was expected and found.
    hint : str, optional

    Returns
    -------
    ImageError or LimitError
    """
    kind, offset, expected, found = parts
    what = {
        "limit_exceeded": "the image is too large",
        "bad_window": "the window does not lie within the image",
        "bad_entry_points": "the entry points do not belong to the image",
    }
    message = what.get(kind, "the image cannot be decoded natively")
    cls = LimitError if kind == "limit_exceeded" else ImageError
    return cls(message, kind=kind, offset=offset, expected=expected, found=found, hint=hint)


def decode_one(data: Any, reading: Reading, values: Values, *, upright: bool, max_pixels: int) -> NDArray[Any] | None:
    """All of one image, as a plan for a batch would read it.

    Parameters
    ----------
    data : buffer
    reading : Reading
    values : Values
    upright : bool
        Whether its EXIF orientation is undone.
    max_pixels : int

    Returns
    -------
    ndarray, shape (height, width, channels), or None
        None for what is left to Pillow.

    Raises
    ------
    LimitError
        More than `max_pixels` pixels.
    """
    numbers, refused = _core.image_headers([data], native_reading(reading, max_pixels), upright)
    if refused:
        if refused[0][1][0] == "limit_exceeded":
            raise image_error(refused[0][1])
        return None
    _, _, width, height, orientation, _, _ = np.asarray(numbers).tolist()
    whole = np.array([[0, 0, width, height]])
    moves = Moves(whole, whole[:, 2:], whole, np.zeros((1, 2), np.bool_))
    one = np.ones(1, np.int64)
    job = ImageJob([data], reading, one * orientation, one, moves, "pillow:nearest", Border(), [], values)
    native = native_job(job)
    [(image, _)] = _core.decode_each_image(native, values.dtype, 1)
    return None if image is None else as_array(image, values)


def natively(decode: Callable[[], Any]) -> NDArray[Any] | None:
    """Pixels of one image from the native module.

    Parameters
    ----------
    decode : callable
        Returns values, height, width and channels.

    Returns
    -------
    ndarray, shape (height, width, channels), or None
        None for what is left to Pillow.

    Raises
    ------
    ImageError, LimitError
        What no decoder does: too many pixels, a window beyond the image, entry points of another.
    """
    try:
        block, height, width, channels = decode()
    except _core.ImageRefused as refused:
        if refused.args[0] in ("limit_exceeded", "bad_window", "bad_entry_points"):
            raise image_error(refused.args) from None
        return None
    return np.asarray(block).reshape(height, width, channels)
