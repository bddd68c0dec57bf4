"""Options for decoding images: how to read the file, and the format of the output array."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

MAX_PIXELS = 1 << 26  # Default of all `max_pixels` parameters.


@dataclass(frozen=True, slots=True)
class DecodeOptions:
    """Options for decoding an image file. See `Preset` for what the option values mean.

    Parameters
    ----------
    channels : str
        One of "rgb", "gray" or "stored".
    dct : str
        Either "accurate" or "fast".
    upsampling : str
        Either "fancy" or "plain".
    gray : str
        Either "pillow" or "libpng".
    cmyk : str
        One of "pillow", "opencv" or "tensorflow".
    deep : str
        Treatment of 16-bit samples. One of "refuse", "high_byte" or "keep".
    scale : int
        Denominator of the decoded size: 1, 2, 4 or 8. Values above 1 are supported for JPEG only.
    """

    channels: Literal["rgb", "gray", "stored"] = "rgb"
    dct: str = "accurate"
    upsampling: str = "fancy"
    gray: str = "pillow"
    cmyk: str = "pillow"
    deep: str = "keep"
    scale: int = 1


@dataclass(frozen=True, slots=True)
class OutputFormat:
    """Format of the output array.

    Parameters
    ----------
    dtype : str
        One of "uint8", "uint16", "float16" or "float32".
    layout : str
        Either "chw" or "hwc".
    reverse : bool
        True for blue, green, red instead of red, green, blue.
    mean, std : tuple of float, optional
        One number, or one per output channel, in units of `white`.
    white : float
        Value of the brightest level in float output.
    scale_first : bool
        True to convert levels to floats in units of `white` before resizing instead of at the end.
    """

    dtype: str = "uint8"
    layout: str = "hwc"
    reverse: bool = False
    mean: tuple[float, ...] | None = None
    std: tuple[float, ...] | None = None
    white: float = 1.0
    scale_first: bool = False
