"""``mx.io``: iterators that give batches, and what batches are made of."""

from __future__ import annotations

from recordmill.compat.mxnet.absent import absent
from recordmill.compat.mxnet.io.arrays import NDArrayIter
from recordmill.compat.mxnet.io.batches import DataBatch, DataDesc, DataIter
from recordmill.compat.mxnet.io.combined import PrefetchingIter, ResizeIter
from recordmill.compat.mxnet.io.csv import CSVIter
from recordmill.compat.mxnet.io.detection import ImageDetRecordIter
from recordmill.compat.mxnet.io.image_record import ImageRecordInt8Iter, ImageRecordIter, ImageRecordUInt8Iter
from recordmill.compat.mxnet.io.libsvm import LibSVMIter
from recordmill.compat.mxnet.io.mnist import MNISTIter

__getattr__ = absent(
    __name__,
    {
        "ImageRecordIter_v1": "use ImageRecordIter",
        "ImageRecordUInt8Iter_v1": "use ImageRecordUInt8Iter",
        "MXDataIter": "use DataIter",
    },
)

__all__ = [
    "CSVIter",
    "DataBatch",
    "DataDesc",
    "DataIter",
    "ImageDetRecordIter",
    "ImageRecordInt8Iter",
    "ImageRecordIter",
    "ImageRecordUInt8Iter",
    "LibSVMIter",
    "MNISTIter",
    "NDArrayIter",
    "PrefetchingIter",
    "ResizeIter",
]
