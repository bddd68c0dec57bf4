"""Data sets whose files MXNet downloads, read from a folder where they lie: digits, clothes, small photographs."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray as Array

from recordmill.compat.mxnet.base import MissingFileError, MXNetError
from recordmill.compat.mxnet.gluon.data.dataset import Dataset
from recordmill.compat.mxnet.io.idx_files import read_whole
from recordmill.compat.mxnet.nd import wrap

_FOLDER = "~/.mxnet"
_SIDE = 32


class _Kept(Dataset):
    """Pictures and labels in memory."""

    _name = ""

    def __init__(
        self,
        root: str | os.PathLike[str] | None = None,
        train: bool = True,
        transform: Callable[..., Any] | None = None,
    ) -> None:
        default = Path(os.environ.get("MXNET_HOME") or _FOLDER, "datasets", self._name)
        self._root, self._train, self._transform = Path(root or default).expanduser(), train, transform
        pixels, self._label = self._read()
        self._data = wrap(pixels)

    def _read(self) -> tuple[Array[np.uint8], Array[np.int32]]:
        raise NotImplementedError

    def _find(self, name: str, *others: str) -> str:
        """Path of a file that has one of several names."""
        for one in (name, *others):
            if (self._root / one).exists():
                return str(self._root / one)
        message = f"{self._root / name}: No such file or directory"
        hint = f"nothing is downloaded: put the files of {type(self).__name__} into {self._root}"
        raise MissingFileError(message, shard=str(self._root / name), hint=hint)

    def __len__(self) -> int:
        """Return the number of pictures."""
        return len(self._label)

    def __getitem__(self, idx: Any) -> Any:
        """Picture (uint8, height × width × channels) and label at a position, or what `transform` makes of them."""
        sample = self._data[idx], self._label[idx]
        return sample if self._transform is None else self._transform(*sample)


class MNIST(_Kept):
    """Digits of 28 by 28 pixels, of the files of MNIST, compressed or not."""

    _name = "mnist"

    def _read(self) -> tuple[Array[np.uint8], Array[np.int32]]:
        part = "train" if self._train else "t10k"
        images, labels = (f"{part}-{kind}-ubyte" for kind in ("images-idx3", "labels-idx1"))
        path = self._find(f"{images}.gz", images)
        pixels, classes = read_whole(path, 3), read_whole(self._find(f"{labels}.gz", labels), 1)
        if len(pixels) != len(classes):
            message, found = "images and labels differ in number", f"{len(pixels)} and {len(classes)}"
            raise MXNetError(message, kind="bad_shape", shard=path, found=found)
        return pixels[..., None], classes.astype(np.int32)


class FashionMNIST(MNIST):
    """Clothes of 28 by 28 pixels, in files like those of MNIST."""

    _name = "fashion-mnist"


class CIFAR10(_Kept):
    """Photographs of 32 by 32 pixels in ten classes, of the files in ``cifar-10-binary.tar.gz``."""

    _name = "cifar10"
    _labels, _place = 1, 0
    _files = tuple(f"data_batch_{number}.bin" for number in range(1, 6)), ("test_batch.bin",)

    def _read(self) -> tuple[Array[np.uint8], Array[np.int32]]:
        rows = np.concatenate([self._rows(self._find(name)) for name in self._files[0 if self._train else 1]])
        pixels = rows[:, self._labels :].reshape(-1, 3, _SIDE, _SIDE).transpose(0, 2, 3, 1)
        return np.ascontiguousarray(pixels), rows[:, self._place].astype(np.int32)

    def _rows(self, path: str) -> Array[np.uint8]:
        data, each = np.fromfile(path, np.uint8), self._labels + 3 * _SIDE * _SIDE
        if len(data) % each:
            expected, found = f"rows of {each} bytes", f"{len(data)} bytes"
            message = "the file is cut, or no file of this data set"
            raise MXNetError(message, kind="truncated_payload", shard=path, expected=expected, found=found)
        return data.reshape(-1, each)


class CIFAR100(CIFAR10):
    """Photographs of 32 by 32 pixels in a hundred classes, or twenty, of the files in ``cifar-100-binary.tar.gz``."""

    _name = "cifar100"
    _labels = 2
    _files = ("train.bin",), ("test.bin",)

    def __init__(
        self,
        root: str | os.PathLike[str] | None = None,
        fine_label: bool = False,
        train: bool = True,
        transform: Callable[..., Any] | None = None,
    ) -> None:
        self._place = int(fine_label)
        super().__init__(root, train, transform)
