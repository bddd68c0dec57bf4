"""Specs of the geometric transforms of an image: resizing, cropping, flipping and affine maps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from recordmill.decode.specs.base import (
    MAX_SIDE,
    PadMode,
    Small,
    Spec,
    check_choice,
    check_int,
    check_number,
    parse_levels,
    parse_range,
    parse_size,
)
from recordmill.suggestions import suggest_constructor_arguments

_SMALL = ("error", "pad", "enlarge")
_MODES = ("constant", "edge", "reflect")
_KERNELS = ("nearest", "bilinear")


@suggest_constructor_arguments
@dataclass(frozen=True, slots=True, repr=False)
class Resize(Spec):
    """Resize every image to a fixed size, or resize its shorter side to a fixed length. Set `size` or `shorter`.

    Parameters
    ----------
    size : int or (int, int), optional
        Side of a square, or (height, width), in pixels.
    shorter : int, optional
        Length of the shorter side in pixels. The longer side becomes ``longer * new_shorter // shorter``, as in
        torchvision and MXNet.
    """

    size: int | tuple[int, int] | None = None
    shorter: int | None = None

    def __post_init__(self) -> None:
        """Check the options, and convert them to their canonical form."""
        if (self.size is None) == (self.shorter is None):
            raise ValueError("Resize requires exactly one of size= and shorter=")
        if self.size is not None:
            self._set_fields(size=parse_size("size", self.size))
        else:
            self._set_fields(shorter=check_int("shorter", self.shorter, 1, MAX_SIDE))


@suggest_constructor_arguments
@dataclass(frozen=True, slots=True, repr=False)
class CenterCrop(Spec):
    """Crop the center of every image.

    Parameters
    ----------
    size : int or (int, int)
        Side of a square, or (height, width), in pixels.
    small : str
        Treatment of images that are smaller than `size`. "error" raises an error, "pad" pads them with `fill`, as
        torchvision does, and "enlarge" enlarges them until both sides reach `size`, as MXNet's ImageRecordIter does.
    fill : int or tuple of int
        Level of the padding from 0 to 255; one for all channels, or one per channel in the order red, green, blue.

    Examples
    --------
    >>> image = rm.Image(resize=40, crop=rm.CenterCrop(32))
    >>> photo = Path("photo.jpg").read_bytes()
    >>> rm.decode_batch({"image": [photo]}, {"image": image})["image"].shape
    (1, 3, 32, 32)
    """

    size: int | tuple[int, int]
    small: Small = "error"
    fill: int | tuple[int, ...] = (0,)

    def __post_init__(self) -> None:
        """Check the options, and convert them to their canonical form."""
        check_choice("small", self.small, _SMALL)
        self._set_fields(size=parse_size("size", self.size), fill=parse_levels("fill", self.fill))


@suggest_constructor_arguments
@dataclass(frozen=True, slots=True, repr=False)
class RandomCrop(Spec):
    """Crop a window of fixed size at a random position.

    Parameters
    ----------
    size : int or (int, int)
        Side of a square, or (height, width), in pixels.
    padding : int or (int, int, int, int)
        Pixels added to every side, or to the left, top, right and bottom, before the position is drawn.
    fill : int or tuple of int
        Level of the padding from 0 to 255; one for all channels, or one per channel in the order red, green, blue.
    mode : str
        Content of the padding: "constant" is `fill`, "edge" the nearest edge pixel, "reflect" the image mirrored about
        its edge pixels.
    small : str
        Treatment of images that are smaller than `size` after padding. "error" raises an error, "pad" pads both sides
        by the missing pixels, as torchvision's ``pad_if_needed`` does, and "enlarge" enlarges them until both sides
        reach the size.
    """

    size: int | tuple[int, int]
    padding: int | tuple[int, int, int, int] = (0, 0, 0, 0)
    fill: int | tuple[int, ...] = (0,)
    mode: PadMode = "constant"
    small: Small = "error"

    def __post_init__(self) -> None:
        """Check the options, and convert them to their canonical form."""
        check_choice("small", self.small, _SMALL)
        check_choice("mode", self.mode, _MODES)
        sides = (self.padding,) * 4 if isinstance(self.padding, int) else tuple(self.padding)
        if len(sides) != 4:
            raise ValueError(f"padding must be an integer or (left, top, right, bottom), got {self.padding!r}")
        padding = tuple(check_int("padding", side, 0, MAX_SIDE) for side in sides)
        self._set_fields(size=parse_size("size", self.size), padding=padding, fill=parse_levels("fill", self.fill))


@suggest_constructor_arguments
@dataclass(frozen=True, slots=True, repr=False)
class RandomResizedCrop(Spec):
    """Crop a window of random area and aspect ratio, and resize it.

    Up to ten windows are drawn: the area uniformly from `scale`, the aspect ratio log-uniformly from `ratio`, the
    position uniformly. If none fits into the image, the largest centered window with an allowed aspect ratio is used.

    Parameters
    ----------
    size : int or (int, int)
        Size of the result: side of a square, or (height, width), in pixels.
    scale : (float, float)
        Range of the area as a fraction of the image's area.
    ratio : (float, float)
        Range of width / height.

    References
    ----------
    Szegedy et al., Going deeper with convolutions, CVPR 2015, section 6; torchvision.transforms.RandomResizedCrop.

    Examples
    --------
    >>> rm.Image(crop=rm.RandomResizedCrop(224, scale=(0.25, 1)), flip=True).crop.size
    (224, 224)
    """

    size: int | tuple[int, int]
    scale: tuple[float, float] = (0.08, 1.0)
    ratio: tuple[float, float] = (3 / 4, 4 / 3)

    def __post_init__(self) -> None:
        """Check the options, and convert them to their canonical form."""
        self._set_fields(
            size=parse_size("size", self.size),
            scale=parse_range("scale", self.scale, 0, 1, exclude_low=True),
            ratio=parse_range("ratio", self.ratio, 0, 1000, exclude_low=True),
        )


@suggest_constructor_arguments
@dataclass(frozen=True, slots=True, repr=False)
class Flip(Spec):
    """Flip images at random. Horizontal and vertical flips are independent.

    Parameters
    ----------
    horizontal : float
        Probability of a flip left to right, from 0 to 1.
    vertical : float
        Probability of a flip top to bottom, from 0 to 1.
    """

    horizontal: float = 0.5
    vertical: float = 0.0

    def __post_init__(self) -> None:
        """Check the options, and convert them to their canonical form."""
        for name in ("horizontal", "vertical"):
            self._set_fields(**{name: check_number(name, getattr(self, name), 0, 1)})


@suggest_constructor_arguments
@dataclass(frozen=True, slots=True, repr=False)
class RandomAffine(Spec):
    """Rotate, translate, scale and shear the cropped image about its center by random amounts.

    Parameters
    ----------
    degrees : float or (float, float)
        Range of the clockwise rotation in degrees; one number ``x`` is the range from ``-x`` to ``x``.
    translate : (float, float)
        Largest shifts as fractions of width and height.
    scale : (float, float)
        Range of the scale factor.
    shear : float or (float, float)
        Range of the shear along x in degrees; one number ``x`` is the range from ``-x`` to ``x``.
    kernel : str
        Interpolation of images; masks always use "nearest". Either "nearest" or "bilinear".
    fill : int or tuple of int
        Level, from 0 to 255, of pixels outside the image; one for all channels, or one per channel in the order red,
        green, blue.

    References
    ----------
    The angles and the order of the steps are those of torchvision.transforms.RandomAffine. The sampling is Pillow's.
    """

    degrees: float | tuple[float, float] = (0.0, 0.0)
    translate: tuple[float, float] = (0.0, 0.0)
    scale: tuple[float, float] = (1.0, 1.0)
    shear: float | tuple[float, float] = (0.0, 0.0)
    kernel: Literal["nearest", "bilinear"] = "nearest"
    fill: int | tuple[int, ...] = (0,)

    def __post_init__(self) -> None:
        """Check the options, and convert them to their canonical form."""
        check_choice("kernel", self.kernel, _KERNELS)
        translate = tuple(check_number("translate", one, 0, 1) for one in self.translate)
        if len(translate) != 2:
            raise ValueError(f"translate must be two fractions (of width and height), got {self.translate!r}")
        self._set_fields(
            degrees=_parse_symmetric_range("degrees", self.degrees, 360),
            translate=translate,
            scale=parse_range("scale", self.scale, 0, 100, exclude_low=True),
            shear=_parse_symmetric_range("shear", self.shear, 80),
            fill=parse_levels("fill", self.fill),
        )


def _parse_symmetric_range(name: str, value: float | tuple[float, float], limit: float) -> tuple[float, float]:
    if isinstance(value, int | float):
        return -check_number(name, value, 0, limit), check_number(name, value, 0, limit)
    return parse_range(name, value, -limit, limit)


@suggest_constructor_arguments
@dataclass(frozen=True, slots=True, repr=False)
class GivenCrop(Spec):
    """Crop the window whose coordinates are stored in a feature of the sample, and optionally resize it.

    Parameters
    ----------
    feature : str
        Name of a feature with four integers per sample: x, y, width and height, in pixels of the decoded, upright image
        after `Image.resize`.
    size : int or (int, int), optional
        Size of the result: side of a square, or (height, width), in pixels. By default windows keep their sizes.
    fill : int or tuple of int, optional
        Level, from 0 to 255, of pixels outside the image; one for all channels, or one per channel in the order red,
        green, blue. Without `fill`, a window that reaches beyond the image is an error. Cannot be combined with `size`.
    """

    feature: str
    size: int | tuple[int, int] | None = None
    fill: int | tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        """Check the options, and convert them to their canonical form."""
        _check_feature(self.feature)
        if self.size is not None:
            self._set_fields(size=parse_size("size", self.size))
        if self.fill is not None:
            self._set_fields(fill=parse_levels("fill", self.fill))
            if self.size is not None:
                raise ValueError("fill cannot be combined with size")


@suggest_constructor_arguments
@dataclass(frozen=True, slots=True, repr=False)
class GivenFlip(Spec):
    """Flip images left to right if a feature of the sample is not 0.

    Parameters
    ----------
    feature : str
        Name of a feature with one number per sample.
    """

    feature: str

    def __post_init__(self) -> None:
        """Raise TypeError if the option is invalid."""
        _check_feature(self.feature)


def _check_feature(name: object) -> None:
    if not isinstance(name, str):
        raise TypeError(f"feature must be the name of a feature, got {name!r}")


Crop = CenterCrop | RandomCrop | RandomResizedCrop | GivenCrop
