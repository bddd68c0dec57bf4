"""``mx.gluon.data.vision``: pictures of record files and folders, and what is done to them."""

from __future__ import annotations

from recordmill.compat.mxnet.absent import absent
from recordmill.compat.mxnet.gluon.data.vision import transforms
from recordmill.compat.mxnet.gluon.data.vision.datasets import ImageFolderDataset, ImageRecordDataset

__all__ = ["ImageFolderDataset", "ImageRecordDataset", "transforms"]
_DOWNLOADED = "fetch the files yourself, pack them with recordmill and read them with ImageRecordDataset"
__getattr__ = absent(
    __name__,
    {
        **dict.fromkeys(("MNIST", "FashionMNIST", "CIFAR10", "CIFAR100"), _DOWNLOADED),
        "ImageListDataset": "pack the list with im2rec, and use ImageRecordDataset",
    },
    "use rm.open(...)",
)
