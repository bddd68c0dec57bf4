"""Augmenters of ``mx.image``: callables that change one image, with random numbers from `random` and `numpy.random`.

Color augmenters take float32 images in RGB order.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import numpy as np

from recordmill.compat.mxnet.base import MisuseError, MXNetError
from recordmill.compat.mxnet.image import functions
from recordmill.compat.mxnet.io.augment import EIGENVALUES, EIGENVECTORS
from recordmill.compat.mxnet.nd import array, as_ndarray

_MEAN = (123.68, 116.28, 103.53)
_STD = (58.395, 57.12, 57.375)
# Weights of red, green and blue in luma (ITU-R BT.601).
_LUMA = np.array([0.299, 0.587, 0.114], np.float32)
# Matrices that convert RGB to YIQ (luma and two chroma axes of NTSC) and back, with MXNet's rounded coefficients.
_TO_YIQ = np.array([[0.299, 0.587, 0.114], [0.596, -0.274, -0.321], [0.211, -0.523, 0.311]])
_FROM_YIQ = np.array([[1.0, 0.956, 0.621], [1.0, -0.272, -0.647], [1.0, -1.107, 1.705]])
_GRAY_WEIGHTS = np.array([[0.21] * 3, [0.72] * 3, [0.07] * 3], np.float32)


class Augmenter:
    """Base class of augmenters; subclasses implement `__call__`, which takes and returns an image."""

    def __init__(self, **kwargs: Any) -> None:
        self._kwargs = kwargs

    def __call__(self, src: Any) -> Any:
        raise NotImplementedError("Must override implementation.")


@dataclass(eq=False)
class RandomOrderAug(Augmenter):
    """Apply several augmenters in random order."""

    ts: list[Augmenter]

    def __call__(self, src: Any) -> Any:
        random.shuffle(self.ts)
        for one in self.ts:
            src = one(src)
        return src


@dataclass(eq=False)
class _SizedAugmenter(Augmenter):
    size: Any
    interp: int = 2


class ResizeAug(_SizedAugmenter):
    """Resize an image so that its shorter side is `size` pixels long."""

    def __call__(self, src: Any) -> Any:
        return functions.resize_short(src, self.size, self.interp)


class ForceResizeAug(_SizedAugmenter):
    """Resize to `size` (width, height) without keeping the aspect ratio."""

    def __call__(self, src: Any) -> Any:
        width, height = self.size
        return functions.imresize(src, width, height, self.interp)


class RandomCropAug(_SizedAugmenter):
    """Crop a window of `size` (width, height) at a random position."""

    def __call__(self, src: Any) -> Any:
        return functions.random_crop(src, self.size, self.interp)[0]


class CenterCropAug(_SizedAugmenter):
    """Crop a window of `size` (width, height) in the center."""

    def __call__(self, src: Any) -> Any:
        return functions.center_crop(src, self.size, self.interp)[0]


@dataclass(eq=False)
class RandomSizedCropAug(Augmenter):
    """Crop a random area with a random aspect ratio, and resize it to `size` (width, height)."""

    size: tuple[int, int]
    area: Any
    ratio: tuple[float, float]
    interp: int = 2

    def __call__(self, src: Any) -> Any:
        return functions.random_size_crop(src, self.size, self.area, self.ratio, self.interp)[0]


class ColorNormalizeAug(Augmenter):
    """Subtract `mean` and divide by `std` in place; each is one number, one number per channel, or None."""

    def __init__(self, mean: Any, std: Any) -> None:
        self.mean, self.std = (None if one is None else array(one) for one in (mean, std))

    def __call__(self, src: Any) -> Any:
        return functions.color_normalize(src, self.mean, self.std)


@dataclass(eq=False)
class HorizontalFlipAug(Augmenter):
    """Mirror horizontally with probability `p`."""

    p: float

    def __call__(self, src: Any) -> Any:
        return as_ndarray(np.flip(src, 1)) if random.random() < self.p else src


@dataclass(eq=False)
class CastAug(Augmenter):
    """Convert an image to the dtype `typ`."""

    typ: str = "float32"

    def __call__(self, src: Any) -> Any:
        return src.astype(self.typ)


@dataclass(eq=False)
class BrightnessJitterAug(Augmenter):
    """Multiply all values by a random factor from [1 - brightness, 1 + brightness], in place."""

    brightness: float

    def __call__(self, src: Any) -> Any:
        src *= _draw_jitter_factor(self.brightness)
        return src


@dataclass(eq=False)
class ContrastJitterAug(Augmenter):
    """Change the contrast in place: scale each value's difference from the image's mean luma by a random factor."""

    contrast: float

    def __call__(self, src: Any) -> Any:
        alpha, pixels = _draw_jitter_factor(self.contrast), np.asarray(src)
        rows = pixels.reshape(-1, pixels.shape[-1])
        sums = np.ones(len(rows), np.float32) @ rows
        mean = (sums @ _LUMA if len(sums) == len(_LUMA) else sums.mean()) / len(rows)
        pixels *= np.float32(alpha)
        pixels += np.float32((1 - alpha) * mean)
        return src


@dataclass(eq=False)
class SaturationJitterAug(Augmenter):
    """Change the saturation in place: scale each value's difference from the pixel's luma by a random factor.

    Images without 3 channels are unchanged.
    """

    saturation: float

    def __call__(self, src: Any) -> Any:
        alpha, pixels = _draw_jitter_factor(self.saturation), np.asarray(src)
        if pixels.shape[-1] == len(_LUMA):
            gray = (pixels.reshape(-1, 3) @ (_LUMA * np.float32(1 - alpha))).reshape(*pixels.shape[:-1], 1)
            pixels *= np.float32(alpha)
            pixels += gray
        return src


@dataclass(eq=False)
class HueJitterAug(Augmenter):
    """Rotate all colors about the gray axis by a random angle of at most `hue` times 180 degrees."""

    hue: float

    def __call__(self, src: Any) -> Any:
        angle = random.uniform(-self.hue, self.hue) * np.pi
        cosine, sine = np.cos(angle), np.sin(angle)
        rotation = np.array([[1.0, 0.0, 0.0], [0.0, cosine, -sine], [0.0, sine, cosine]])
        return _mix_channels(src, (_FROM_YIQ @ rotation @ _TO_YIQ).T.astype(np.float32))


class ColorJitterAug(RandomOrderAug):
    """Jitter brightness, contrast and saturation in random order."""

    def __init__(self, brightness: float, contrast: float, saturation: float) -> None:
        kinds = ((BrightnessJitterAug, brightness), (ContrastJitterAug, contrast), (SaturationJitterAug, saturation))
        super().__init__([kind(amount) for kind, amount in kinds if amount > 0])


@dataclass(eq=False)
class LightingAug(Augmenter):
    """Add a normally distributed amount of each principal color axis to the image, in place."""

    alphastd: float
    eigval: Any
    eigvec: Any

    def __call__(self, src: Any) -> Any:
        amounts = np.random.normal(0, self.alphastd, size=(3,))  # noqa: NPY002 (np.random.seed makes it reproducible)
        src += array(np.dot(np.asarray(self.eigvec) * amounts, np.asarray(self.eigval)))
        return src


@dataclass(eq=False)
class RandomGrayAug(Augmenter):
    """Convert to gray with probability `p`; the result keeps three channels."""

    p: float

    def __call__(self, src: Any) -> Any:
        return _mix_channels(src, _GRAY_WEIGHTS) if random.random() < self.p else src


def _draw_jitter_factor(amount: float) -> float:
    return 1.0 + random.uniform(-amount, amount)


def _mix_channels(src: Any, weights: Any) -> Any:
    """Multiply the channel vector of each pixel by the matrix `weights`."""
    if src.shape[-1] != len(weights):
        raise MXNetError(f"expected 3 channels, got {src.shape[-1]}", kind="channel_mismatch")
    pixels = np.asarray(src)
    return as_ndarray((pixels.reshape(-1, len(weights)) @ weights).reshape(pixels.shape))


def CreateAugmenter(
    data_shape: tuple[int, int, int],
    resize: int = 0,
    rand_crop: bool = False,
    rand_resize: bool = False,
    rand_mirror: bool = False,
    mean: Any = None,
    std: Any = None,
    brightness: float = 0,
    contrast: float = 0,
    saturation: float = 0,
    hue: float = 0,
    pca_noise: float = 0,
    rand_gray: float = 0,
    inter_method: int = 2,
) -> list[Augmenter]:
    """``mx.image.CreateAugmenter``: create a list of augmenters from options, in MXNet's order."""
    augmenters: list[Augmenter] = [ResizeAug(resize, inter_method)] if resize > 0 else []
    augmenters.append(_create_crop_augmenter((data_shape[2], data_shape[1]), rand_crop, rand_resize, inter_method))
    if rand_mirror:
        augmenters.append(HorizontalFlipAug(0.5))
    return augmenters + create_color_augmenters(
        mean, std, brightness, contrast, saturation, hue, pca_noise=pca_noise, rand_gray=rand_gray
    )


