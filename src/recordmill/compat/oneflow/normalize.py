"""Crop, mirror and normalize images, and draw which ones are mirrored."""

from __future__ import annotations

import functools
import secrets
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

import recordmill as rm
from recordmill.compat.oneflow.dtypes import float32
from recordmill.compat.oneflow.features import raise_unsupported
from recordmill.compat.oneflow.lazy_images import LazyTensor
from recordmill.compat.oneflow.module import Module
from recordmill.compat.oneflow.tensors import Place, Tensor, TensorBuffer, tensor_of
from recordmill.concurrency.threads import map_range
from recordmill.errors import ImageError

_STAGE = 20_001
_MOST_BYTES = 256 << 20


class CropMirrorNormalize(Module):
    """Windows of pictures, less a mean, times one divided by a deviation; channels first."""

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
        output_dtype: Any = float32,
    ) -> None:
        if color_space not in ("BGR", "RGB", "GRAY"):
            raise ValueError(f"color_space is one of BGR, RGB, GRAY, not {color_space!r}")
        if output_layout != "NCHW":
            raise_unsupported("output_layout", output_layout, "transpose the arrays afterwards")
        if output_dtype != float32:
            raise_unsupported("output_dtype", output_dtype, "cast the arrays afterwards")
        for name, value in (("crop_pos_y", crop_pos_y), ("crop_pos_x", crop_pos_x)):
            if not 0 <= value <= 1:
                raise ValueError(f"{name} is 0 to 1, not {value}")
        if min(crop_h, crop_w) < 0:
            raise ValueError(f"crop_h and crop_w are not negative, not {crop_h} and {crop_w}")
        self._size, self._at = (crop_h, crop_w), (crop_pos_y, crop_pos_x)
        self._mean, self._std = mean, std

    def forward(self, pictures: Tensor | LazyTensor | TensorBuffer, mirror: ArrayLike | None = None) -> Tensor:
        """Normalise a batch."""
        if isinstance(pictures, TensorBuffer) and 0 in self._size:
            raise ValueError("crop_h and crop_w are needed for pictures of several sizes")
        turned = np.zeros(len(pictures), np.bool_) if mirror is None else np.asarray(mirror) != 0
        if turned.shape != (len(pictures),):
            raise ValueError(f"mirror has one number for each of {len(pictures)} pictures, not shape {turned.shape}")
        done = self._at_once(pictures, turned) if isinstance(pictures, LazyTensor) else None
        return tensor_of(self._one_by_one(pictures, turned) if done is None else done)

    def _at_once(self, pictures: LazyTensor, turned: NDArray[np.bool_]) -> NDArray[Any] | None:
        """Normalised pictures that one call decodes too, if it can."""
        if any(self._size) or pictures.is_decoded:
            return None
        return pictures.plan.normalize(turned, self._mean, self._std, _memory().empty)

    def _one_by_one(self, pictures: Any, turned: NDArray[np.bool_]) -> NDArray[Any]:
        if isinstance(pictures, TensorBuffer):
            given, places = pictures.numpy(), list(pictures.places)
        else:
            given, places = list(np.asarray(pictures)), []

        def normalize(row: int) -> NDArray[Any]:
            place = places[row] if places else None
            return self._one(given[row], bool(turned[row]), place)

        return np.stack(map_range(normalize, len(given)))

    def _one(self, picture: NDArray[Any], turned: bool, place: Place | None) -> NDArray[Any]:
        whole = picture.shape[:2]
        height, width = (wanted or there for wanted, there in zip(self._size, whole, strict=True))
        if height > whole[0] or width > whole[1]:
            raise _too_small(whole, (height, width), place)
        y, x = (int(at * (there - side)) for at, there, side in zip(self._at, whole, (height, width), strict=True))
        part = picture[y : y + height, x : x + width]
        if turned:
            part = rm.flip(part)
        return rm.normalize(part, self._mean, self._std, white=255.0, layout="chw")


class CoinFlip(Module):
    """Ones and zeros by chance, to say which pictures are mirrored."""

    def __init__(
        self,
        batch_size: int = 1,
        random_seed: int | None = None,
        probability: float = 0.5,
        device: Any = None,
        placement: Any = None,
        sbp: Any = None,
    ) -> None:
        for option, value in (("device", device), ("placement", placement), ("sbp", sbp)):
            if value is not None and not (option == "device" and str(value) == "cpu"):
                raise_unsupported(option, value, "coins are NumPy arrays")
        if batch_size < 1 or not 0 <= probability <= 1:
            raise ValueError(f"batch_size is at least 1 and probability 0 to 1, not {batch_size} and {probability}")
        self._batch_size, self._probability = batch_size, probability
        self._seed = secrets.randbits(63) if random_seed is None else int(random_seed) % 2**64
        self._calls = 0

    def forward(self) -> Tensor:
        """Throws for one batch, int8, shape (batch,)."""
        draws = rm.Draws(self._seed, self._calls % 2**32)
        self._calls += 1
        return tensor_of(draws.booleans(np.arange(self._batch_size), _STAGE, self._probability).astype(np.int8))


@functools.cache
def _memory() -> rm.Memory:
    """Memory of batches that nobody looks at any more."""
    return rm.Memory(_MOST_BYTES)


def _too_small(found: Sequence[int], wanted: Sequence[int], place: Place | None) -> ImageError:
    at = {} if place is None else {"shard": place.shard, "record": place.record, "offset": place.offset}
    return ImageError(
        "a picture is smaller than the window",
        kind="small_image",
        expected=f"at least {wanted[0]} x {wanted[1]} (height x width)",
        found=f"{found[0]} x {found[1]}",
        **at,  # type: ignore[arg-type]
    )
