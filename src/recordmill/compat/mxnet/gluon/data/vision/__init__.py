"""``mx.gluon.data.vision``: image datasets and transforms."""

from __future__ import annotations

from recordmill.compat.mxnet.base import create_module_getattr
from recordmill.compat.mxnet.gluon.data.vision import transforms
from recordmill.compat.mxnet.gluon.data.vision.datasets import (
    CIFAR10,
    CIFAR100,
    MNIST,
    FashionMNIST,
    ImageFolderDataset,
    ImageRecordDataset,
)

__getattr__ = create_module_getattr(
    __name__,
    {"ImageListDataset": "pack the list with im2rec, and use ImageRecordDataset"},
    "use rm.open(...)",
)
