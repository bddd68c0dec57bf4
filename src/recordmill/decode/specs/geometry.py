"""Specs of resizing, cropping, flipping and affine maps."""

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

_SMALL = ("error", "pad", "enlarge")
_MODES = ("constant", "edge", "reflect")
_KERNELS = ("nearest", "bilinear")


@dataclass(frozen=True, slots=True, repr=False)
class Resize(Spec):
    """Bring every image to a size, or its shorter side to a length.

    Parameters
    ----------
    size : int or (int, int), optional
        Pixels of a square's side, or height and width.
    shorter : int, optional
        Pixels of the shorter side; the longer one is ``longer * shorter_wanted // shorter``, as in torchvision and
        MXNet. One of the two is needed.
    """

    size: int | tuple[int, int] | None = None
    shorter: int | None = None

    def __post_init__(self) -> None:
        """Check the options."""
        if (self.size is None) == (self.shorter is None):
            raise ValueError("Resize takes a size, or shorter=, the length of the shorter side")
        if self.size is not None:
            self._set(size=parse_size("size", self.size))
        else:
            self._set(shorter=check_int("shorter", self.shorter, 1, MAX_SIDE))


@dataclass(frozen=True, slots=True, repr=False)
class CenterCrop(Spec):
    """Take the middle of every image.

    Parameters
    ----------
    size : int or (int, int)
        Pixels of a square's side, or height and width.
    small : {"error", "pad", "enlarge"}
        What becomes of images smaller than that: refused; surrounded by `fill`, as torchvision does; or enlarged until
        both sides reach it, as MXNet's ImageRecordIter does.
    fill : int or tuple of int
        Level (0 to 255) of pixels that no image covers, one for each channel (red, green, blue) or one for all.
    """

    size: int | tuple[int, int]
    small: Small = "error"
    fill: int | tuple[int, ...] = (0,)

    def __post_init__(self) -> None:
        """Check the options."""
        check_choice("small", self.small, _SMALL)
        self._set(size=parse_size("size", self.size), fill=parse_levels("fill", self.fill))


@dataclass(frozen=True, slots=True, repr=False)
class RandomCrop(Spec):
    """Take a window of a size from anywhere in an image.

    Parameters
    ----------
    size : int or (int, int)
        Pixels of a square's side, or height and width.
    padding : int or (int, int, int, int)
        Pixels added to every side, or left, top, right and bottom, before the window is drawn.
    fill : int or tuple of int
        Level (0 to 255) of added pixels, one for each channel (red, green, blue) or one for all.
    mode : {"constant", "edge", "reflect"}
        What is added: `fill`, the outermost pixel again, or the image mirrored about its outermost pixels.
    small : {"error", "pad", "enlarge"}
        What becomes of images that are smaller, padding included: refused; padded on both sides by what is missing, as
        with torchvision's ``pad_if_needed``; or enlarged until both sides reach the size.
    """

    size: int | tuple[int, int]
    padding: int | tuple[int, int, int, int] = (0, 0, 0, 0)
    fill: int | tuple[int, ...] = (0,)
    mode: PadMode = "constant"
    small: Small = "error"

    def __post_init__(self) -> None:
        """Check the options."""
        check_choice("small", self.small, _SMALL)
        check_choice("mode", self.mode, _MODES)
        sides = (self.padding,) * 4 if isinstance(self.padding, int) else tuple(self.padding)
        if len(sides) != 4:
            raise ValueError(f"padding is one number, or left, top, right and bottom, not {self.padding!r}")
        padding = tuple(check_int("padding", side, 0, MAX_SIDE) for side in sides)
        self._set(size=parse_size("size", self.size), padding=padding, fill=parse_levels("fill", self.fill))


@dataclass(frozen=True, slots=True, repr=False)
class RandomResizedCrop(Spec):
    """Take a window of random area and shape, and bring it to a size.

    Ten windows are tried: area uniform in `scale` of the image's, width / height log-uniform in `ratio`, place uniform.
    If none fits into the image, the largest middle part whose shape is within `ratio` is taken.

    Parameters
    ----------
    size : int or (int, int)
        Pixels of a square's side, or height and width.
    scale : (float, float)
        Part of the image's area.
    ratio : (float, float)
        Width divided by height.

    References
    ----------
    Szegedy et al., Going deeper with convolutions, CVPR 2015, section 6; torchvision.transforms.RandomResizedCrop.
    """

    size: int | tuple[int, int]
    scale: tuple[float, float] = (0.08, 1.0)
    ratio: tuple[float, float] = (3 / 4, 4 / 3)

    def __post_init__(self) -> None:
        """Check the options."""
        self._set(
            size=parse_size("size", self.size),
            scale=parse_range("scale", self.scale, 0, 1, exclude_low=True),
            ratio=parse_range("ratio", self.ratio, 0, 1000, exclude_low=True),
        )


