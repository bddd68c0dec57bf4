"""Functions on single images: decoding, resizing, cropping, color, affine maps, boxes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import recordmill as rm
from tools.behavior.digest import Results, round_floats
from tools.behavior.images import JPEGS, PNGS, read_image
from tools.behavior.pixels import KERNELS, LIBRARIES

ERRORS = (rm.ImageError, rm.DecodeError, ValueError, TypeError)


def _result_of(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Return the result of a call, or the name of the exception."""
    try:
        return function(*args, **options)
    except ERRORS as error:
        return type(error).__name__


def make_pixels(dtype: str = "uint8", channels: int = 3, height: int = 33, width: int = 41) -> Any:
    """Return an image of random levels."""
    levels = np.random.default_rng(5).integers(0, 256, (height, width, channels))
    factor = {"uint8": 1, "uint16": 257, "float32": 1.0}[dtype]
    return (levels * factor).astype(dtype)


def record_steps(folder: Path) -> Results:
    """Yield the results of the functions on single images."""
    del folder
    yield from _decoders()
    yield from _resizing()
    yield from _geometry()
    yield from _colors()
    yield from _boxes()


def _decoders() -> Results:
    choices: dict[str, dict[str, Any]] = {
        "default": {},
        "window": {"window": (3, 5, 20, 17)},
        "bgr": {"channels": "bgr"},
        "gray": {"channels": "gray"},
        "stored": {"channels": "stored"},
        "upright": {"orientation": "apply"},
        "scale": {"scale": 2},
        "plain": {"upsampling": "plain"},
    }
    for name, options in choices.items():
        # CMYK to gray and stored CMYK are omitted, because Pillow decodes them and its results depend on its version.
        for image in JPEGS[:-1] if name in ("gray", "stored") else JPEGS:
            yield f"decode_jpeg/{name}/{image}", _result_of(rm.decode_jpeg, read_image(image), **options)
            yield f"decode_image/{name}/{image}", _result_of(rm.decode_image, read_image(image), **options)
    for image in JPEGS:
        for library in ("pillow", "opencv", "tensorflow"):
            yield f"decode_jpeg/cmyk={library}/{image}", rm.decode_jpeg(read_image(image), cmyk=library)
        yield f"decode_jpeg/fast/{image}", rm.decode_jpeg(read_image(image), mode="fast")
    truncated = read_image("photo_420")[:1500]
    yield "decode_jpeg/truncated", _result_of(rm.decode_jpeg, truncated)
    yield "decode_jpeg/recovered", _result_of(rm.decode_jpeg, truncated, recover_truncated=True)
    yield "decode_jpeg/fraction", _result_of(rm.decode_jpeg, truncated, recover_truncated=True, acceptable_fraction=0.9)
    for image in (*PNGS, "gray16"):
        for palette in ("colors", "indices"):
            yield f"decode_png/{palette}/{image}", _result_of(rm.decode_png, read_image(image), palette=palette)
        yield f"decode_png/window/{image}", _result_of(rm.decode_png, read_image(image), window=(2, 1, 12, 9))
        for like in LIBRARIES:
            for depth in ("stored", "8"):
                decoded = _result_of(rm.decode_image, read_image(image), like=like, depth=depth)
                yield f"decode_image/like={like}/depth={depth}/{image}", decoded


def _resizing() -> Results:
    for library, kernels in KERNELS.items():
        for kernel in kernels:
            for dtype in ("uint8", "uint16", "float32"):
                for size in ((16, 25), (50, 44)):
                    resized = _result_of(rm.resize, make_pixels(dtype), size, kernel=f"{library}:{kernel}")
                    yield f"resize/{library}:{kernel}/{dtype}/size={size}", resized
    for like in LIBRARIES:
        yield f"resize/like={like}", rm.resize(make_pixels(), 20, like=like)  # type: ignore[arg-type]
    for channels in (1, 2, 4):
        yield f"resize/channels={channels}", rm.resize(make_pixels(channels=channels), (20, 17))
    yield "resize/images", rm.resize(np.stack([make_pixels(), 255 - make_pixels()]), (20, 17))
    yield "resize/gray", rm.resize(make_pixels()[:, :, 0], (20, 17))


