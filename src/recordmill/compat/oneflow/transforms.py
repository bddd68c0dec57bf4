"""``Resize``, ``CropMirrorNormalize`` and ``CoinFlip``: resize, crop, mirror and normalize images."""

from __future__ import annotations

import functools
import secrets
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import ArrayLike, DTypeLike, NDArray

import recordmill as rm
from recordmill.compat.oneflow.image_decoders import EncodedImages, ImageBuffer
from recordmill.compat.oneflow.module import Module
from recordmill.compat.oneflow.records import Location, copy_with_location
from recordmill.compat.oneflow.tensors import Tensor, TensorBuffer, as_tensor
from recordmill.compat.oneflow.unsupported import check_device, raise_unsupported
from recordmill.concurrency.threads import map_range
from recordmill.errors import ImageError

Size = tuple[int, int]
_KERNELS = {
    "auto": "opencv:area_or_bilinear",
    "bilinear": "opencv:bilinear",
    "nearest_neighbor": "opencv:nearest",
    "bicubic": "opencv:cubic",
    "area": "opencv:area",
}
_OLD_KERNELS = {"Linear": "bilinear", "NN": "nearest_neighbor", "Cubic": "bicubic"}
_OLD_CHANNELS = {"RGB": 3, "BGR": 3, "GRAY": 1}
# Stage number for `rm.Draws`. Each operation has its own stage number, because operations with the same seed and
# stage number draw the same numbers.
_FLIP_STAGE = 20_001
_POOL_BYTES = 256 << 20


