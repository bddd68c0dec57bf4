"""Options of decoding one image: what to read from the file, and the format of the output array."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

MAX_PIXELS = 1 << 26  # default of every max_pixels parameter


@dataclass(frozen=True, slots=True)
class DecodeOptions:
    """How to decode an image file; the values are those of `Preset`.

    Parameters
    ----------
    channels : {"rgb", "gray", "stored"}
    dct : {"accurate", "fast"}
    upsampling : {"fancy", "plain"}
    gray : {"pillow", "libpng"}
    cmyk : {"pillow", "opencv", "tensorflow"}
    deep : {"refuse", "high_byte", "keep"}
        Treatment of 16-bit samples.
    scale : int
        Denominator of the decoded size: 1, 2, 4 or 8. Values above 1 need JPEG.
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
    dtype : {"uint8", "uint16", "float16", "float32"}
    layout : {"chw", "hwc"}
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