def _geometry() -> Results:
    windows = {"inside": (4, 3, 20, 10), "beyond": (-5, -4, 60, 50), "outside": (-30, 40, 20, 10)}
    for name, window in windows.items():
        for mode in ("constant", "edge", "reflect"):
            for dtype in ("uint8", "float32"):
                cropped = _result_of(rm.crop, make_pixels(dtype), window, mode=mode, fill=(1, 2, 3))
                yield f"crop/{name}/{mode}/{dtype}", cropped
    for horizontal in (False, True):
        for vertical in (False, True):
            flipped = rm.flip(make_pixels("uint16"), horizontal=horizontal, vertical=vertical)
            yield f"flip/horizontal={horizontal}/vertical={vertical}", flipped
    yield from _affine_maps()
    yield from _normalization()


def _affine_maps() -> Results:
    matrix = np.array([[0.9, -0.3, 4.5], [0.25, 1.1, -3.0]])
    for dtype in ("uint8", "uint16", "float32"):
        for kernel in ("nearest", "bilinear"):
            moved = rm.affine(make_pixels(dtype), matrix, kernel=kernel, fill=(5, 6, 7))
            yield f"affine/{kernel}/{dtype}", moved
    for warp_kernel in ("nearest", "bilinear", "cubic", "lanczos4"):
        for inverse in (False, True):
            options: dict[str, Any] = {"kernel": warp_kernel, "inverse": inverse, "fill": (5, 6, 7)}
            warped = rm.warp_affine(make_pixels(), matrix, (30, 52), **options)
            yield f"warp_affine/{warp_kernel}/inverse={inverse}", warped


def _normalization() -> Results:
    for dtype in ("uint8", "uint16", "float32"):
        for layout in ("chw", "hwc"):
            for result in ("float16", "float32"):
                options: dict[str, Any] = {"layout": layout, "dtype": result}
                fractions = rm.normalize(make_pixels(dtype), rm.IMAGENET_MEAN, rm.IMAGENET_STD, **options)
                yield f"normalize/{dtype}/{layout}/{result}", fractions
    yield "normalize/white", rm.normalize(make_pixels(), 3.0, 2.0, white=255.0)


def _colors() -> Results:
    for name, pixels in {
        "rgb": make_pixels(),
        "gray": make_pixels(channels=1),
        "plane": make_pixels()[:, :, 1],
    }.items():
        for factor in (0, 0.3, 1, 2.5):
            yield f"adjust_brightness/{name}/{factor}", rm.adjust_brightness(pixels, factor)
            yield f"adjust_contrast/{name}/{factor}", rm.adjust_contrast(pixels, factor)
            yield f"adjust_saturation/{name}/{factor}", rm.adjust_saturation(pixels, factor)
        for turn in (-0.5, -0.1, 0.02, 0.37):
            yield f"adjust_hue/{name}/{turn}", rm.adjust_hue(pixels, turn)
        yield f"grayscale/{name}", rm.grayscale(pixels)
    for dtype in ("uint8", "float32"):
        pixels = make_pixels() if dtype == "uint8" else make_pixels("float32") / np.float32(255)
        yield f"adjust_saturation/tensorflow/{dtype}", rm.adjust_saturation(pixels, 1.7, like="tensorflow")
        yield f"adjust_hue/tensorflow/{dtype}", rm.adjust_hue(pixels, 0.3, like="tensorflow")
    fractions = make_pixels("float32") / np.float32(255)
    yield "rgb_to_hsv", rm.rgb_to_hsv(fractions)
    yield "hsv_to_rgb", rm.hsv_to_rgb(fractions)
    yield "rgb_to_hls", rm.rgb_to_hls(make_pixels())
    yield "rgb_to_hls/behind", rm.rgb_to_hls(make_pixels(), behind=5)
    yield "hls_to_rgb", rm.hls_to_rgb(rm.rgb_to_hls(make_pixels()))


def _boxes() -> Results:
    boxes = np.array([[0, 0, 1, 1], [0.2, 0.1, 0.7, 0.8], [0.9, 0.8, 0.1, -0.3], [-0.5, 0.2, 1.4, 0.3]], np.float32)
    for dtype in ("uint8", "uint16", "float32"):
        images = np.stack([make_pixels(dtype), make_pixels(dtype)[::-1]])
        for kernel in ("bilinear", "nearest"):
            cut = rm.resize_boxes(images, boxes, [0, 1, 1, 0], (14, 15), kernel=kernel, fill=9.0)
            yield f"resize_boxes/{kernel}/{dtype}", round_floats(cut, 3)
