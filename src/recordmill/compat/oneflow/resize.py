"""Resize images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.compat.oneflow.dtypes import uint8
from recordmill.compat.oneflow.features import raise_unsupported
from recordmill.compat.oneflow.lazy_images import LazyBuffer, LazyTensor, ResizePlan
from recordmill.compat.oneflow.module import Module
from recordmill.compat.oneflow.tensors import Place, Tensor, TensorBuffer, tensor_of
from recordmill.concurrency.threads import map_range
from recordmill.dataclass import dataclass
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


class Resize(Module):
    """Pictures of one size, or with one side of a length."""

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
        if dtype is not None and dtype != uint8:
            raise_unsupported("dtype", dtype, "pictures are uint8; cast the arrays afterwards")
        if color_space is not None:
            channels = _old("color_space", color_space.upper(), _OLD_CHANNELS)
        if interp_type is not None:
            interpolation_type = _old("interp_type", interp_type, _OLD_KERNELS)
        if interpolation_type not in _KERNELS:
            raise ValueError(f"interpolation_type is {', '.join(_KERNELS)}, not {interpolation_type!r}")
        if channels not in (1, 3):
            raise ValueError(f"channels is 1 or 3, not {channels!r}")
        if resize_x > 0 and resize_y > 0:
            target_size, keep_aspect_ratio = (resize_x, resize_y), False
        if resize_shorter > 0:
            target_size, keep_aspect_ratio, resize_side = resize_shorter, True, "shorter"
        self._channels, self._kernel = channels, _KERNELS[interpolation_type]
        self._rule: _Fixed | _Side = (
            _side(target_size, resize_side, min_size, max_size) if keep_aspect_ratio else _fixed(target_size)
        )

    def forward(self, pictures: TensorBuffer) -> tuple[Tensor | LazyTensor | TensorBuffer, Tensor, Tensor | None]:
        """Resize a batch."""
        if isinstance(pictures, LazyBuffer) and isinstance(self._rule, _Fixed):
            return self._pending(pictures, self._rule)
        given = pictures.numpy()
        for picture, place in zip(given, pictures.places, strict=True):
            self._check(picture.shape, picture.dtype, place)
        sizes = [self._rule.size(picture.shape[1], picture.shape[0]) for picture in given]
        done = self._resized(given, sizes)
        old = np.array([picture.shape[1::-1] for picture in given], np.float32).reshape(-1, 2)
        scale = tensor_of(np.array(sizes, np.float32).reshape(-1, 2) / old)
        if isinstance(self._rule, _Fixed):
            return tensor_of(np.stack(done)), scale, None
        return TensorBuffer(done, pictures.places), scale, tensor_of(np.array(sizes, np.int32))

    def _pending(self, pictures: LazyBuffer, fixed: _Fixed) -> tuple[LazyTensor, Tensor, None]:
        size = fixed.width, fixed.height
        for shape, place in zip(pictures.encoded.shapes, pictures.places, strict=True):
            self._check(shape, np.dtype(np.uint8), place)

        def decode_stepwise() -> NDArray[Any]:
            given = pictures.numpy()
            return np.stack(self._resized(given, [size] * len(given)))

        scale = np.array(size, np.float32) / pictures.encoded.windows[:, 2:].astype(np.float32)
        return LazyTensor(ResizePlan(pictures, size[::-1], self._kernel, decode_stepwise)), tensor_of(scale), None

    def _check(self, shape: tuple[int, ...], dtype: np.dtype[Any], place: Place) -> None:
        if len(shape) == 3 and shape[2] == self._channels and dtype == np.uint8:
            return
        raise ImageError(
            "Resize was told another number of channels, or given something else than pictures",
            kind="channel_mismatch",
            expected=f"uint8 of shape (height, width, {self._channels})",
            found=f"{dtype} of shape {shape}",
            shard=place.shard,
            record=place.record,
            offset=place.offset,
            hint="channels= is 1 after a decoder of GRAY",
        )

    def _resized(self, pictures: list[NDArray[Any]], sizes: Sequence[Size]) -> list[NDArray[Any]]:
        def resized(row: int) -> NDArray[Any]:
            return rm.resize(pictures[row], sizes[row][::-1], kernel=self._kernel)

        return map_range(resized, len(pictures))


@dataclass(frozen=True, slots=True)
class _Fixed:
    """Every picture gets one width and height."""

    width: int
    height: int

    def size(self, width: int, height: int) -> Size:
        """Width and height, whatever they were."""
        del width, height
        return self.width, self.height


@dataclass(frozen=True, slots=True)
class _Side:
    """One side gets a length, and the other follows, within a limit."""

    length: int
    longer: bool
    limit: int

    def size(self, width: int, height: int) -> Size:
        """Width and height of a picture that had others."""
        short, long = min(width, height), max(width, height)
        if self.longer:
            new_long, new_short = self.length, _scaled(short, self.length, long)
            if self.limit > new_short:
                new_short, new_long = self.limit, _scaled(long, self.limit, short)
        else:
            new_short, new_long = self.length, _scaled(long, self.length, short)
            if 0 < self.limit < new_long:
                new_long, new_short = self.limit, _scaled(short, self.limit, long)
        return (new_short, new_long) if width < height else (new_long, new_short)


def _scaled(side: int, new: int, old: int) -> int:
    # Halves go to the even number, as in OneFlow.
    return max(1, round(side * new / old))


def _old(name: str, word: str, table: dict[str, Any]) -> Any:
    if word not in table:
        raise ValueError(f"{name} is one of {', '.join(table)}, not {word!r}")
    return table[word]


def _fixed(target: Any) -> _Fixed:
    if not isinstance(target, list | tuple) or len(target) != 2 or not all(isinstance(side, int) for side in target):
        raise ValueError("target_size must be a form like (width, height) when keep_aspect_ratio is False")
    if min(target) < 1:
        raise ValueError(f"target_size is at least 1 x 1, not {target!r}")
    return _Fixed(*target)


def _side(target: Any, side: str, least: int | None, largest: int | None) -> _Side:
    if not isinstance(target, int):
        raise ValueError("target_size must be an int when keep_aspect_ratio is True")  # noqa: TRY004 (OneFlow's class)
    if side not in ("shorter", "longer"):
        raise ValueError('resize_side must be "shorter" or "longer"')
    if target < max(1, least or 0):
        raise ValueError(f"Check failed: target_size >= min_size ({target} vs. {least or 1})")
    if largest and target > largest:
        raise ValueError(f"Check failed: target_size <= max_size ({target} vs. {largest})")
    return _Side(target, side == "longer", (least if side == "longer" else largest) or 0)
