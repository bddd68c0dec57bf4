"""``mx.io``: iterators over batches."""

from __future__ import annotations

from recordmill.compat.mxnet.base import create_module_getattr
from recordmill.compat.mxnet.io.detection import ImageDetRecordIter
from recordmill.compat.mxnet.io.image_record import ImageRecordIter
from recordmill.compat.mxnet.io.iterators import DataBatch, DataDesc, DataIter, NDArrayIter, PrefetchingIter

__getattr__ = create_module_getattr(
    __name__,
    {
        "ImageRecordIter_v1": "use ImageRecordIter",
        "ImageRecordUInt8Iter": "use ImageRecordIter(dtype='uint8')",
        "ImageRecordUInt8Iter_v1": "use ImageRecordIter(dtype='uint8')",
        "ImageRecordInt8Iter": "use ImageRecordIter(dtype='int8')",
        "CSVIter": "use NDArrayIter(numpy.loadtxt(path, delimiter=','))",
        "LibSVMIter": "use sklearn.datasets.load_svmlight_file and NDArrayIter",
        "MNISTIter": "use gluon.data.vision.MNIST",
        "ResizeIter": "use itertools.islice",
        "MXDataIter": "use DataIter",
    },
)
