"""``mx.gluon.data.vision.transforms``: callables that transform one image or a batch of images."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from recordmill.compat.mxnet import nd
from recordmill.compat.mxnet.base import create_module_getattr
from recordmill.compat.mxnet.image import augmenters, functions
from recordmill.compat.mxnet.io.augment import EIGENVALUES, EIGENVECTORS
from recordmill.compat.mxnet.nd import image as nd_image

_JITTERS = ("RandomBrightness", "RandomContrast", "RandomSaturation", "RandomHue")
__getattr__ = create_module_getattr(
    __name__,
    {**dict.fromkeys(_JITTERS, "use RandomColorJitter"), "Cast": "use lambda image: image.astype(dtype)"},
    "use NumPy or OpenCV in a function given to transform_first",
)


class Compose:
    """Apply transforms in order."""

    def __init__(self, transforms: Sequence[Callable[[Any], Any]]) -> None:
        self._transforms = list(transforms)

    def __call__(self, x: Any) -> Any:
        for transform in self._transforms:
            x = transform(x)
        return x


class ToTensor:
    """Convert an image or a batch to float32, divide by 255, and move the channels before height and width."""

    def __call__(self, x: Any) -> Any:
        return nd_image.to_tensor(x)


class Normalize:
    """Subtract `mean` and divide by `std`; the channels must come before height and width."""

    def __init__(self, mean: Any = 0.0, std: Any = 1.0) -> None:
        self._mean, self._std = mean, std

    def __call__(self, x: Any) -> Any:
        return nd_image.normalize(x, self._mean, self._std)


class Resize:
    """Resize images to `size` (width, height). With `keep_ratio`, an int `size` is the length of the shorter side."""

    def __init__(self, size: Any, keep_ratio: bool = False, interpolation: int = 1) -> None:
        self._size, self._keep_ratio, self._interpolation = size, keep_ratio, interpolation

    def __call__(self, x: Any) -> Any:
        if x.ndim == 4:
            return nd.stack(*[self(one) for one in x])
        if self._keep_ratio and isinstance(self._size, int):
            return functions.resize_short(x, self._size, self._interpolation)
        return functions.imresize(x, *_as_size_pair(self._size), self._interpolation)


class CenterCrop:
    """Crop the center to `size` (width, height); smaller images are enlarged."""

    def __init__(self, size: Any, interpolation: int = 1) -> None:
        self._size, self._interpolation = _as_size_pair(size), interpolation

    def __call__(self, x: Any) -> Any:
        return functions.center_crop(x, self._size, self._interpolation)[0]


class RandomResizedCrop:
    """Crop a random area and resize it to `size` (width, height)."""

    def __init__(
        self, size: Any, scale: Any = (0.08, 1.0), ratio: Any = (3.0 / 4.0, 4.0 / 3.0), interpolation: int = 1
    ) -> None:
        self._options = _as_size_pair(size), scale, ratio, interpolation

    def __call__(self, x: Any) -> Any:
        return functions.random_size_crop(x, *self._options)[0]


class RandomFlipLeftRight:
    """Mirror horizontally with probability 0.5; the random number comes from Python's `random`."""

    def __call__(self, x: Any) -> Any:
        return nd_image.random_flip_left_right(x)


class _ColorTransform:
    """Apply an augmenter of ``mx.image`` in float32; a uint8 image is converted back to uint8 afterwards."""

    def __init__(self, augmenter: augmenters.Augmenter) -> None:
        self._augmenter = augmenter

    def __call__(self, x: Any) -> Any:
        changed = self._augmenter(x.astype("float32"))
        return changed if x.dtype != np.uint8 else nd.array(np.clip(changed.asnumpy(), 0, 255), dtype="uint8")


class RandomColorJitter(Compose):
    """Randomly change brightness, contrast and saturation, in random order, and then the hue."""

    def __init__(self, brightness: float = 0, contrast: float = 0, saturation: float = 0, hue: float = 0) -> None:
        jitters: list[augmenters.Augmenter] = [augmenters.ColorJitterAug(brightness, contrast, saturation)]
        jitters += [augmenters.HueJitterAug(hue)] if hue else []
        super().__init__([_ColorTransform(jitter) for jitter in jitters])


class RandomLighting(_ColorTransform):
    """Add random amounts of ImageNet's principal color axes; the amounts have standard deviation `alpha`."""

    def __init__(self, alpha: float) -> None:
        super().__init__(augmenters.LightingAug(alpha, EIGENVALUES, EIGENVECTORS))


def _as_size_pair(size: Any) -> tuple[int, int]:
    return (size, size) if isinstance(size, int) else (int(size[0]), int(size[1]))
