"""What is done to the colors of an image; all of it works on 8-bit levels, before values are normalized."""

from __future__ import annotations

from dataclasses import dataclass

from recordmill.decode.specs.base import Spec, check_number, parse_levels, parse_range


@dataclass(frozen=True, slots=True, repr=False)
class ColorJitter(Spec):
    """Change brightness, contrast, saturation and hue by random amounts, in random order.

    Parameters
    ----------
    brightness, contrast, saturation : float or (float, float)
        Range of the factor; one number ``x`` is the range from ``max(0, 1 - x)`` to ``1 + x``. 0 leaves it alone.
    hue : float or (float, float)
        Range of the shift in turns of the color circle, within -0.5 to 0.5; one number is the range from minus it to
        it. 0 leaves it alone. Gray images have no hue and no saturation to change.
    probability : float
        Of doing anything at all.

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
        """Check the options."""
        for name in ("brightness", "contrast", "saturation"):
            self._set(**{name: _factors(name, getattr(self, name))})
        self._set(hue=_turn(self.hue), probability=check_number("probability", self.probability, 0, 1))


@dataclass(frozen=True, slots=True, repr=False)
class RandomGrayscale(Spec):
    """Make an image gray with a probability, and keep its channels.

    Parameters
    ----------
    probability : float
    """

    probability: float = 0.1

    def __post_init__(self) -> None:
        """Check the options."""
        self._set(probability=check_number("probability", self.probability, 0, 1))


@dataclass(frozen=True, slots=True, repr=False)
class PCANoise(Spec):
    """Shift colors along the principal axes of ImageNet's colors.

    Parameters
    ----------
    std : float
        Standard deviation of the amounts, one for each axis.

    References
    ----------
    Krizhevsky, Sutskever, Hinton: ImageNet classification with deep convolutional neural networks, NIPS 2012, section
    4.1; axes as published with fb.resnet.torch.
    """

    std: float = 0.1

    def __post_init__(self) -> None:
        """Check the options."""
        self._set(std=check_number("std", self.std, 0, 100))


@dataclass(frozen=True, slots=True, repr=False)
class RandomErasing(Spec):
    """Paint over a rectangle of random area, shape and place.

    Ten rectangles are tried; an image into which none fits stays whole.

    Parameters
    ----------
    probability : float
    scale : (float, float)
        Part of the image's area.
    ratio : (float, float)
        Height divided by width, log-uniform.
    fill : int or tuple of int
        Level (0 to 255) of the paint, one for each channel in the order red, green, blue, or one for all.

    References
    ----------
    Zhong et al., Random erasing data augmentation, AAAI 2020.
    """

    probability: float = 0.5
    scale: tuple[float, float] = (0.02, 0.33)
    ratio: tuple[float, float] = (0.3, 3.3)
    fill: int | tuple[int, ...] = (0,)

    def __post_init__(self) -> None:
        """Check the options."""
        self._set(
            probability=check_number("probability", self.probability, 0, 1),
            scale=parse_range("scale", self.scale, 0, 1, exclude_low=True),
            ratio=parse_range("ratio", self.ratio, 0, 1000, exclude_low=True),
            fill=parse_levels("fill", self.fill),
        )


def _factors(name: str, value: float | tuple[float, float]) -> tuple[float, float]:
    if isinstance(value, int | float):
        amount = check_number(name, value, 0, 100)
        return max(0.0, 1 - amount), 1 + amount
    return parse_range(name, value, 0, 100)


def _turn(value: float | tuple[float, float]) -> tuple[float, float]:
    if isinstance(value, int | float):
        return -check_number("hue", value, 0, 0.5), float(value)
    return parse_range("hue", value, -0.5, 0.5)


Color = ColorJitter | RandomGrayscale | PCANoise | RandomErasing