def create_color_augmenters(
    mean: Any = None,
    std: Any = None,
    brightness: float = 0,
    contrast: float = 0,
    saturation: float = 0,
    hue: float = 0,
    *,
    pca_noise: float = 0,
    rand_gray: float = 0,
) -> list[Augmenter]:
    """Create the augmenters that convert an image to float32, change its colors and normalize its values.

    `mean` and `std` may be True, which selects those of ImageNet.
    """
    augmenters: list[Augmenter] = [CastAug()]
    if brightness or contrast or saturation:
        augmenters.append(ColorJitterAug(brightness, contrast, saturation))
    if hue:
        augmenters.append(HueJitterAug(hue))
    if pca_noise > 0:
        augmenters.append(LightingAug(pca_noise, EIGENVALUES, EIGENVECTORS))
    if rand_gray > 0:
        augmenters.append(RandomGrayAug(rand_gray))
    mean, std = _resolve_mean_or_std("mean", mean, _MEAN), _resolve_mean_or_std("std", std, _STD)
    if mean is not None or std is not None:
        augmenters.append(ColorNormalizeAug(mean, std))
    return augmenters


def _create_crop_augmenter(size: tuple[int, int], rand_crop: bool, rand_resize: bool, interp: int) -> Augmenter:
    if rand_resize and not rand_crop:
        raise MisuseError("rand_resize=True requires rand_crop=True")
    if rand_resize:
        return RandomSizedCropAug(size, 0.08, (3.0 / 4.0, 4.0 / 3.0), interp)
    return RandomCropAug(size, interp) if rand_crop else CenterCropAug(size, interp)


def _resolve_mean_or_std(name: str, value: Any, default: tuple[float, ...]) -> Any:
    if value is True:
        return array(default)
    if value is None or (isinstance(value, np.ndarray) and value.shape[0] in (1, 3)):
        return value
    raise MisuseError(f"{name} must be None, True or an array of 1 or 3 numbers, got {value!r}")
