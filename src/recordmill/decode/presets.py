"""Resize kernels, and presets of the ``like=`` parameter. A preset describes how a framework decodes and resizes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Like = Literal["pillow", "opencv", "tensorflow", "mxnet"]
Channels = Literal["rgb", "bgr", "gray", "stored"]
Orientation = Literal["ignore", "apply"]
Dct = Literal["accurate", "fast"]
Upsampling = Literal["fancy", "plain"]

IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)


@dataclass(frozen=True, slots=True)
class Preset:
    """Choices that one framework makes when it decodes and resizes images.

    Parameters
    ----------
    channels : str
        Order of the color channels. Either "rgb" or "bgr".
    orientation : str
        Treatment of the EXIF orientation. Either "ignore" or "apply".
    dct : str
        Inverse DCT of JPEG: "accurate" is libjpeg's ISLOW, "fast" its IFAST.
    upsampling : str
        Upsampling of subsampled JPEG chroma. Either "fancy" or "plain".
    library : str
        Library whose resize arithmetic is used. One of "pillow", "opencv" or "tensorflow".
    gray : str
        Conversion of color to gray. "pillow" computes it from RGB, rounded. "libpng" takes the luma plane of JPEG and
        libpng's weights for other formats.
    cmyk : str
        Library whose formula converts CMYK to RGB. One of "pillow", "opencv" or "tensorflow".
    deep : str
        Treatment of 16-bit samples when the output has 8 bits. Either "refuse" or "high_byte".
    center : str
        Start of a centered window when the margin is odd: "even" rounds half to even, as torchvision does; "floor"
        rounds down.
    """

    channels: Literal["rgb", "bgr"]
    orientation: Orientation
    dct: Dct
    upsampling: Upsampling
    library: Literal["pillow", "opencv", "tensorflow"]
    gray: Literal["pillow", "libpng"]
    cmyk: Literal["pillow", "opencv", "tensorflow"]
    deep: Literal["refuse", "high_byte"]
    center: Literal["even", "floor"]


PRESETS: dict[str, Preset] = {
    "pillow": Preset("rgb", "ignore", "accurate", "fancy", "pillow", "pillow", "pillow", "refuse", "even"),
    "opencv": Preset("bgr", "apply", "accurate", "fancy", "opencv", "libpng", "opencv", "high_byte", "floor"),
    "tensorflow": Preset("rgb", "ignore", "fast", "fancy", "tensorflow", "libpng", "tensorflow", "high_byte", "floor"),
    "mxnet": Preset("rgb", "apply", "accurate", "fancy", "opencv", "libpng", "opencv", "high_byte", "floor"),
}

# Kernels are grouped by library, because libraries use the same kernel name for different arithmetic.
KERNELS: dict[str, tuple[str, ...]] = {
    "pillow": ("nearest", "box", "bilinear", "hamming", "bicubic", "lanczos", "mks2013", "mks2021"),
    "opencv": ("nearest", "bilinear", "cubic", "area", "lanczos4", "auto", "area_or_bilinear"),
    "tensorflow": (
        *("nearest", "area", "bilinear", "bicubic", "lanczos3", "lanczos5", "gaussian", "mitchellcubic"),
        *(
            f"antialiased_{name}"
            for name in ("bilinear", "bicubic", "lanczos3", "lanczos5", "gaussian", "mitchellcubic")
        ),
    ),
}
DEFAULT_KERNEL = "bilinear"


def find_preset(like: str) -> Preset:
    """Return the preset of a framework."""
    if like not in PRESETS:
        raise ValueError(f"like must be one of {', '.join(map(repr, PRESETS))}, got {like!r}")
    return PRESETS[like]


def parse_kernel(kernel: str | None, like: str) -> str:
    """Return the full name of a resize kernel, ``"library:kernel"``."""
    library, _, name = (kernel or DEFAULT_KERNEL).rpartition(":")
    library = library or find_preset(like).library
    if name not in KERNELS.get(library, ()):
        known = ", ".join(f"{library}:{name}" for library, names in KERNELS.items() for name in names)
        raise ValueError(f"kernel must be one of {known}, got {kernel!r} with like={like!r}")
    return f"{library}:{name}"


def returns_float32(kernel: str) -> bool:
    """Return True if a resize kernel returns float32 for every input dtype."""
    library, _, name = kernel.partition(":")
    return library == "tensorflow" and name != "nearest"
