"""How an encoded image becomes an array."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

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
from recordmill.decode.specs.color import Color, ColorJitter, PCANoise, RandomErasing, RandomGrayscale
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

Decoder = Literal["auto", "pillow", "native"]
Layout = Literal["chw", "hwc"]
Dtype = Literal["uint8", "uint16", "float16", "float32"]
_CHANNELS: dict[Any, Channels] = {1: "gray", 3: "rgb", "grey": "gray"}
_WORDS: dict[str, tuple[str, ...]] = {
    "channels": ("rgb", "bgr", "gray", "stored"),
    "orientation": ("ignore", "apply"),
    "dct": ("accurate", "fast"),
    "upsampling": ("fancy", "plain"),
    "dtype": ("uint8", "uint16", "float16", "float32"),
}


@dataclass(frozen=True, slots=True, repr=False)
class Image(Spec):
    """An encoded image, decoded, cut, colored and normalized.

    The order of the steps is fixed: orientation, `resize`, `crop`, `flip`, `affine`, `color`, then values. What is
    None is as `like` says; `docs/guide/images.md` has the table.

    Parameters
    ----------
    crop : CenterCrop, RandomCrop, RandomResizedCrop or GivenCrop, optional
    resize : Resize, int or (int, int), optional
        Done before `crop`; RandomResizedCrop, and GivenCrop with a size, resize by themselves. A number is the length
        of the shorter side, a pair height and width.
    flip : bool, float, Flip or GivenFlip
        True is left to right with a probability of one half, a number another probability.
    affine : RandomAffine, optional
        Of the finished cut.
    color : sequence of ColorJitter, RandomGrayscale, PCANoise and RandomErasing
        In this order, on red, green and blue of 8 bits.
    channels : {"rgb", "bgr", "gray", "stored"} or {1, 3}, optional
        1 is "gray", 3 is "rgb"; "stored" is what the file holds, colors in the order red, green, blue. Where "rgb" or
        "bgr" is wanted, gray is repeated, transparency is dropped and CMYK is converted.
    like : {"pillow", "opencv", "tensorflow", "mxnet"}
        Whose choices hold where an option is not given.
    orientation : {"ignore", "apply"}, optional
        What becomes of a rotation that EXIF asks for.
    dct : {"accurate", "fast"}, optional
        Inverse transform of JPEG.
    upsampling : {"fancy", "plain"}, optional
        How halved color planes of JPEG are brought to size.
    kernel : str, optional
        How pixels are weighted in resizing, in the words of the preset's library ("bilinear"), or "library:kernel".
    reduce : {1, 2, 4, 8, "auto"}
        Decode JPEG at a half, a quarter or an eighth of its size; other formats are refused then. "auto" takes the
        smallest of these whose window is not smaller than the size that it is brought to, image by image: faster on
        large photographs, with slightly other pixels.
    mean, std : float or sequence of float, optional
        Subtracted, then divided by, in the order of the output's channels and in units of `white`:
        `IMAGENET_MEAN` and `IMAGENET_STD` go with the default.
    white : float
        Value of the brightest level in float output: 1.0, or 255.0 for levels as they are.
    scale : float, optional
        What 8-bit levels are multiplied by: 1 / 255 is another way to ask for float32 with ``white=1.0``.
    scale_first : bool
        Whether levels become floats in units of `white` before they are resized, as in programs that convert images
        first: the last bits are others. It needs a float dtype and a kernel that gives floats, such as
        "tensorflow:bilinear", and works with `resize`, `GivenCrop` and `flip`.
    dtype : {"uint8", "uint16", "float16", "float32"}, optional
        float32 where `mean` or `std` is given, else uint8. uint16 holds 8-bit levels times 257.
    layout : {"chw", "hwc"}
        Channels first or last.
    stack : bool
        True for one array per batch, which needs images of one size; False for a list of arrays.
    decoder : {"auto", "pillow", "native"}
        Who decodes. "auto" is native, with Pillow for what is not decoded natively; damaged JPEG and PNG are errors, of
        which "pillow" takes what Pillow makes.
    feature : str, optional
        Where the bytes are; the name of the output by default.

    Raises
    ------
    ValueError, TypeError
        Options that exist not, or do not go together.

    Examples
    --------
    >>> Image(crop=RandomResizedCrop(224), flip=True)
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
        """Check the options and bring them to one form."""
        find_preset(self.like)
        self._set(resize=_resize(self.resize), channels=_CHANNELS.get(self.channels, self.channels))
        if self.scale is not None:
            self._scale(check_number("scale", self.scale, 1e-9, 1e6))
        for name, allowed in _WORDS.items():
            if getattr(self, name) is not None:
                check_choice(name, getattr(self, name), allowed)
        check_choice("layout", self.layout, ("chw", "hwc"))
        check_choice("decoder", self.decoder, ("auto", "pillow", "native"))
        if self.kernel is not None:
            parse_kernel(self.kernel, self.like)
        if self.reduce not in (1, 2, 4, 8, "auto"):
            raise ValueError(f"reduce is 1, 2, 4, 8 or 'auto', not {self.reduce!r}")
        self._set(flip=_flip(self.flip), color=tuple(self.color), mean=parse_channel_values("mean", self.mean))
        self._set(std=parse_channel_values("std", self.std), white=check_number("white", self.white, 1e-6, 1e6))
        self._check_geometry()
        self._check_color()
        self._check_values()
        if self.scale_first:
            self._check_order()

    def _scale(self, scale: float) -> None:
        """Say the same by `white` and `dtype`."""
        if self.white != 1.0 or self.dtype in ("uint8", "uint16"):
            raise ValueError("scale= is another way to say white=, and needs a float dtype")
        self._set(white=255 * scale, dtype=self.dtype or "float32", scale=None)

    def _check_geometry(self) -> None:
        _check_type("crop", self.crop, CenterCrop, RandomCrop, RandomResizedCrop, GivenCrop)
        _check_type("resize", self.resize, Resize)
        _check_type("affine", self.affine, RandomAffine)
        sized = isinstance(self.crop, RandomResizedCrop) or (isinstance(self.crop, GivenCrop) and self.crop.size)
        if sized and self.resize is not None:
            raise ValueError(f"{type(self.crop).__name__} brings its window to a size by itself: leave resize= out")

    def _check_color(self) -> None:
        for piece in self.color:
            _check_type("color", piece, ColorJitter, RandomGrayscale, PCANoise, RandomErasing)
        if self.color and self.channels == "stored":
            raise ValueError('color= works on red, green and blue, or gray: channels="stored" may be anything else')
        if self.color and self.dtype == "uint16":
            raise ValueError('color= works on 8-bit levels, not with dtype="uint16"')

    def _check_order(self) -> None:
        is_cropped = self.crop is not None and not isinstance(self.crop, GivenCrop)
        if is_cropped or self.affine is not None or self.color:
            raise ValueError("scale_first= works with resize=, flip= and GivenCrop, not with other crops or color=")
        if not returns_float32(parse_kernel(self.kernel, self.like)):
            raise ValueError('scale_first= needs a kernel that gives floats, such as "tensorflow:bilinear"')
        if self.dtype not in ("float16", "float32") and (self.dtype or (self.mean is None and self.std is None)):
            raise ValueError("scale_first= needs a float dtype")

    def _check_values(self) -> None:
        known: dict[Any, tuple[int, ...]] = {"gray": (1,), "rgb": (1, 3), "bgr": (1, 3), None: (1, 3)}
        wanted = known.get(self.channels, (1, 2, 3, 4))
        for piece in (self.crop, self.affine, *self.color):
            fill = getattr(piece, "fill", None) or (0,)
            if len(fill) not in wanted:
                raise ValueError(f"fill has one level, or one for every channel of the output, not {len(fill)}")
        for name in ("mean", "std"):
            values = getattr(self, name)
            if values is not None and self.dtype in ("uint8", "uint16"):
                raise ValueError(f"{name}= needs a float dtype, not {self.dtype!r}")
            if values is not None and len(values) not in wanted:
                raise ValueError(f"{name} has a number for every channel of the output, not {len(values)}")
        if self.std is not None and min(cast("tuple[float, ...]", self.std)) <= 0:
            raise ValueError(f"std is above 0, not {self.std}")


def _resize(value: Any) -> Resize | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return Resize(shorter=value)
    return Resize((value[0], value[1])) if isinstance(value, tuple | list) and len(value) == 2 else value


def _flip(value: bool | float | Flip | GivenFlip | None) -> Flip | GivenFlip | None:
    if value is None or value is False or isinstance(value, Flip | GivenFlip):
        return value or None
    return Flip() if value is True else Flip(value)


def _check_type(name: str, value: object, *types: type) -> None:
    if value is not None and not isinstance(value, types):
        raise TypeError(f"{name} is a {' or '.join(one.__name__ for one in types)}, not {value!r}")
