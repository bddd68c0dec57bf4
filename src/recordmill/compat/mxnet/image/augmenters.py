"""Augmenters: small objects that take an image and give the next; random ones draw from `random` and `numpy.random`."""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np

from recordmill.compat.mxnet.base import MisuseError
from recordmill.compat.mxnet.image import functions
from recordmill.compat.mxnet.nd import array, wrap

_MEAN = (123.68, 116.28, 103.53)
_STD = (58.395, 57.12, 57.375)


class Augmenter:
    """What all augmenters have."""

    def __init__(self, **kwargs: Any) -> None:
        self._kwargs = {
            name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in kwargs.items()
        }

    def dumps(self) -> Any:
        """Name and parameters as JSON."""
        return json.dumps([type(self).__name__.lower(), self._kwargs])

    def __call__(self, src: Any) -> Any:
        """Give the image that becomes of one."""
        raise NotImplementedError("Must override implementation.")


class SequentialAug(Augmenter):
    """Several augmenters, one after another."""

    def __init__(self, ts: list[Augmenter]) -> None:
        super().__init__()
        self.ts = ts

    def dumps(self) -> Any:
        """Names and parameters of all."""
        return [type(self).__name__.lower(), [one.dumps() for one in self.ts]]

    def __call__(self, src: Any) -> Any:
        """Apply them in order."""
        for one in self.ts:
            src = one(src)
        return src


class RandomOrderAug(SequentialAug):
    """Several augmenters, in an order that is drawn each time."""

    def __call__(self, src: Any) -> Any:
        """Apply them in a random order."""
        random.shuffle(self.ts)
        return super().__call__(src)


class _Sized(Augmenter):
    def __init__(self, size: Any, interp: int = 2) -> None:
        super().__init__(size=size, interp=interp)
        self.size, self.interp = size, interp


class ResizeAug(_Sized):
    """Scale until the shorter side has a length."""

    def __call__(self, src: Any) -> Any:
        """Scale."""
        return functions.resize_short(src, self.size, self.interp)


class ForceResizeAug(_Sized):
    """Scale to a size (width, height), whatever the shape."""

    def __call__(self, src: Any) -> Any:
        """Scale."""
        width, height = self.size
        return functions.imresize(src, width, height, interp=self.interp)


class RandomCropAug(_Sized):
    """Cut a window of a size (width, height) at a random place."""

    def __call__(self, src: Any) -> Any:
        """Cut."""
        return functions.random_crop(src, self.size, self.interp)[0]


class CenterCropAug(_Sized):
    """Cut a window of a size (width, height) in the middle."""

    def __call__(self, src: Any) -> Any:
        """Cut."""
        return functions.center_crop(src, self.size, self.interp)[0]


class RandomSizedCropAug(Augmenter):
    """Cut a window of random area and shape, and bring it to a size (width, height)."""

    def __init__(self, size: Any, area: Any, ratio: Any, interp: int = 2) -> None:
        super().__init__(size=size, area=area, ratio=ratio, interp=interp)
        self.size, self.area, self.ratio, self.interp = size, area, ratio, interp

    def __call__(self, src: Any) -> Any:
        """Cut and scale."""
        return functions.random_size_crop(src, self.size, self.area, self.ratio, self.interp)[0]


class ColorNormalizeAug(Augmenter):
    """Subtract a mean and divide by a deviation, of each channel."""

    def __init__(self, mean: Any, std: Any) -> None:
        super().__init__(mean=mean, std=std)
        self.mean, self.std = (None if one is None else array(one) for one in (mean, std))

    def __call__(self, src: Any) -> Any:
        """Normalise, in place."""
        return functions.color_normalize(src, self.mean, self.std)


class HorizontalFlipAug(Augmenter):
    """Mirror with a probability."""

    def __init__(self, p: float) -> None:
        super().__init__(p=p)
        self.p = p

    def __call__(self, src: Any) -> Any:
        """Mirror, or not."""
        return wrap(np.flip(src, 1)) if random.random() < self.p else src


class CastAug(Augmenter):
    """Change the dtype."""

    def __init__(self, typ: str = "float32") -> None:
        super().__init__(type=typ)
        self.typ = typ

    def __call__(self, src: Any) -> Any:
        """Cast."""
        return src.astype(self.typ)


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
    """Augmenters for a training, in MXNet's order."""
    from recordmill.compat.mxnet.image.colours import colour_augmenters

    made: list[Augmenter] = [ResizeAug(resize, inter_method)] if resize > 0 else []
    made.append(_cut((data_shape[2], data_shape[1]), rand_crop, rand_resize, inter_method))
    if rand_mirror:
        made.append(HorizontalFlipAug(0.5))
    made.append(CastAug())
    made += colour_augmenters(brightness, contrast, saturation, hue, pca_noise, rand_gray)
    return made + normalising_augmenters(mean, std)


def normalising_augmenters(mean: Any, std: Any) -> list[Augmenter]:
    """Augmenter that normalises, if it is asked for."""
    mean, std = _numbers("mean", mean, _MEAN), _numbers("std", std, _STD)
    return [] if mean is None and std is None else [ColorNormalizeAug(mean, std)]


def _cut(size: tuple[int, int], rand_crop: bool, rand_resize: bool, interp: int) -> Augmenter:
    if rand_resize and not rand_crop:
        raise MisuseError("rand_resize=True needs rand_crop=True", kind="bad_parameter")
    if rand_resize:
        return RandomSizedCropAug(size, 0.08, (3.0 / 4.0, 4.0 / 3.0), interp)
    return RandomCropAug(size, interp) if rand_crop else CenterCropAug(size, interp)


def _numbers(name: str, value: Any, usual: tuple[float, ...]) -> Any:
    if value is True:
        return array(usual)
    if value is None or (isinstance(value, np.ndarray) and value.shape[0] in (1, 3)):
        return value
    raise MisuseError(f"{name} is True, or an array of one or three numbers", kind="bad_parameter", found=repr(value))
