"""``mx.gluon.data.vision.ImageRecordDataset`` and ``ImageFolderDataset``."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from typing import Any

from recordmill.compat.mxnet.gluon.data.dataset import Dataset, RecordFileDataset
from recordmill.compat.mxnet.image.functions import imdecode, imread
from recordmill.compat.mxnet.recordio import unpack


class ImageRecordDataset(RecordFileDataset):
    """Pictures and labels of a record file."""

    def __init__(
        self, filename: str | os.PathLike[str], flag: int = 1, transform: Callable[[Any, Any], Any] | None = None
    ) -> None:
        super().__init__(filename)
        self._flag, self._transform = flag, transform

    def __getitem__(self, idx: Any) -> Any:
        """Picture (uint8, height × width × channels) and label at a position, or what `transform` makes of them."""
        header, data = unpack(super().__getitem__(idx))
        picture = imdecode(data, self._flag)
        return (picture, header.label) if self._transform is None else self._transform(picture, header.label)


class ImageFolderDataset(Dataset):
    """Pictures of a folder that has a folder for each class."""

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
                self.items += [(path, len(self.synsets)) for path in _pictures_in(folder)]
                self.synsets.append(name)
            else:
                warnings.warn(f"Ignoring {folder}, which is not a directory.", stacklevel=2)

    def __len__(self) -> int:
        """Return the number of pictures."""
        return len(self.items)

    def __getitem__(self, idx: Any) -> Any:
        """Picture (uint8, height × width × channels) and class at a position, or what `transform` makes of them."""
        path, label = self.items[idx]
        picture = imread(path, self._flag)
        return (picture, label) if self._transform is None else self._transform(picture, label)


def _pictures_in(folder: str) -> Iterator[str]:
    for name in sorted(os.listdir(folder)):
        path, ending = os.path.join(folder, name), os.path.splitext(name)[1]
        if ending.lower() in (".jpg", ".jpeg", ".png"):
            yield path
        else:
            warnings.warn(f"Ignoring {path} of type {ending}. Only .jpg, .jpeg and .png are taken.", stacklevel=3)
