"""``mx.gluon.data.vision.transforms``: what is done to pictures, one step in each class."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from recordmill.compat.mxnet import nd
from recordmill.compat.mxnet.absent import absent
from recordmill.compat.mxnet.base import ParameterError
from recordmill.compat.mxnet.image import colours, functions

__getattr__ = absent(__name__, {}, "do it with NumPy or OpenCV in a function given to transform_first")


class Compose:
    """Steps, one after the other.

    Parameters
    ----------
    transforms : sequence of callable
    """

    def __init__(self, transforms: Sequence[Callable[[Any], Any]]) -> None:
        self._steps = list(transforms)

    def __call__(self, x: Any) -> Any:
        """Do them."""
        for step in self._steps:
            x = step(x)
        return x


class Cast:
    """Another dtype.

    Parameters
    ----------
    dtype : str or dtype
    """

    def __init__(self, dtype: Any = "float32") -> None:
        self._dtype = dtype

    def __call__(self, x: Any) -> Any:
        """Cast."""
        return x.astype(self._dtype)


class ToTensor:
    """Channels in front, values from 0 to 1 as float32."""

    def __call__(self, x: Any) -> Any:
        """Turn a picture (height, width, channels), or several, into such an array."""
        values = np.asarray(x.asnumpy(), np.float32) / np.float32(255)
        return nd.array(np.ascontiguousarray(np.moveaxis(values, -1, -3)), dtype="float32")


class Normalize:
    """Values minus `mean`, divided by `std`, of each channel.

    Parameters
    ----------
    mean, std : float or sequence of float
    """

    def __init__(self, mean: Any = 0.0, std: Any = 1.0) -> None:
        self._mean, self._std = (np.atleast_1d(np.asarray(one, np.float32))[:, None, None] for one in (mean, std))

    def __call__(self, x: Any) -> Any:
        """Normalise what `ToTensor` gives."""
        return nd.array((x.asnumpy() - self._mean) / self._std, dtype="float32")


class Resize:
    """Another size.

    Parameters
    ----------
    size : int or (width, height)
        A number is both, or with `keep_ratio` the shorter side.
    keep_ratio : bool, default False
    interpolation : int, default 1
        As `mx.image.imresize` takes it.
    """

    def __init__(self, size: Any, keep_ratio: bool = False, interpolation: int = 1) -> None:
        self._size, self._keep, self._kernel = size, keep_ratio, interpolation

    def __call__(self, x: Any) -> Any:
        """Resize a picture, or several."""
        if x.ndim == 4:
            return nd.stack(*[self(one) for one in x])
        return functions.imresize(x, *self._sides(*x.shape[:2]), self._kernel)

    def _sides(self, height: int, width: int) -> tuple[int, int]:
        if not isinstance(self._size, int):
            return int(self._size[0]), int(self._size[1])
        if not self._keep:
            return self._size, self._size
        if height > width:
            return self._size, height * self._size // width
        return width * self._size // height, self._size


def _pair(size: Any) -> tuple[int, int]:
    return (size, size) if isinstance(size, int) else (int(size[0]), int(size[1]))


class CenterCrop:
    """The middle of a picture; smaller pictures are enlarged.

    Parameters
    ----------
    size : int or (width, height)
    interpolation : int, default 1
    """

    def __init__(self, size: Any, interpolation: int = 1) -> None:
        self._size, self._kernel = _pair(size), interpolation

    def __call__(self, x: Any) -> Any:
        """Crop."""
        return functions.center_crop(x, self._size, self._kernel)[0]


class CropResize:
    """One part of a picture, of another size if one is given.

    Parameters
    ----------
    x, y, width, height : int
        Of the part.
    size : int or (width, height), optional
    interpolation : int, optional
        Bilinear unless given.
    """

    def __init__(
        self, x: int, y: int, width: int, height: int, size: Any = None, interpolation: int | None = None
    ) -> None:
        self._place = slice(y, y + height), slice(x, x + width)
        self._resize = None if size is None else Resize(size, False, 1 if interpolation is None else interpolation)

    def __call__(self, x: Any) -> Any:
        """Crop a picture, or several."""
        rows, columns = self._place
        if rows.stop > x.shape[-3] or columns.stop > x.shape[-2]:
            raise ParameterError(f"a part of {rows.stop} rows and {columns.stop} columns lies outside of {x.shape}")
        part = x[..., rows, columns, :]
        return part if self._resize is None else self._resize(part)


class RandomResizedCrop:
    """A random part of a picture, of one size.

    Parameters
    ----------
    size : int or (width, height)
    scale : (float, float)
        Share of the picture.
    ratio : (float, float)
        Of width and height.
    interpolation : int, default 1
    """

    def __init__(
        self, size: Any, scale: Any = (0.08, 1.0), ratio: Any = (3.0 / 4.0, 4.0 / 3.0), interpolation: int = 1
    ) -> None:
        self._options = _pair(size), scale, ratio, interpolation

    def __call__(self, x: Any) -> Any:
        """Crop."""
        return functions.random_size_crop(x, *self._options)[0]


class RandomFlipLeftRight:
    """Left and right exchanged, every other time; as Python's ``random`` draws."""

    axis = -2

    def __call__(self, x: Any) -> Any:
        """Flip, or not."""
        return nd.flip(x, axis=x.ndim + self.axis) if random.random() < 0.5 else x  # noqa: S311


class RandomFlipTopBottom(RandomFlipLeftRight):
    """Top and bottom exchanged, every other time."""

    axis = -3


class _Coloured:
    """Colours changed by one of ``mx.image``'s augmenters."""

    def __init__(self, augmenter: Any) -> None:
        self._augmenter = augmenter

    def __call__(self, x: Any) -> Any:
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
        super().__init__(colours.ContrastJitterAug(contrast))


class RandomSaturation(_Coloured):
    """Saturation changed by up to `saturation`."""

    def __init__(self, saturation: float) -> None:
        super().__init__(colours.SaturationJitterAug(saturation))


class RandomHue(_Coloured):
    """Hue changed by up to `hue`."""

    def __init__(self, hue: float) -> None:
        super().__init__(colours.HueJitterAug(hue))


class RandomColorJitter(Compose):
    """Brightness, contrast and saturation in random order, then hue; each by up to its amount."""

    def __init__(self, brightness: float = 0, contrast: float = 0, saturation: float = 0, hue: float = 0) -> None:
        steps: list[Any] = [_Coloured(colours.ColorJitterAug(brightness, contrast, saturation))]
        super().__init__([*steps, RandomHue(hue)] if hue else steps)


class RandomLighting(_Coloured):
    """Noise along the principal colours of ImageNet, of deviation `alpha`."""

    def __init__(self, alpha: float) -> None:
        super().__init__(colours.LightingAug(alpha, colours.EIGENVALUES, colours.EIGENVECTORS))
