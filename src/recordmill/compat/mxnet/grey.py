"""Pictures in grey as OpenCV decodes them, also those of four printing colours."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import recordmill as rm

_JPEG = b"\xff\xd8"
# Blue, green and red in 2**14 parts of brightness.
_PARTS, _BITS = np.array([1868, 9617, 4899], np.int32), 14


def decode_grey(data: Any, **options: Any) -> NDArray[Any]:
    """Pixels in grey.

    Parameters
    ----------
    data : bytes-like
    **options
        Of `rm.decode_image`.

    Returns
    -------
    ndarray, shape (height, width)

    Raises
    ------
    ImageError, LimitError
        No image, or one that is too large.
    """
    try:
        return rm.decode_image(data, channels="grey", **options)
    except rm.ImageError as error:
        if error.kind != "unsupported" or bytes(memoryview(data)[:2]) != _JPEG:
            raise
    # A file of four printing colours has no plane of brightness: it goes by way of blue, green and red.
    colours = rm.decode_image(data, channels="bgr", **options)
    return ((colours @ _PARTS + (1 << (_BITS - 1))) >> _BITS).astype(np.uint8)