@dataclass(frozen=True, slots=True, repr=False)
class Flip(Spec):
    """Mirror images with a probability; both directions are drawn apart.

    Parameters
    ----------
    horizontal, vertical : float
        0 is never, 1 is always.
    """

    horizontal: float = 0.5
    vertical: float = 0.0

    def __post_init__(self) -> None:
        """Check the options."""
        for name in ("horizontal", "vertical"):
            self._set(**{name: check_number(name, getattr(self, name), 0, 1)})


@dataclass(frozen=True, slots=True, repr=False)
class RandomAffine(Spec):
    """Rotate, shift, scale and shear the finished cut about its middle.

    Parameters
    ----------
    degrees : float or (float, float)
        Rotation, clockwise; one number is the range from minus it to it.
    translate : (float, float)
        Largest shifts as parts of width and height.
    scale : (float, float)
        Enlargement.
    shear : float or (float, float)
        Degrees along x; one number is the range from minus it to it.
    kernel : {"nearest", "bilinear"}
        How pixels between pixels are found; masks take the nearest.
    fill : int or tuple of int
        Level (0 to 255) of pixels that the image no longer covers.

    References
    ----------
    Angles and order of the parts are those of torchvision.transforms.RandomAffine; sampling is Pillow's.
    """

    degrees: float | tuple[float, float] = (0.0, 0.0)
    translate: tuple[float, float] = (0.0, 0.0)
    scale: tuple[float, float] = (1.0, 1.0)
    shear: float | tuple[float, float] = (0.0, 0.0)
    kernel: Literal["nearest", "bilinear"] = "nearest"
    fill: int | tuple[int, ...] = (0,)

    def __post_init__(self) -> None:
        """Check the options."""
        check_choice("kernel", self.kernel, _KERNELS)
        translate = tuple(check_number("translate", one, 0, 1) for one in self.translate)
        if len(translate) != 2:
            raise ValueError(f"translate is parts of width and height, not {self.translate!r}")
        self._set(
            degrees=_about_zero("degrees", self.degrees, 360),
            translate=translate,
            scale=parse_range("scale", self.scale, 0, 100, exclude_low=True),
            shear=_about_zero("shear", self.shear, 80),
            fill=parse_levels("fill", self.fill),
        )


def _about_zero(name: str, value: float | tuple[float, float], limit: float) -> tuple[float, float]:
    if isinstance(value, int | float):
        return -check_number(name, value, 0, limit), check_number(name, value, 0, limit)
    return parse_range(name, value, -limit, limit)


@dataclass(frozen=True, slots=True, repr=False)
class GivenCrop(Spec):
    """Take the window that a feature names, and bring it to a size.

    Parameters
    ----------
    feature : str
        Four whole numbers for each sample: x, y, width and height in pixels of the decoded, upright image, or of what
        ``resize=`` makes of it.
    size : int or (int, int), optional
        Pixels of a square's side, or height and width; windows keep their own sizes by default.
    fill : int or tuple of int, optional
        Level (0 to 255) beyond the image, one for each channel in the order red, green, blue, or one for all. Without
        it, windows that do not lie within the image are errors. It does not go with `size`.
    """

    feature: str
    size: int | tuple[int, int] | None = None
    fill: int | tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        """Check the options."""
        _check_feature(self.feature)
        if self.size is not None:
            self._set(size=parse_size("size", self.size))
        if self.fill is not None:
            self._set(fill=parse_levels("fill", self.fill))
            if self.size is not None:
                raise ValueError("fill= is for windows that keep their sizes: leave size= out")


@dataclass(frozen=True, slots=True, repr=False)
class GivenFlip(Spec):
    """Mirror images left to right where a feature says so.

    Parameters
    ----------
    feature : str
        One number for each sample; the image is mirrored unless it is 0.
    """

    feature: str

    def __post_init__(self) -> None:
        """Check the option."""
        _check_feature(self.feature)


def _check_feature(name: object) -> None:
    if not isinstance(name, str):
        raise TypeError(f"feature is a name, not {name!r}")


Crop = CenterCrop | RandomCrop | RandomResizedCrop | GivenCrop
