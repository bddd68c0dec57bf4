"""GIF and WebP, which may hold several frames, through Pillow."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.compat.tensorflow.images.contents import refuse

_MAX_ELEMENTS = 2**29


def gif_frames(data: bytes, channels: int, *, first: bool = False) -> NDArray[np.uint8]:
    """Decode the frames of a GIF.

    Parameters
    ----------
    data : bytes
    channels : {0, 3}
    first : bool
        Only the first one.

    Returns
    -------
    ndarray of uint8, shape (frames, height, width, 3)

    Raises
    ------
    InvalidArgumentError
        Another number of channels, or no sound GIF.
    MissingExtraError
        Pillow is not installed.
    """
    if channels not in (0, 3):
        refuse(f"channels must be 0 or 3 for GIF, got {channels}")
    return _frames(data, f"Invalid GIF data (size {len(data)})", 3, first=first)


def webp_frames(data: bytes, channels: int, *, first: bool = False) -> NDArray[np.uint8]:
    """Decode the frames of a WebP.

    Parameters
    ----------
    data : bytes
    channels : {0, 3, 4}
    first : bool
        Only the first one.

    Returns
    -------
    ndarray of uint8, shape (frames, height, width, 3 or 4)
        Animations always have four channels.

    Raises
    ------
    InvalidArgumentError
        Another number of channels than the file has, or no sound WebP.
    MissingExtraError
        Pillow is not installed.
    """
    if channels not in (0, 3, 4):
        refuse("WebP only supports 3 or 4 channels")
    frames = _frames(data, "Failed to decode WebP image.", None, first=first)
    if channels not in (0, frames.shape[3]):
        refuse("Number of channels requested does not match input")
    return frames


def _frames(data: bytes, failure: str, channels: int | None, *, first: bool) -> NDArray[np.uint8]:
    module = _pillow()
    try:
        with module.open(io.BytesIO(data)) as image:
            found: int = getattr(image, "n_frames", 1)
            channels = channels or (4 if found > 1 or image.mode == "RGBA" else 3)
            wanted = 1 if first else found
            _check_size(wanted, image.height, image.width, channels)
            out = np.empty((wanted, image.height, image.width, channels), np.uint8)
            for number in range(wanted):
                image.seek(number)
                out[number] = np.asarray(image.convert("RGBA" if channels == 4 else "RGB"))
            return out
    except rm.RecordmillError:
        raise
    except Exception as error:  # noqa: BLE001 (damaged files make Pillow raise anything)
        refuse(failure, rm.ImageError(str(error) or repr(error), kind="bad_image"))


def _check_size(frames: int, height: int, width: int, channels: int) -> None:
    if frames * height * width * channels >= _MAX_ELEMENTS:
        refuse(f"Image is too large: {frames} frames of {width} x {height} pixels")


def _pillow() -> Any:
    try:
        from PIL import Image
    except ImportError as error:
        message = "Pillow is needed to decode GIF and WebP"
        raise rm.MissingExtraError(message, hint="pip install 'recordmill[image]'") from error
    return Image
