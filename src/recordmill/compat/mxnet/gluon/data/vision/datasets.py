"""Datasets of images: from record files, from one folder per class, or from the files of MNIST and CIFAR.

Nothing is downloaded.
"""

from __future__ import annotations

import gzip
import math
import os
import warnings
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray as Array

from recordmill.compat.mxnet.base import MissingFileError, MXNetError
from recordmill.compat.mxnet.gluon.data.dataset import Dataset, RecordFileDataset
from recordmill.compat.mxnet.image.functions import imdecode, imread
from recordmill.compat.mxnet.nd import as_ndarray
from recordmill.compat.mxnet.recordio import unpack

_DEFAULT_HOME = "~/.mxnet"
_EXTENSIONS = (".jpg", ".jpeg", ".png")
_GZIP_MAGIC = b"\x1f\x8b"
# The magic number of an MNIST file with uint8 values is the sum of this constant and the number of axes.
_MNIST_MAGIC = 0x0800
_CIFAR_SIDE = 32


class ImageRecordDataset(RecordFileDataset):
    """Images (uint8, height x width x channels) and labels of a record file."""

    def __init__(
        self, filename: str | os.PathLike[str], flag: int = 1, transform: Callable[[Any, Any], Any] | None = None
    ) -> None:
        super().__init__(filename)
        self._flag, self._transform = flag, transform

    def __getitem__(self, idx: Any) -> Any:
        header, data = unpack(super().__getitem__(idx))
        image = imdecode(data, self._flag)
        return (image, header.label) if self._transform is None else self._transform(image, header.label)


class ImageFolderDataset(Dataset):
    """Images of a folder with one subfolder per class, and the class number of each image."""

    def __init__(
        self, root: str | os.PathLike[str], flag: int = 1, transform: Callable[[Any, Any], Any] | None = None
    ) -> None:
        self._flag, self._transform = flag, transform
        self.synsets: list[str] = []
        self.items: list[tuple[str, int]] = []
        root = os.path.expanduser(os.fspath(root))
        for name in sorted(os.listdir(root)):
            folder = os.path.join(root, name)
            if os.path.isdir(folder):
                self.items += [(path, len(self.synsets)) for path in _find_image_files(folder)]
                self.synsets.append(name)
            else:
                warnings.warn(f"Ignoring {folder}, which is not a directory.", stacklevel=2)

    def __len__(self) -> int:
        return len(self.items)

    def __getitem__(self, idx: Any) -> Any:
        path, label = self.items[idx]
        image = imread(path, self._flag)
        return (image, label) if self._transform is None else self._transform(image, label)


def _find_image_files(folder: str) -> Iterator[str]:
    for name in sorted(os.listdir(folder)):
        path, extension = os.path.join(folder, name), os.path.splitext(name)[1]
        if extension.lower() in _EXTENSIONS:
            yield path
        else:
            message = f"Ignoring {path} of type {extension}. Only {', '.join(_EXTENSIONS)} are supported."
            warnings.warn(message, stacklevel=3)


class _InMemoryDataset(Dataset):
    """Base class of datasets that read all images and labels of a folder into memory."""

    _name = ""

    def __init__(
        self,
        root: str | os.PathLike[str] | None = None,
        train: bool = True,
        transform: Callable[..., Any] | None = None,
    ) -> None:
        default = Path(os.environ.get("MXNET_HOME") or _DEFAULT_HOME, "datasets", self._name)
        self._root, self._train, self._transform = Path(root or default).expanduser(), train, transform
        images, self._label = self._read_samples()
        self._data = as_ndarray(images)

    def _read_samples(self) -> tuple[Array[np.uint8], Array[np.int32]]:
        raise NotImplementedError

    def _find_first_existing(self, *names: str) -> Path:
        """Return the path of the first name in `names` for which a file exists."""
        for name in names:
            if (self._root / name).exists():
                return self._root / name
        path = str(self._root / names[0])
        hint = f"copy the files of {type(self).__name__} to {self._root}; nothing is downloaded"
        raise MissingFileError(f"{path}: No such file or directory", shard=path, hint=hint)

    def __len__(self) -> int:
        return len(self._label)

    def __getitem__(self, idx: Any) -> Any:
        sample = self._data[idx], self._label[idx]
        return sample if self._transform is None else self._transform(*sample)


