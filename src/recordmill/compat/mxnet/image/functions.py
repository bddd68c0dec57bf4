"""Functions of one image: decoded, resized, cut. Images are (height, width, channels) arrays with red first."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import recordmill as rm
from recordmill.compat.mxnet.base import MissingFileError, MXNetError, ParameterError, UnsupportedError, translated
from recordmill.compat.mxnet.kernels import BY_SIZE, KERNELS, RANDOM, methods_of
from recordmill.compat.mxnet.nd import NDArray, wrap
from recordmill.compat.pixel_copies import put

_MIRRORED, _AGAIN = 2, 3
# Kinds of border, and the words of them that `rm.crop` has.
_BORDERS = {0: "constant", 1: "edge", 2: None, 3: None, 4: "reflect"}


def imdecode(buf: Any, flag: int = 1, to_rgb: bool | int = True, out: Any = None) -> NDArray:
    """Pixels of an encoded image.

    A rotation that EXIF asks for is carried out, but ignored in JPEGs that begin with a JFIF segment, as in MXNet.
    """
    if not isinstance(buf, bytes | bytearray | memoryview | np.ndarray):
        raise ValueError("buf must be of type bytes, bytearray or numpy.ndarray; convert text to bytes")  # noqa: TRY004
    data: Any = np.ascontiguousarray(buf, np.uint8).reshape(-1) if isinstance(buf, np.ndarray) else buf
    if flag not in (0, 1):
        raise ParameterError(f"value {flag} for Parameter flag should be 0 or 1", kind="bad_parameter")
    if not len(data):
        raise MXNetError("Check failed: len > 0: Input cannot be an empty buffer", kind="bad_image")
    channels: Any = "grey" if flag == 0 else "rgb" if to_rgb else "bgr"
    with translated(kind="bad_image"):
        try:
            turn: Any = "apply" if _is_turned(bytes(memoryview(data)[:11])) else "ignore"
            pixels = rm.decode_image(data, like="mxnet", channels=channels, orientation=turn, depth="8")
        except rm.ImageError as error:
            error.kind = "bad_image"
            raise
    made = wrap(pixels[:, :, None] if pixels.ndim == 2 else pixels)
    return _into(made, out)


def _is_turned(head: bytes) -> bool:
    return head.startswith(b"\xff\xd8") and not (head.startswith(b"\xff\xd8\xff\xe0") and head.endswith(b"JFIF\0"))


def imread(filename: Any, flag: int = 1, to_rgb: bool | int = True, out: Any = None) -> NDArray:
    """Pixels of an image file, as `imdecode` gives them."""
    try:
        data = Path(filename).read_bytes()
    except FileNotFoundError as error:
        message = f"'{filename}' couldn't open file: No such file or directory"
        raise MissingFileError(message, shard=str(filename)) from error
    with translated(shard=str(filename)):
        return imdecode(data, flag, to_rgb, out)


def _into(made: NDArray, out: Any) -> NDArray:
    if out is None:
        return made
    out[...] = made
    return out  # type: ignore[no-any-return]


def imresize(src: Any, w: int, h: int, interp: int = 1, out: Any = None) -> NDArray:
    """Scale an image to a size."""
    pixels = np.asarray(src)
    _check_size(w=w, h=h)
    if pixels.ndim != 3:
        message = "Check failed: inputs[0].ndim() == 3U: an image has height, width and channels"
        raise ParameterError(message, kind="bad_shape", found=str(pixels.shape))
    method = get_interp_method(interp, (*pixels.shape[:2], h, w))
    if pixels.dtype not in (np.uint8, np.float32):
        message = f"an image of {pixels.dtype} is not supported"
        raise UnsupportedError(message, kind="unsupported", expected="uint8 or float32", found=str(pixels.dtype))
    return _into(wrap(rm.resize(pixels, (h, w), kernel=KERNELS[method])), out)


def _check_size(**lengths: Any) -> None:
    for name, value in lengths.items():
        if not isinstance(value, int | np.integer):
            message = f"Invalid Parameter format for {name} expect int but value='{value}'"
            raise ParameterError(message, kind="bad_parameter", expected="int", found=repr(value))
        if value < 1:
            message = f"value {value} for Parameter {name} should be greater equal to 1"
            raise ParameterError(message, kind="bad_parameter")


def get_interp_method(interp: int, sizes: tuple[int, int, int, int] | tuple[()] = ()) -> int:
    """Number of the interpolation, 0 to 4."""
    if interp == BY_SIZE:
        return int(methods_of(interp, np.array([sizes[:2]]), np.array([sizes[2:]]))[0]) if sizes else 2
    if interp == RANDOM:
        return random.randint(0, 4)
    if interp not in range(5):
        raise ParameterError(f"Unknown interp method {interp}", kind="bad_parameter", expected="0 to 4, 9 or 10")
    return interp


def copyMakeBorder(
    src: Any,
    top: int,
    bot: int,
    left: int,
    right: int,
    type: int = 0,
    value: float = 0.0,
    values: Sequence[float] = (),
) -> NDArray:
    """Add pixels around an image."""
    if type not in _BORDERS:
        raise UnsupportedError(f"type={type} is not supported", kind="unsupported", expected="0 to 4")
    pixels = np.asarray(src)
    height, width = pixels.shape[:2]
    if type in (_MIRRORED, _AGAIN):
        rows, columns = _places(height, top, bot, type), _places(width, left, right, type)
        return wrap(pixels[rows[:, None], columns])
    fill = [int(one) for one in values] or int(value)
    if type == 0 and _is_plain(pixels, (top, bot, left, right), fill):
        out = np.empty((height + top + bot, width + left + right, pixels.shape[2]), np.uint8)
        out[...] = fill
        put(out[top : top + height, left : left + width], pixels)
        return wrap(out)
    mode: Any = _BORDERS[type]
    return wrap(rm.crop(pixels, (-left, -top, width + left + right, height + top + bot), mode=mode, fill=fill))


def _places(length: int, before: int, behind: int, kind: int) -> np.ndarray[Any, Any]:
    """Which pixel of a row or column each pixel with the border is."""
    places = np.arange(-before, length + behind)
    if kind == _AGAIN:
        return places % length
    turned = places % (2 * length)
    return np.minimum(turned, 2 * length - 1 - turned)


def _is_plain(pixels: np.ndarray[Any, Any], sides: tuple[int, ...], fill: list[int] | int) -> bool:
    """Whether a border is around a usual image, of levels that there are."""
    levels = fill if isinstance(fill, list) else [fill] * pixels.shape[-1]
    usual = pixels.dtype == np.uint8 and pixels.ndim == 3 and pixels.size > 0 and min(sides) >= 0
    return usual and len(levels) == pixels.shape[2] and all(0 <= one <= 255 for one in levels)


def scale_down(src_size: tuple[int, int], size: tuple[int, int]) -> tuple[int, int]:
    """Largest width and height of the shape of `size` that fit into an image of `src_size`, not above `size`."""
    (w, h), (sw, sh) = size, src_size
    width, height = float(w), float(h)
    if sh < height:
        width, height = width * sh / height, sh
    if sw < width:
        width, height = sw, height * sw / width
    return int(width), int(height)


def resize_short(src: Any, size: int, interp: int = 2) -> NDArray:
    """Scale an image until its shorter side has a length."""
    h, w = src.shape[:2]
    new_w, new_h = (size, size * h // w) if h > w else (size * w // h, size)
    return imresize(src, new_w, new_h, interp=get_interp_method(interp, (h, w, new_h, new_w)))


def fixed_crop(
    src: Any, x0: int, y0: int, w: int, h: int, size: tuple[int, int] | None = None, interp: int = 2
) -> NDArray:
    """Cut a window out of an image, and bring it to a size (width, height)."""
    out = wrap(np.asarray(src)[y0 : y0 + h, x0 : x0 + w])
    if not out.size:
        found = f"{w} x {h} from ({x0}, {y0}) of {src.shape[1]} x {src.shape[0]}"
        raise ParameterError("the window has no pixel of the image", kind="bad_window", found=found)
    if size is None or (w, h) == tuple(size):
        return out
    return imresize(out, *size, interp=get_interp_method(interp, (h, w, size[1], size[0])))


def random_crop(src: Any, size: tuple[int, int], interp: int = 2) -> tuple[NDArray, tuple[int, int, int, int]]:
    """Window of a size (width, height) at a random place, and where it is; `random.seed` repeats it."""
    h, w = src.shape[:2]
    new_w, new_h = scale_down((w, h), size)
    x0, y0 = random.randint(0, w - new_w), random.randint(0, h - new_h)
    return fixed_crop(src, x0, y0, new_w, new_h, size, interp), (x0, y0, new_w, new_h)


def center_crop(src: Any, size: tuple[int, int], interp: int = 2) -> tuple[NDArray, tuple[int, int, int, int]]:
    """Window of a size (width, height) in the middle, and where it is; a smaller image gives a smaller window."""
    h, w = src.shape[:2]
    new_w, new_h = scale_down((w, h), size)
    x0, y0 = (w - new_w) // 2, (h - new_h) // 2
    return fixed_crop(src, x0, y0, new_w, new_h, size, interp), (x0, y0, new_w, new_h)


def random_size_crop(
    src: Any, size: tuple[int, int], area: float | tuple[float, float], ratio: tuple[float, float], interp: int = 2
) -> tuple[NDArray, tuple[int, int, int, int]]:
    """Window of random area (part of the image's) and shape (width / height, log-uniform), brought to a size."""
    h, w = src.shape[:2]
    low, high = (area, 1.0) if isinstance(area, int | float) else area
    for _ in range(10):
        target = random.uniform(low, high) * (h * w)
        shape = np.exp(random.uniform(np.log(ratio[0]), np.log(ratio[1])))
        new_w, new_h = round(float(np.sqrt(target * shape))), round(float(np.sqrt(target / shape)))
        if new_w <= w and new_h <= h:
            x0, y0 = random.randint(0, w - new_w), random.randint(0, h - new_h)
            return fixed_crop(src, x0, y0, new_w, new_h, size, interp), (x0, y0, new_w, new_h)
    return center_crop(src, size, interp)


def color_normalize(src: Any, mean: Any, std: Any = None) -> Any:
    """Subtract a mean and divide by a deviation, in place."""
    if mean is not None:
        src -= mean
    if std is not None:
        src /= std
    return src
