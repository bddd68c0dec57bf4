"""The `Image` spec: how encoded images are decoded, transformed and normalized."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

from recordmill.decode.presets import (
    Channels,
    Dct,
    Like,
    Orientation,
    Upsampling,
    find_preset,
    parse_kernel,
    returns_float32,
)
from recordmill.decode.specs.base import Spec, check_choice, check_number, parse_channel_values
from recordmill.decode.specs.color import Color
from recordmill.decode.specs.geometry import (
    CenterCrop,
    Crop,
    Flip,
    GivenCrop,
    GivenFlip,
    RandomAffine,
    RandomCrop,
    RandomResizedCrop,
    Resize,
)
from recordmill.suggestions import suggest_constructor_arguments

Decoder = Literal["auto", "pillow", "native"]
Layout = Literal["chw", "hwc"]
Dtype = Literal["uint8", "uint16", "float16", "float32"]
_CHANNEL_ALIASES: dict[Any, Channels] = {1: "gray", 3: "rgb", "grey": "gray"}
_CHOICES: dict[str, tuple[str, ...]] = {
    "channels": ("rgb", "bgr", "gray", "stored"),
    "orientation": ("ignore", "apply"),
    "dct": ("accurate", "fast"),
    "upsampling": ("fancy", "plain"),
    "dtype": ("uint8", "uint16", "float16", "float32"),
}


@suggest_constructor_arguments
@dataclass(frozen=True, slots=True, repr=False)
class Image(Spec):
    """Decode an image, then resize, crop, flip, warp, recolor and normalize it, in this order.

    Options that are None take the defaults of the framework `like`, which ``docs/guide/decoding.md`` lists.

    Parameters
    ----------
    crop : CenterCrop, RandomCrop, RandomResizedCrop or GivenCrop, optional
        Crop after `resize`.
    resize : Resize, int or (int, int), optional
        An integer is the length of the shorter side, a pair is (height, width). Cannot be combined with
        RandomResizedCrop or with a GivenCrop that has a size, because these crops already resize the image.
    flip : bool, float, Flip or GivenFlip
        True flips left to right with a probability of 0.5; a number sets another probability.
    affine : RandomAffine, optional
        Affine map of the cropped image.
    color : sequence of ColorJitter, RandomGrayscale, PCANoise and RandomErasing
        Color steps in the order of the sequence, on 8-bit gray or red, green, blue.
    channels : str or int, optional
        Channels of the output: 1 is "gray", 3 is "rgb". For "rgb" and "bgr", gray is copied to all channels, alpha is
        dropped and CMYK is converted. "stored" keeps the channels of the file, colors in the order red, green, blue.
    like : str
        Framework whose choices are the defaults of the other options. One of "pillow", "opencv", "tensorflow" or
        "mxnet".
    orientation : str, optional
        Whether to apply the EXIF orientation. Either "ignore" or "apply".
    dct : str, optional
        Inverse DCT of JPEG: "accurate" is libjpeg's ISLOW, "fast" its IFAST.
    upsampling : str, optional
        Upsampling of subsampled JPEG chroma: "fancy" interpolates, "plain" repeats values.
    kernel : str, optional
        Resize kernel: a name from the library of `like`, such as "bilinear", or "library:kernel".
    reduce : int or str
        Denominator of the size at which JPEG images are decoded. With 2, 4 and 8, images of other formats raise an
        error. "auto" chooses, for every image, the largest denominator that does not require enlarging the window
        afterwards. This is faster for large photographs and changes pixels slightly.
    mean, std : float or sequence of float, optional
        `mean` is subtracted, and the result is divided by `std`. One number, or one per output channel, in units of
        `white`. `IMAGENET_MEAN` and `IMAGENET_STD` fit the default of `white`.
    white : float
        Value of the brightest level in float output: 1.0, or 255.0 to keep 8-bit levels.
    scale : float, optional
        Factor that converts 8-bit levels to float output, as an alternative to `white`: 1 / 255 is the same as
        ``white=1.0``.
    scale_first : bool
        Whether to convert levels to floats in units of `white` before resizing instead of after it, which changes the
        last bits. Requires a float dtype and a kernel that returns floats, such as "tensorflow:bilinear". Can be
        combined with `resize`, `GivenCrop` and `flip` only.
    dtype : str, optional
        Dtype of the output. The default is float32 with `mean` or `std`, else uint8. In uint16, 8-bit levels are
        multiplied by 257. One of "uint8", "uint16", "float16" or "float32".
    layout : str
        Channels first or last. Either "chw" or "hwc".
    stack : bool
        True for one array per batch, which requires images of one size; False for a list of arrays.
    decoder : str
        "native" decodes JPEG and PNG natively, and raises an error for other formats. "auto" decodes natively, and uses
        Pillow for images that the native decoder does not support. "pillow" decodes all images with Pillow, which
        accepts some damaged JPEG and PNG files that the native decoder rejects.
    feature : str, optional
        Name of the feature that contains the encoded image; by default the name of the output.

    Raises
    ------
    ValueError
        If an option has an unknown value, or options cannot be combined.
    TypeError
        If an option has a value of another type.

    Examples
    --------
    >>> rm.Image(crop=rm.RandomResizedCrop(224), flip=True)
    Image(crop=RandomResizedCrop((224, 224)), flip=Flip())
    """

    crop: Crop | None = None
    resize: Resize | int | tuple[int, int] | None = None
    flip: bool | float | Flip | GivenFlip | None = None
    affine: RandomAffine | None = None
    color: Sequence[Color] = ()
    channels: Channels | Literal[1, 3] | None = None
    like: Like = "pillow"
    orientation: Orientation | None = None
    dct: Dct | None = None
    upsampling: Upsampling | None = None
    kernel: str | None = None
    reduce: Literal[1, 2, 4, 8, "auto"] = 1
    mean: float | Sequence[float] | None = None
    std: float | Sequence[float] | None = None
    white: float = 1.0
    scale: float | None = None
    scale_first: bool = False
    dtype: Dtype | None = None
    layout: Layout = "chw"
    stack: bool = True
    decoder: Decoder = "auto"
    feature: str | None = None

    def __post_init__(self) -> None:
        """Check the options, and convert them to their canonical form."""
        find_preset(self.like)
        self._set_fields(resize=_parse_resize(self.resize), channels=_CHANNEL_ALIASES.get(self.channels, self.channels))
        if self.scale is not None:
            self._apply_scale(check_number("scale", self.scale, 1e-9, 1e6))
        for name, choices in _CHOICES.items():
            if getattr(self, name) is not None:
                check_choice(name, getattr(self, name), choices)
        check_choice("layout", self.layout, ("chw", "hwc"))
        check_choice("decoder", self.decoder, ("auto", "pillow", "native"))
        if self.kernel is not None:
            parse_kernel(self.kernel, self.like)
        if self.reduce not in (1, 2, 4, 8, "auto"):
            raise ValueError(f"reduce must be 1, 2, 4, 8 or 'auto', got {self.reduce!r}")
        self._set_fields(
            flip=_parse_flip(self.flip), color=tuple(self.color), mean=parse_channel_values("mean", self.mean)
        )
        self._set_fields(std=parse_channel_values("std", self.std), white=check_number("white", self.white, 1e-6, 1e6))
        self._check_geometry()
        self._check_color()
        self._check_fill_and_normalization()
        if self.scale_first:
            self._check_scale_first()

    def _apply_scale(self, scale: float) -> None:
        """Replace the option `scale` with ``white = 255 * scale``. If `dtype` is not set, set it to float32."""
        if self.white != 1.0 or self.dtype in ("uint8", "uint16"):
            found = f"dtype={self.dtype!r} and white={self.white}"
            raise ValueError(f"scale requires a float dtype and the default white=1.0, got {found}")
        self._set_fields(white=255 * scale, dtype=self.dtype or "float32", scale=None)

    def _check_geometry(self) -> None:
        _check_option_type("crop", self.crop, CenterCrop, RandomCrop, RandomResizedCrop, GivenCrop)
        _check_option_type("resize", self.resize, Resize)
        _check_option_type("affine", self.affine, RandomAffine)
        sized = isinstance(self.crop, RandomResizedCrop) or (isinstance(self.crop, GivenCrop) and self.crop.size)
        if sized and self.resize is not None:
            name = type(self.crop).__name__
            raise ValueError(f"resize cannot be combined with {name}, which already resizes the image")

    def _check_color(self) -> None:
        for step in self.color:
            _check_option_type("color", step, *get_args(Color))
        if self.color and self.channels == "stored":
            raise ValueError('color cannot be combined with channels="stored"; use "rgb", "bgr" or "gray"')
        if self.color and self.dtype == "uint16":
            raise ValueError(
                'color cannot be combined with dtype="uint16", because color transforms require 8-bit levels'
            )

    def _check_scale_first(self) -> None:
        is_cropped = self.crop is not None and not isinstance(self.crop, GivenCrop)
        if is_cropped or self.affine is not None or self.color:
            raise ValueError("scale_first can only be combined with resize, flip and GivenCrop")
        if not returns_float32(parse_kernel(self.kernel, self.like)):
            raise ValueError('scale_first requires a kernel that returns floats, such as "tensorflow:bilinear"')
        if self.dtype not in ("float16", "float32") and (self.dtype or (self.mean is None and self.std is None)):
            raise ValueError(f"scale_first requires a float dtype, got {self.dtype!r}")

    def _check_fill_and_normalization(self) -> None:
        counts: dict[Any, tuple[int, ...]] = {"gray": (1,), "rgb": (1, 3), "bgr": (1, 3), None: (1, 3)}
        allowed = counts.get(self.channels, (1, 2, 3, 4))
        for part in (self.crop, self.affine, *self.color):
            fill = getattr(part, "fill", None) or (0,)
            if len(fill) not in allowed:
                raise ValueError(f"fill must have 1 level, or 1 per channel of the output, got {len(fill)}")
        for name in ("mean", "std"):
            values = getattr(self, name)
            if values is not None and self.dtype in ("uint8", "uint16"):
                raise ValueError(f"{name} requires a float dtype, got {self.dtype!r}")
            if values is not None and len(values) not in allowed:
                raise ValueError(f"{name} must have 1 value, or 1 per channel of the output, got {len(values)}")
        if self.std is not None and min(cast("tuple[float, ...]", self.std)) <= 0:
            raise ValueError(f"std must be above 0, got {self.std}")


def _parse_resize(value: Any) -> Resize | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return Resize(shorter=value)
    return Resize((value[0], value[1])) if isinstance(value, tuple | list) and len(value) == 2 else value


def _parse_flip(value: bool | float | Flip | GivenFlip | None) -> Flip | GivenFlip | None:
    if value is None or value is False or isinstance(value, Flip | GivenFlip):
        return value or None
    return Flip() if value is True else Flip(value)


def _check_option_type(name: str, value: object, *types: type) -> None:
    if value is not None and not isinstance(value, types):
        raise TypeError(f"{name} must be a {' or '.join(one.__name__ for one in types)}, got {value!r}")