class MNIST(_InMemoryDataset):
    """Handwritten digits, 28 x 28 pixels."""

    _name = "mnist"

    def _read_samples(self) -> tuple[Array[np.uint8], Array[np.int32]]:
        prefix = "train" if self._train else "t10k"
        names = f"{prefix}-images-idx3-ubyte", f"{prefix}-labels-idx1-ubyte"
        paths = [self._find_first_existing(f"{name}.gz", name) for name in names]
        images, labels = _read_mnist_file(paths[0], 3), _read_mnist_file(paths[1], 1)
        if len(images) != len(labels):
            message = f"expected one label per image, got {len(images)} images and {len(labels)} labels"
            raise MXNetError(message, kind="bad_shape", shard=str(paths[0]))
        return images[..., None], labels.astype(np.int32)


class FashionMNIST(MNIST):
    """Images of clothes, 28 x 28 pixels, in MNIST's file format."""

    _name = "fashion-mnist"


def _read_mnist_file(path: Path, num_axes: int) -> Array[np.uint8]:
    """Read a plain or gzip file in MNIST's format: magic number, length of each axis, bytes of the array."""
    data, shard = path.read_bytes(), str(path)
    if data.startswith(_GZIP_MAGIC):
        try:
            data = gzip.decompress(data)
        except (OSError, EOFError, zlib.error) as error:
            raise MXNetError(f"invalid MNIST format: {error}", kind="bad_compression", shard=shard) from error
    header_bytes = 4 * (1 + num_axes)
    if len(data) < header_bytes:
        raise MXNetError(
            "invalid MNIST format: the file is too short for the header", kind="truncated_header", shard=shard
        )
    magic, *shape = np.frombuffer(data[:header_bytes], ">i4").tolist()
    if magic != _MNIST_MAGIC + num_axes:
        expected, found = f"magic number {_MNIST_MAGIC + num_axes}", str(magic)
        raise MXNetError("invalid MNIST format", kind="bad_magic", shard=shard, expected=expected, found=found)
    if min(shape) < 0 or len(data) < header_bytes + math.prod(shape):
        expected, found = f"bytes for shape {tuple(shape)}", f"{len(data)} bytes"
        raise MXNetError("the file is truncated", kind="truncated_payload", shard=shard, expected=expected, found=found)
    return np.frombuffer(data, np.uint8, math.prod(shape), header_bytes).reshape(shape)


class CIFAR10(_InMemoryDataset):
    """Photographs of ten classes, 32 x 32 pixels, from the files of ``cifar-10-binary.tar.gz``."""

    _name = "cifar10"
    _num_labels, _label_column = 1, 0
    _train_files = tuple(f"data_batch_{number}.bin" for number in range(1, 6))
    _test_files: tuple[str, ...] = ("test_batch.bin",)

    def _read_samples(self) -> tuple[Array[np.uint8], Array[np.int32]]:
        names = self._train_files if self._train else self._test_files
        rows = np.concatenate([self._read_cifar_file(self._find_first_existing(name)) for name in names])
        images = rows[:, self._num_labels :].reshape(-1, 3, _CIFAR_SIDE, _CIFAR_SIDE).transpose(0, 2, 3, 1)
        return np.ascontiguousarray(images), rows[:, self._label_column].astype(np.int32)

    def _read_cifar_file(self, path: Path) -> Array[np.uint8]:
        data, row_bytes = np.fromfile(path, np.uint8), self._num_labels + 3 * _CIFAR_SIDE**2
        if len(data) % row_bytes:
            expected, found = f"rows of {row_bytes} bytes", f"{len(data)} bytes"
            message, shard = "the file is truncated", str(path)
            raise MXNetError(message, kind="truncated_payload", shard=shard, expected=expected, found=found)
        return data.reshape(-1, row_bytes)


class CIFAR100(CIFAR10):
    """Photographs with labels of 100 classes or of 20 superclasses, from the files of ``cifar-100-binary.tar.gz``."""

    _name = "cifar100"
    _num_labels = 2
    _train_files = ("train.bin",)
    _test_files = ("test.bin",)

    def __init__(
        self,
        root: str | os.PathLike[str] | None = None,
        fine_label: bool = False,
        train: bool = True,
        transform: Callable[..., Any] | None = None,
    ) -> None:
        self._label_column = int(fine_label)
        super().__init__(root, train, transform)
