"""Functions of ``mx.image`` that decode, resize, crop and normalize one RGB image (height, width, channels)."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np

import recordmill as rm
from recordmill.compat.mxnet.base import MXNetError, ParameterError, UnsupportedError, convert_errors
from recordmill.compat.mxnet.interpolation import BICUBIC, BY_SIZE, KERNELS, RANDOM, choose_interpolation
from recordmill.compat.mxnet.nd import NDArray, as_ndarray

# Crop window: x, y, width and height, in pixels.
Window = tuple[int, int, int, int]
_CROP_ATTEMPTS = 10


def imdecode(buf: Any, flag: int = 1, to_rgb: bool | int = True, out: Any = None) -> NDArray:
    """``mx.image.imdecode``: decode an image to uint8, shape (height, width, channels).

    The orientation of EXIF data is applied, except in JPEG files that start with a JFIF segment, as in MXNet.
    """
    if not isinstance(buf, bytes | bytearray | memoryview | np.ndarray):
        raise ValueError(f"buf must be bytes, bytearray or numpy.ndarray, got {type(buf).__name__}")  # noqa: TRY004
    data: Any = np.ascontiguousarray(buf, np.uint8).reshape(-1) if isinstance(buf, np.ndarray) else buf
    if flag not in (0, 1):
        raise ParameterError(f"flag must be 0 or 1, got {flag}")
    if not len(data):
        raise MXNetError("Check failed: len > 0: Input cannot be an empty buffer", kind="bad_image")
    channels: Any = "gray" if flag == 0 else "rgb" if to_rgb else "bgr"
    orientation: Any = "apply" if _may_have_exif(bytes(memoryview(data)[:11])) else "ignore"
    with convert_errors(kind="bad_image"):
        try:
            pixels = rm.decode_image(data, like="mxnet", channels=channels, orientation=orientation, depth="8")
        except rm.ImageError as error:
            error.kind = "bad_image"
            raise
    return _copy_to_out(as_ndarray(pixels[:, :, None] if pixels.ndim == 2 else pixels), out)


def _may_have_exif(head: bytes) -> bool:
    return head.startswith(b"\xff\xd8") and not (head.startswith(b"\xff\xd8\xff\xe0") and head.endswith(b"JFIF\0"))


def imread(filename: Any, flag: int = 1, to_rgb: bool | int = True, out: Any = None) -> NDArray:
    """``mx.image.imread``: read and decode an image file."""
    with convert_errors():
        data = Path(filename).read_bytes()
    try:
        return imdecode(data, flag, to_rgb, out)
    except MXNetError as error:
        error.shard = str(filename)
        raise


def _copy_to_out(result: NDArray, out: Any) -> NDArray:
    if out is None:
        return result
    out[...] = result
    return out  # type: ignore[no-any-return]


def imresize(src: Any, w: Any, h: Any, interp: int = 1, out: Any = None) -> NDArray:
    """``mx.image.imresize``: resize a uint8 or float32 image to width `w` and height `h`."""
    pixels = np.asarray(src)
    for name, value in (("w", w), ("h", h)):
        if not isinstance(value, int | np.integer) or value < 1:
            raise ParameterError(f"{name} must be a positive integer, got {value!r}")
    if pixels.ndim != 3:
        raise ParameterError(
            "src must have 3 axes: height, width, channels", kind="bad_shape", found=f"shape {pixels.shape}"
        )
    if pixels.dtype not in (np.uint8, np.float32):
        message = "the dtype of src is not supported"
        raise UnsupportedError(message, expected="uint8 or float32", found=str(pixels.dtype))
    method = get_interp_method(interp, (*pixels.shape[:2], h, w))
    return _copy_to_out(as_ndarray(rm.resize(pixels, (h, w), kernel=KERNELS[method])), out)


def get_interp_method(interp: int, sizes: tuple[int, int, int, int] | tuple[()] = ()) -> int:
    """Replace `interp` 9 (choose by image size) or 10 (choose at random) with a method from 0 to 4.

    `sizes` contains the old height, old width, new height and new width.
    """
    if interp == BY_SIZE:
        return choose_interpolation(interp, sizes[:2], sizes[2:]) if sizes else BICUBIC
    if interp == RANDOM:
        return random.randint(0, 4)
    if interp not in range(5):
        raise ParameterError(f"interp must be 0 to 4, 9 or 10, got {interp}")
    return interp


def scale_down(src_size: tuple[int, int], size: tuple[int, int]) -> tuple[int, int]:
    """Shrink `size` to fit into `src_size`, keeping its aspect ratio; a size that already fits is unchanged."""
    (w, h), (sw, sh) = size, src_size
    width, height = float(w), float(h)
    if sh < height:
        width, height = width * sh / height, sh
    if sw < width:
        width, height = sw, height * sw / width
    return int(width), int(height)


def resize_short(src: Any, size: int, interp: int = 2) -> NDArray:
    """Resize an image so that its shorter side is `size` pixels long."""
    h, w = src.shape[:2]
    new_w, new_h = (size, size * h // w) if h > w else (size * w // h, size)
    return imresize(src, new_w, new_h, interp=get_interp_method(interp, (h, w, new_h, new_w)))


def fixed_crop(
    src: Any, x0: int, y0: int, w: int, h: int, size: tuple[int, int] | None = None, interp: int = 2
) -> NDArray:
    """Crop a window of w x h pixels at (x0, y0). If `size` (width, height) is given, resize the crop to it."""
    out = as_ndarray(np.asarray(src)[y0 : y0 + h, x0 : x0 + w])
    if not out.size:
        found = f"window: {w} x {h} at ({x0}, {y0}), image: {src.shape[1]} x {src.shape[0]}"
        raise ParameterError("the crop window contains no pixel of the image", kind="bad_window", found=found)
    if size is None or (w, h) == tuple(size):
        return out
    return imresize(out, *size, interp=get_interp_method(interp, (h, w, size[1], size[0])))


def random_crop(src: Any, size: tuple[int, int], interp: int = 2) -> tuple[NDArray, Window]:
    """Crop a window of `size` (width, height) at a random position; return the crop and its (x, y, width, height)."""
    h, w = src.shape[:2]
    new_w, new_h = scale_down((w, h), size)
    x0, y0 = random.randint(0, w - new_w), random.randint(0, h - new_h)
    return fixed_crop(src, x0, y0, new_w, new_h, size, interp), (x0, y0, new_w, new_h)


def center_crop(src: Any, size: tuple[int, int], interp: int = 2) -> tuple[NDArray, Window]:
    """Crop a window of `size` (width, height) in the center; return the crop and its (x, y, width, height)."""
    h, w = src.shape[:2]
    new_w, new_h = scale_down((w, h), size)
    x0, y0 = (w - new_w) // 2, (h - new_h) // 2
    return fixed_crop(src, x0, y0, new_w, new_h, size, interp), (x0, y0, new_w, new_h)


def random_size_crop(
    src: Any, size: tuple[int, int], area: float | tuple[float, float], ratio: tuple[float, float], interp: int = 2
) -> tuple[NDArray, Window]:
    """Crop a window of random area and aspect ratio, and resize it to `size`; return the crop and the window."""
    h, w = src.shape[:2]
    low, high = (area, 1.0) if isinstance(area, int | float) else area
    for _ in range(_CROP_ATTEMPTS):
        target = random.uniform(low, high) * (h * w)
        shape = np.exp(random.uniform(np.log(ratio[0]), np.log(ratio[1])))
        new_w, new_h = round(float(np.sqrt(target * shape))), round(float(np.sqrt(target / shape)))
        if new_w <= w and new_h <= h:
            x0, y0 = random.randint(0, w - new_w), random.randint(0, h - new_h)
            return fixed_crop(src, x0, y0, new_w, new_h, size, interp), (x0, y0, new_w, new_h)
    return center_crop(src, size, interp)


def color_normalize(src: Any, mean: Any, std: Any = None) -> Any:
    """Subtract `mean` and divide by `std`, in place."""
    if mean is not None:
        src -= mean
    if std is not None:
        src /= std
    return src
