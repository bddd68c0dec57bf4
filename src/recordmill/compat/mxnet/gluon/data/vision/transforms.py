"""``mx.gluon.data.vision.transforms``: what is done to pictures, one step in each class."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from recordmill.compat.mxnet import nd
from recordmill.compat.mxnet.absent import absent
from recordmill.compat.mxnet.gluon.block import Block, Sequential
from recordmill.compat.mxnet.gluon.data.vision import jitters, rotations
from recordmill.compat.mxnet.image import colours, functions
from recordmill.compat.mxnet.image.augmenters import RandomOrderAug
from recordmill.compat.mxnet.nd import image as nd_image

Rotate, RandomRotation = rotations.Rotate, rotations.RandomRotation
__getattr__ = absent(__name__, {}, "do it with NumPy or OpenCV in a function given to transform_first")


class Compose(Sequential):
    """Steps, one after the other."""

    def __init__(self, transforms: Sequence[Callable[[Any], Any]]) -> None:
        super().__init__()
        self.add(*transforms)


class RandomApply(Sequential):
    """Steps that are done with a probability, as Python's ``random`` draws."""

    def __init__(self, transforms: Any, p: float = 0.5) -> None:
        super().__init__()
        self.add(*(transforms if isinstance(transforms, list | tuple) else [transforms]))
        self.p = p

    def forward(self, x: Any) -> Any:
        """Do them, or not."""
        return x if random.random() > self.p else super().forward(x)  # noqa: S311


class Cast(Block):
    """Another dtype."""

    def __init__(self, dtype: Any = "float32") -> None:
        self._dtype = dtype

    def forward(self, x: Any) -> Any:
        """Cast."""
        return x.astype(self._dtype)


class ToTensor(Block):
    """Channels in front, values from 0 to 1 as float32."""

    def forward(self, x: Any) -> Any:
        """Turn a picture (height, width, channels), or several, into such an array."""
        return nd_image.to_tensor(x)


class Normalize(Block):
    """Values minus `mean`, divided by `std`, of each channel."""

    def __init__(self, mean: Any = 0.0, std: Any = 1.0) -> None:
        self._mean, self._std = mean, std

    def forward(self, x: Any) -> Any:
        """Normalise what `ToTensor` gives."""
        return nd_image.normalize(x, self._mean, self._std)


class Resize(Block):
    """Another size."""

    def __init__(self, size: Any, keep_ratio: bool = False, interpolation: int = 1) -> None:
        self._size, self._keep, self._kernel = size, keep_ratio, interpolation

    def forward(self, x: Any) -> Any:
        """Resize a picture, or several."""
        return nd_image.resize(x, self._size, self._keep, self._kernel)


def _pair(size: Any) -> tuple[int, int]:
    return (size, size) if isinstance(size, int) else (int(size[0]), int(size[1]))


class CenterCrop(Block):
    """The middle of a picture; smaller pictures are enlarged."""

    def __init__(self, size: Any, interpolation: int = 1) -> None:
        self._size, self._kernel = _pair(size), interpolation

    def forward(self, x: Any) -> Any:
        """Crop."""
        return functions.center_crop(x, self._size, self._kernel)[0]


class CropResize(Block):
    """One part of a picture, of another size if one is given."""

    def __init__(
        self, x: int, y: int, width: int, height: int, size: Any = None, interpolation: int | None = None
    ) -> None:
        self._place = x, y, width, height
        self._resize = None if size is None else Resize(size, False, 1 if interpolation is None else interpolation)

    def forward(self, x: Any) -> Any:
        """Crop a picture, or several."""
        part = nd_image.crop(x, *self._place)
        return part if self._resize is None else self._resize(part)


class RandomResizedCrop(Block):
    """A random part of a picture, of one size."""

    def __init__(
        self, size: Any, scale: Any = (0.08, 1.0), ratio: Any = (3.0 / 4.0, 4.0 / 3.0), interpolation: int = 1
    ) -> None:
        self._options = _pair(size), scale, ratio, interpolation

    def forward(self, x: Any) -> Any:
        """Crop."""
        return functions.random_size_crop(x, *self._options)[0]


class RandomFlipLeftRight(Block):
    """Left and right exchanged, every other time; as Python's ``random`` draws."""

    axis = -2

    def forward(self, x: Any) -> Any:
        """Flip, or not."""
        return nd.flip(x, axis=x.ndim + self.axis) if random.random() < 0.5 else x  # noqa: S311


class RandomFlipTopBottom(RandomFlipLeftRight):
    """Top and bottom exchanged, every other time."""

    axis = -3


class _Coloured(Block):
    """Colours changed by one of ``mx.image``'s augmenters."""

    def __init__(self, augmenter: Any) -> None:
        self._augmenter = augmenter

    def forward(self, x: Any) -> Any:
        """Change them: of uint8 too, whose values stay within their range."""
        found = self._augmenter(x.astype("float32"))
        return found if x.dtype != np.uint8 else nd.array(np.clip(found.asnumpy(), 0, 255), dtype="uint8")


class RandomBrightness(_Coloured):
    """Brighter or darker by up to `brightness`."""

    def __init__(self, brightness: float) -> None:
        super().__init__(colours.BrightnessJitterAug(brightness))


class RandomContrast(_Coloured):
    """Contrast changed by up to `contrast`."""

    def __init__(self, contrast: float) -> None:
        super().__init__(jitters.Contrast(contrast))


class RandomSaturation(_Coloured):
    """Saturation changed by up to `saturation`."""

    def __init__(self, saturation: float) -> None:
        super().__init__(jitters.Saturation(saturation))


class RandomHue(_Coloured):
    """Hue changed by up to `hue`."""

    def __init__(self, hue: float) -> None:
        super().__init__(colours.HueJitterAug(hue))


class RandomColorJitter(Compose):
    """Brightness, contrast and saturation in random order, then hue; each by up to its amount."""

    def __init__(self, brightness: float = 0, contrast: float = 0, saturation: float = 0, hue: float = 0) -> None:
        kinds = (
            (colours.BrightnessJitterAug, brightness),
            (jitters.Contrast, contrast),
            (jitters.Saturation, saturation),
        )
        mixed = RandomOrderAug([kind(amount) for kind, amount in kinds if amount > 0])
        steps: list[Any] = [_Coloured(mixed)]
        super().__init__([*steps, RandomHue(hue)] if hue else steps)


class RandomLighting(_Coloured):
    """Noise along the principal colours of ImageNet, of deviation `alpha`."""

    def __init__(self, alpha: float) -> None:
        super().__init__(colours.LightingAug(alpha, colours.EIGENVALUES, colours.EIGENVECTORS))