class ResizedImages(NDArrayOperatorsMixin):
    """Images that are decoded and resized when their pixels are first used; behaves like a uint8 `Tensor`."""

    dtype = np.dtype(np.uint8)
    ndim = 4

    def __init__(self, encoded: EncodedImages, size: Size, kernel: str) -> None:
        self._encoded, self._size, self._kernel = encoded, size, kernel
        self._values: Tensor | None = None

    @property
    def is_decoded(self) -> bool:
        """Whether the images have been decoded."""
        return self._values is not None

    @property
    def shape(self) -> tuple[int, int, int, int]:
        """Shape of the batch: (images, height, width, channels)."""
        return len(self), *self._size, self._encoded.num_channels

    def normalize(self, mirror: NDArray[np.bool_], mean: Any, std: Any) -> NDArray[Any]:
        """Decode, resize, mirror and normalize in one native call; return (batch, channels, height, width)."""
        options = {"mean": mean, "std": std, "white": 255.0, "dtype": "float32", "layout": "chw"}
        return self._decode_and_resize(mirror=mirror, empty=_memory_pool().empty, **options)

    def _decode_and_resize(self, **options: Any) -> NDArray[Any]:
        found: NDArray[Any] = self._encoded.decode(size=self._size, kernel=self._kernel, **options)
        return found

    def tensor(self) -> Tensor:
        """Return the decoded and resized images as a uint8 tensor of shape (batch, height, width, channels)."""
        if self._values is None:
            self._values = as_tensor(self._decode_and_resize(dtype="uint8", layout="hwc"))
        return self._values

    def numpy(self) -> NDArray[Any]:
        """Return the decoded and resized images as a NumPy array of shape (batch, height, width, channels)."""
        return self.tensor().numpy()

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        values = self.numpy()
        if dtype is not None and values.dtype != dtype:
            return values.astype(dtype)
        return values.copy() if copy else values

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if "out" in options:
            options["out"] = tuple(map(_materialize_images, options["out"]))
        return getattr(ufunc, method)(*map(_materialize_images, inputs), **options)

    def __getattr__(self, name: str) -> Any:
        """Decode the images, and return the attribute `name` of the resulting `Tensor`."""
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.tensor(), name)

    def __getitem__(self, key: Any) -> Any:
        return self.tensor()[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.tensor()[key] = value

    def __len__(self) -> int:
        return len(self._encoded.locations)

    def __repr__(self) -> str:
        return repr(self.tensor())


def _materialize_images(value: Any) -> Any:
    return value.tensor() if isinstance(value, ResizedImages) else value


class Resize(Module):
    """``flow.nn.image.Resize``: resize images to `target_size`.

    With `keep_aspect_ratio`, `target_size` is the length of the shorter or longer side (`resize_side`).
    """

    def __init__(
        self,
        target_size: int | Sequence[int] | None = None,
        min_size: int | None = None,
        max_size: int | None = None,
        keep_aspect_ratio: bool = False,
        resize_side: str = "shorter",
        channels: int = 3,
        dtype: Any = None,
        interpolation_type: str = "auto",
        name: str | None = None,
        color_space: str | None = None,
        interp_type: str | None = None,
        resize_shorter: int = 0,
        resize_x: int = 0,
        resize_y: int = 0,
    ) -> None:
        del name
        if dtype is not None and dtype != np.uint8:
            raise_unsupported("dtype", dtype, "images are uint8; convert the arrays afterwards")
        if color_space is not None:
            channels = _look_up_option("color_space", color_space.upper(), _OLD_CHANNELS)
        if interp_type is not None:
            interpolation_type = _look_up_option("interp_type", interp_type, _OLD_KERNELS)
        self._kernel = _look_up_option("interpolation_type", interpolation_type, _KERNELS)
        if channels not in (1, 3):
            raise ValueError(f"channels must be 1 or 3, got {channels!r}")
        if resize_x > 0 and resize_y > 0:
            target_size, keep_aspect_ratio = (resize_x, resize_y), False
        if resize_shorter > 0:
            target_size, keep_aspect_ratio, resize_side = resize_shorter, True, "shorter"
        if keep_aspect_ratio:
            _check_resize_side(target_size, resize_side, min_size, max_size)
        else:
            _check_target_size(target_size)
        self._channels, self._target, self._keeps_ratio = channels, target_size, keep_aspect_ratio
        self._longer = resize_side == "longer"
        self._limit = (min_size if self._longer else max_size) or 0

    def forward(self, images: TensorBuffer) -> tuple[Tensor | ResizedImages | TensorBuffer, Tensor, Tensor | None]:
        """Return the resized images, their scale factors, and their new sizes.

        The new sizes are None if `keep_aspect_ratio` is False.
        """
        if isinstance(images, ImageBuffer) and not self._keeps_ratio:
            return self._resize_encoded(images.encoded)
        arrays = images.numpy()
        for array, location in zip(arrays, images.locations, strict=True):
            self._check_dtype_and_channels(array.shape, array.dtype, location)
        sizes = [self._compute_resized_size(array.shape[1], array.shape[0]) for array in arrays]
        resized = map_range(lambda row: rm.resize(arrays[row], sizes[row][::-1], kernel=self._kernel), len(arrays))
        old = np.array([array.shape[1::-1] for array in arrays], np.float32).reshape(-1, 2)
        scale = as_tensor(np.array(sizes, np.float32).reshape(-1, 2) / old)
        if not self._keeps_ratio:
            return as_tensor(np.stack(resized)), scale, None
        return TensorBuffer(resized, images.locations), scale, as_tensor(np.array(sizes, np.int32))

    def _resize_encoded(self, encoded: EncodedImages) -> tuple[ResizedImages, Tensor, None]:
        for shape, location in zip(encoded.shapes, encoded.locations, strict=True):
            self._check_dtype_and_channels(shape, ResizedImages.dtype, location)
        size = self._compute_resized_size(0, 0)
        scale = np.array(size, np.float32) / encoded.windows[:, 2:].astype(np.float32)
        return ResizedImages(encoded, size[::-1], self._kernel), as_tensor(scale), None

    def _check_dtype_and_channels(self, shape: tuple[int, ...], dtype: np.dtype[Any], location: Location) -> None:
        if len(shape) == 3 and shape[2] == self._channels and dtype == np.uint8:
            return
        error = ImageError(
            "Resize does not support the dtype, shape or number of channels of this image",
            kind="channel_mismatch",
            expected=f"uint8 of shape (height, width, {self._channels})",
            found=f"{dtype} of shape {shape}",
            hint="pass channels=1 to Resize if the decoder has color_space='GRAY'",
        )
        raise copy_with_location(error, location)

    def _compute_resized_size(self, width: int, height: int) -> Size:
        """Return the (width, height) to which an image of `width` x `height` pixels is resized."""
        target: Any = self._target
        if not self._keeps_ratio:
            return target[0], target[1]
        short, long = min(width, height), max(width, height)
        if self._longer:
            new_long, new_short = target, _scale_length(short, target, long)
            if self._limit > new_short:
                new_short, new_long = self._limit, _scale_length(long, self._limit, short)
        else:
            new_short, new_long = target, _scale_length(long, target, short)
            if 0 < self._limit < new_long:
                new_long, new_short = self._limit, _scale_length(short, self._limit, long)
        return (new_short, new_long) if width < height else (new_long, new_short)


def _scale_length(side: int, new: int, old: int) -> int:
    # Python and OneFlow both round halves to even.
    return max(1, round(side * new / old))


def _look_up_option(option: str, value: str, table: dict[str, Any]) -> Any:
    if value not in table:
        raise ValueError(f"{option} must be one of {', '.join(table)}, got {value!r}")
    return table[value]


def _check_target_size(target: Any) -> None:
    if not isinstance(target, list | tuple) or len(target) != 2 or not all(isinstance(side, int) for side in target):
        raise ValueError(f"target_size must be two ints (width, height) if keep_aspect_ratio is False, got {target!r}")
    if min(target) < 1:
        raise ValueError(f"target_size must be at least 1 x 1, got {target!r}")


def _check_resize_side(target: Any, side: str, min_size: int | None, max_size: int | None) -> None:
    if not isinstance(target, int):
        message = f"target_size must be an int if keep_aspect_ratio is True, got {target!r}"
        raise ValueError(message)  # noqa: TRY004 (OneFlow's class)
    if side not in ("shorter", "longer"):
        raise ValueError(f"resize_side must be 'shorter' or 'longer', got {side!r}")
    if target < max(1, min_size or 0):
        raise ValueError(f"Check failed: target_size >= min_size ({target} vs. {min_size or 1})")
    if max_size and target > max_size:
        raise ValueError(f"Check failed: target_size <= max_size ({target} vs. {max_size})")


class CropMirrorNormalize(Module):
    """``flow.nn.CropMirrorNormalize``: crop, mirror and normalize images, and move the channels to the front."""

    def __init__(
        self,
        color_space: str = "BGR",
        output_layout: str = "NCHW",
        crop_h: int = 0,
        crop_w: int = 0,
        crop_pos_y: float = 0.5,
        crop_pos_x: float = 0.5,
        mean: float | Sequence[float] = (0.0,),
        std: float | Sequence[float] = (1.0,),
        output_dtype: Any = np.float32,
    ) -> None:
        _look_up_option("color_space", color_space, _OLD_CHANNELS)
        if output_layout != "NCHW":
            raise_unsupported("output_layout", output_layout, "transpose the arrays afterwards")
        if output_dtype != np.float32:
            raise_unsupported("output_dtype", output_dtype, "convert the arrays afterwards")
        for name, value in (("crop_pos_y", crop_pos_y), ("crop_pos_x", crop_pos_x)):
            if not 0 <= value <= 1:
                raise ValueError(f"{name} must be between 0 and 1, got {value}")
        if min(crop_h, crop_w) < 0:
            raise ValueError(f"crop_h and crop_w must not be negative, got {crop_h} and {crop_w}")
        self._size, self._relative_corner = (crop_h, crop_w), (crop_pos_y, crop_pos_x)
        self._mean, self._std = mean, std

    def forward(self, images: Tensor | ResizedImages | TensorBuffer, mirror: ArrayLike | None = None) -> Tensor:
        """Return the normalized images of a batch; images with a non-zero value in `mirror` are mirrored."""
        if isinstance(images, TensorBuffer) and 0 in self._size:
            raise ValueError("crop_h and crop_w must be positive if images may differ in size")
        mirrored = np.zeros(len(images), np.bool_) if mirror is None else np.asarray(mirror) != 0
        if mirrored.shape != (len(images),):
            raise ValueError(f"mirror must have shape ({len(images)},), one value per image, got {mirrored.shape}")
        if isinstance(images, ResizedImages) and not any(self._size) and not images.is_decoded:
            return as_tensor(images.normalize(mirrored, self._mean, self._std))
        arrays: Any = images.numpy() if isinstance(images, TensorBuffer) else np.asarray(images)
        locations = images.locations if isinstance(images, TensorBuffer) else [None] * len(arrays)

        def normalize(row: int) -> NDArray[Any]:
            cropped = self._crop_image(arrays[row], locations[row])
            cropped = rm.flip(cropped) if mirrored[row] else cropped
            return rm.normalize(cropped, self._mean, self._std, white=255.0, layout="chw")

        return as_tensor(np.stack(map_range(normalize, len(arrays))))

    def _crop_image(self, image: NDArray[Any], location: Location | None) -> NDArray[Any]:
        whole = image.shape[:2]
        height, width = (wanted or side for wanted, side in zip(self._size, whole, strict=True))
        if height > whole[0] or width > whole[1]:
            error = ImageError(
                "the image is smaller than the crop",
                kind="small_image",
                expected=f"at least {height} x {width} (height x width)",
                found=f"{whole[0]} x {whole[1]}",
            )
            raise error if location is None else copy_with_location(error, location)
        margins = (whole[0] - height, whole[1] - width)
        y, x = (int(relative * margin) for relative, margin in zip(self._relative_corner, margins, strict=True))
        return image[y : y + height, x : x + width]


@functools.cache
def _memory_pool() -> rm.Memory:
    """Return the pool that reuses the memory of unreferenced batches."""
    return rm.Memory(_POOL_BYTES)


class CoinFlip(Module):
    """``flow.nn.CoinFlip``: draw 0 or 1 for each image of a batch; images with 1 will be mirrored."""

    def __init__(
        self,
        batch_size: int = 1,
        random_seed: int | None = None,
        probability: float = 0.5,
        device: Any = None,
        placement: Any = None,
        sbp: Any = None,
    ) -> None:
        check_device(device, placement, sbp)
        if batch_size < 1 or not 0 <= probability <= 1:
            raise ValueError(
                f"batch_size must be positive and probability between 0 and 1, got {batch_size} and {probability}"
            )
        self._batch_size, self._probability = batch_size, probability
        self._seed = secrets.randbits(63) if random_seed is None else int(random_seed) % 2**64
        self._calls = 0

    def forward(self) -> Tensor:
        """Draw 0 or 1 for each image of a batch; return an int8 tensor of shape (batch,)."""
        draws = rm.Draws(self._seed, self._calls % 2**32)
        self._calls += 1
        return as_tensor(draws.booleans(np.arange(self._batch_size), _FLIP_STAGE, self._probability).astype(np.int8))
