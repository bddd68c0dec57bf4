"""What `like=` means: the choices of each framework, as tables."""

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
    """The choices of one framework.

    Parameters
    ----------
    channels : {"rgb", "bgr"}
        Order of colors.
    orientation : {"ignore", "apply"}
        Whether a rotation that EXIF asks for is carried out.
    dct : {"accurate", "fast"}
        The inverse transform of JPEG, in libjpeg's words ISLOW or IFAST.
    upsampling : {"fancy", "plain"}
        How halved color planes of JPEG are brought to size.
    library : {"pillow", "opencv", "tensorflow"}
        Whose arithmetic resizes.
    gray : {"pillow", "libpng"}
        How color becomes gray: from the colors, rounded; or the luma plane of JPEG, and libpng's weights elsewhere.
    cmyk : {"pillow", "opencv", "tensorflow"}
        Whose formula turns CMYK into colors.
    deep : {"refuse", "high_byte"}
        What becomes of 16-bit samples where 8 bits are wanted.
    center : {"even", "floor"}
        Where a centerd window begins when as many pixels cannot be left on both sides: at the even one of the two
        places (as torchvision does), or at the upper and left one.
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

# library: its kernels; the same word means another arithmetic in another library.
KERNELS: dict[str, tuple[str, ...]] = {
    "pillow": ("nearest", "box", "bilinear", "hamming", "bicubic", "lanczos", "mks2013", "mks2021"),
    "opencv": ("nearest", "bilinear", "cubic", "area", "lanczos4", "auto", "area_or_bilinear"),
    "tensorflow": (
        *("nearest", "area", "bilinear", "bicubic", "lanczos3", "lanczos5", "gaussian", "mitchellcubic"),
        *(
            f"antialiased_{word}"
            for word in ("bilinear", "bicubic", "lanczos3", "lanczos5", "gaussian", "mitchellcubic")
        ),
    ),
}
DEFAULT_KERNEL = "bilinear"


def preset_of(like: str) -> Preset:
    """Return the choices of a framework."""
    if like not in PRESETS:
        raise ValueError(f"like is one of {', '.join(PRESETS)}, not {like!r}")
    return PRESETS[like]


def kernel_of(kernel: str | None, like: str) -> str:
    """Full name of a resize kernel, ``"library:kernel"``."""
    library, _, word = (kernel or DEFAULT_KERNEL).rpartition(":")
    library = library or preset_of(like).library
    if word not in KERNELS.get(library, ()):
        known = ", ".join(f"{name}:{one}" for name, kernels in KERNELS.items() for one in kernels)
        raise ValueError(f"no resize kernel {kernel!r} like {like}; there are {known}")
    return f"{library}:{word}"


def gives_floats(kernel: str) -> bool:
    """Whether a kernel gives float32 whatever it takes."""
    library, _, word = kernel.partition(":")
    return library == "tensorflow" and word != "nearest"
