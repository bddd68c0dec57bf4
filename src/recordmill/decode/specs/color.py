"""Specs of color transforms, which change 8-bit levels before normalization."""

from __future__ import annotations

from dataclasses import dataclass

from recordmill.decode.specs.base import Spec, check_number, parse_levels, parse_range
from recordmill.suggestions import suggest_constructor_arguments


@suggest_constructor_arguments
@dataclass(frozen=True, slots=True, repr=False)
class ColorJitter(Spec):
    """Change brightness, contrast, saturation and hue by random amounts, in random order.

    Parameters
    ----------
    brightness, contrast, saturation : float or (float, float)
        Range of the factor. One number ``x`` is the range from ``max(0, 1 - x)`` to ``1 + x``; 0 disables the change.
    hue : float or (float, float)
        Range of the hue shift as a fraction of the color circle, from -0.5 to 0.5. One number ``x`` is the range from
        ``-x`` to ``x``; 0 disables the change. Saturation and hue do not change gray images.
    probability : float
        Probability, from 0 to 1, that an image is changed at all.

    References
    ----------
    torchvision.transforms.ColorJitter on Pillow images.
    """

    brightness: float | tuple[float, float] = (1.0, 1.0)
    contrast: float | tuple[float, float] = (1.0, 1.0)
    saturation: float | tuple[float, float] = (1.0, 1.0)
    hue: float | tuple[float, float] = (0.0, 0.0)
    probability: float = 1.0

    def __post_init__(self) -> None:
        """Check the options, and convert single numbers to ranges."""
        for name in ("brightness", "contrast", "saturation"):
            self._set_fields(**{name: _parse_factors(name, getattr(self, name))})
        self._set_fields(hue=_parse_hue(self.hue), probability=check_number("probability", self.probability, 0, 1))


@suggest_constructor_arguments
@dataclass(frozen=True, slots=True, repr=False)
class RandomGrayscale(Spec):
    """Convert images to gray at random; the number of channels does not change.

    Parameters
    ----------
    probability : float
        Probability, from 0 to 1, that an image becomes gray.
    """

    probability: float = 0.1

    def __post_init__(self) -> None:
        """Check the options, and convert them to their canonical form."""
        self._set_fields(probability=check_number("probability", self.probability, 0, 1))


@suggest_constructor_arguments
@dataclass(frozen=True, slots=True, repr=False)
class PCANoise(Spec):
    """Add random multiples of the principal components of ImageNet's colors (AlexNet lighting noise).

    Parameters
    ----------
    std : float
        Standard deviation of the three random multiples.

    References
    ----------
    Krizhevsky, Sutskever, Hinton: ImageNet classification with deep convolutional neural networks, NIPS 2012, section
    4.1. The components are those of fb.resnet.torch.
    """

    std: float = 0.1

    def __post_init__(self) -> None:
        """Check the options, and convert them to their canonical form."""
        self._set_fields(std=check_number("std", self.std, 0, 100))


@suggest_constructor_arguments
@dataclass(frozen=True, slots=True, repr=False)
class RandomErasing(Spec):
    """Fill a rectangle of random area, aspect ratio and position.

    Up to ten rectangles are drawn. If none of them fits into the image, the image stays unchanged.

    Parameters
    ----------
    probability : float
        Probability, from 0 to 1, that an image is changed.
    scale : (float, float)
        Range of the area as a fraction of the image's area.
    ratio : (float, float)
        Range of height / width, sampled log-uniformly.
    fill : int or tuple of int
        Level from 0 to 255; one for all channels, or one per channel in the order red, green, blue.

    References
    ----------
    Zhong et al., Random erasing data augmentation, AAAI 2020.
    """

    probability: float = 0.5
    scale: tuple[float, float] = (0.02, 0.33)
    ratio: tuple[float, float] = (0.3, 3.3)
    fill: int | tuple[int, ...] = (0,)

    def __post_init__(self) -> None:
        """Check the options, and convert them to their canonical form."""
        self._set_fields(
            probability=check_number("probability", self.probability, 0, 1),
            scale=parse_range("scale", self.scale, 0, 1, exclude_low=True),
            ratio=parse_range("ratio", self.ratio, 0, 1000, exclude_low=True),
            fill=parse_levels("fill", self.fill),
        )


def _parse_factors(name: str, value: float | tuple[float, float]) -> tuple[float, float]:
    if isinstance(value, int | float):
        amount = check_number(name, value, 0, 100)
        return max(0.0, 1 - amount), 1 + amount
    return parse_range(name, value, 0, 100)


def _parse_hue(value: float | tuple[float, float]) -> tuple[float, float]:
    if isinstance(value, int | float):
        return -check_number("hue", value, 0, 0.5), float(value)
    return parse_range("hue", value, -0.5, 0.5)


Color = ColorJitter | RandomGrayscale | PCANoise | RandomErasing
