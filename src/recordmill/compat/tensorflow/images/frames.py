"""GIF and WebP, which may hold several frames, through Pillow."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.compat.tensorflow.images.contents import refuse
from recordmill.compat.tensorflow.images.gif_file import GifFrame, gif_blocks

_MAX_ELEMENTS = 2**29


def gif_frames(data: bytes, channels: int, *, first: bool = False) -> NDArray[np.uint8]:
    """Decode the frames of a GIF, each drawn over the one before; the largest frame says how large they are."""
    if channels not in (0, 3):
        refuse(f"channels must be 0 or 3 for GIF, got {channels}")
    blocks = gif_blocks(data)
    if not blocks:
        refuse(f"Invalid GIF data (size {len(data)}), gif file does not contain any image")
    height, width = max(block.height for block in blocks), max(block.width for block in blocks)
    wanted = blocks[:1] if first else blocks
    _check_size(len(wanted), height, width, 3)
    out = np.zeros((len(wanted), height, width, 3), np.uint8)
    for number, block in enumerate(wanted):
        out[number] = out[max(number - 1, 0)]
        _draw(block, out[number], f"Invalid GIF data (size {len(data)})")
    return out


def _draw(block: GifFrame, picture: NDArray[np.uint8], failure: str) -> None:
    """Put a frame over the one before, as far as it lies inside; what files say of the time after is passed over."""
    indices = _indices(block, failure)[: max(len(picture) - block.top, 0), : max(picture.shape[1] - block.left, 0)]
    drawn = indices != block.transparent
    if (indices[drawn] >= len(block.colours)).any():
        refuse(f"{failure}, found color index {indices[drawn].max()} outside of color map range {len(block.colours)}")
    rows, columns = drawn.shape
    part = picture[block.top : block.top + rows, block.left : block.left + columns]
    part[drawn] = block.colours[indices[drawn]]


def _indices(block: GifFrame, failure: str) -> NDArray[np.uint8]:
    """Indices of a frame's pixels."""
    try:
        with _pillow().open(io.BytesIO(block.file)) as image:
            return np.asarray(image)
    except rm.RecordmillError:
        raise
    except Exception as error:  # noqa: BLE001 (damaged files make Pillow raise anything)
        refuse(failure, rm.ImageError(str(error) or repr(error), kind="bad_image"))


def webp_frames(data: bytes, channels: int, *, first: bool = False) -> NDArray[np.uint8]:
    """Decode the frames of a WebP."""
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
