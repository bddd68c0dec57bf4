"""Augmenters of colours, for float32 images with red first."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from recordmill.compat.mxnet.base import MXNetError
from recordmill.compat.mxnet.image.augmenters import Augmenter, RandomOrderAug
from recordmill.compat.mxnet.nd import array, sum, wrap  # noqa: A004 (MXNet's)

# Weights of red, green and blue in brightness (ITU-R BT.601).
_LUMA = array([0.299, 0.587, 0.114])
# To luma and two chroma axes, and back (NTSC's YIQ, rounded as MXNet has it).
_TO_YIQ = np.array([[0.299, 0.587, 0.114], [0.596, -0.274, -0.321], [0.211, -0.523, 0.311]])
_FROM_YIQ = np.array([[1.0, 0.956, 0.621], [1.0, -0.272, -0.647], [1.0, -1.107, 1.705]])
# Principal axes of ImageNet's colours (Krizhevsky et al. 2012, numbers of fb.resnet.torch).
EIGENVALUES = np.array([55.46, 4.794, 1.148])
EIGENVECTORS = np.array([[-0.5675, 0.7192, 0.4009], [-0.5808, -0.0045, -0.8140], [-0.5836, -0.6948, 0.4203]])
_GREYS = np.array([[0.21] * 3, [0.72] * 3, [0.07] * 3], np.float32)


def _factor(amount: float) -> float:
    return 1.0 + random.uniform(-amount, amount)


class BrightnessJitterAug(Augmenter):
    """Multiply all levels by a factor."""

    def __init__(self, brightness: float) -> None:
        super().__init__(brightness=brightness)
        self.brightness = brightness

    def __call__(self, src: Any) -> Any:
        """Change the brightness, in place."""
        src *= _factor(self.brightness)
        return src


class ContrastJitterAug(Augmenter):
    """Move all levels away from the image's mean brightness, or towards it."""

    def __init__(self, contrast: float) -> None:
        super().__init__(contrast=contrast)
        self.contrast = contrast

    def draw(self) -> float:
        """Factor by which levels are moved."""
        return _factor(self.contrast)

    def __call__(self, src: Any) -> Any:
        """Change the contrast, in place."""
        alpha = self.draw()
        toned = src * _LUMA  # of three channels, also where the image has one
        grey = sum(toned) * (3.0 * (1.0 - alpha) / toned.size)
        src *= alpha
        src += grey
        return src


class SaturationJitterAug(Augmenter):
    """Move all colours away from their grey, or towards it."""

    def __init__(self, saturation: float) -> None:
        super().__init__(saturation=saturation)
        self.saturation = saturation

    def draw(self) -> float:
        """Factor by which colours are moved."""
        return _factor(self.saturation)

    def __call__(self, src: Any) -> Any:
        """Change the saturation, in place."""
        alpha = self.draw()
        grey = sum(src * _LUMA, axis=2, keepdims=True) * (1.0 - alpha)
        src *= alpha
        src += grey
        return src


class HueJitterAug(Augmenter):
    """Turn all colours about the axis of greys."""

    def __init__(self, hue: float) -> None:
        super().__init__(hue=hue)
        self.hue = hue

    def __call__(self, src: Any) -> Any:
        """Turn the colours."""
        angle = random.uniform(-self.hue, self.hue) * np.pi
        cosine, sine = np.cos(angle), np.sin(angle)
        turn = np.array([[1.0, 0.0, 0.0], [0.0, cosine, -sine], [0.0, sine, cosine]])
        return _mixed(src, (_FROM_YIQ @ turn @ _TO_YIQ).T.astype(np.float32))


class ColorJitterAug(RandomOrderAug):
    """Brightness, contrast and saturation, in random order."""

    def __init__(self, brightness: float, contrast: float, saturation: float) -> None:
        kinds = ((BrightnessJitterAug, brightness), (ContrastJitterAug, contrast), (SaturationJitterAug, saturation))
        super().__init__([kind(amount) for kind, amount in kinds if amount > 0])


class LightingAug(Augmenter):
    """Shift colours along principal axes by normal amounts."""

    def __init__(self, alphastd: float, eigval: Any, eigvec: Any) -> None:
        super().__init__(alphastd=alphastd, eigval=eigval, eigvec=eigvec)
        self.alphastd, self.eigval, self.eigvec = alphastd, np.asarray(eigval), np.asarray(eigvec)

    def __call__(self, src: Any) -> Any:
        """Shift the colours, in place."""
        amounts = np.random.normal(0, self.alphastd, size=(3,))  # noqa: NPY002 (np.random.seed repeats it)
        src += array(np.dot(self.eigvec * amounts, self.eigval))
        return src


class RandomGrayAug(Augmenter):
    """Make an image grey with a probability, and keep its channels."""

    def __init__(self, p: float) -> None:
        super().__init__(p=p)
        self.p = p

    def __call__(self, src: Any) -> Any:
        """Make it grey, or not."""
        return _mixed(src, _GREYS) if random.random() < self.p else src


def _mixed(src: Any, weights: Any) -> Any:
    """Colours as sums of the three that there were."""
    if src.shape[-1] != len(weights):
        message = f"Check failed: dot shape error: {list(src.shape)} X {list(weights.shape)}"
        raise MXNetError(message, kind="channel_mismatch", expected="3 channels", found=str(src.shape[-1]))
    pixels = np.asarray(src)
    return wrap((pixels.reshape(-1, len(weights)) @ weights).reshape(pixels.shape))


def colour_augmenters(
    brightness: float, contrast: float, saturation: float, hue: float, pca_noise: float, rand_gray: float
) -> list[Augmenter]:
    """Augmenters of the amounts that are not 0."""
    made: list[Augmenter] = []
    if brightness or contrast or saturation:
        made.append(ColorJitterAug(brightness, contrast, saturation))
    if hue:
        made.append(HueJitterAug(hue))
    if pca_noise > 0:
        made.append(LightingAug(pca_noise, EIGENVALUES, EIGENVECTORS))
    return [*made, RandomGrayAug(rand_gray)] if rand_gray > 0 else made
