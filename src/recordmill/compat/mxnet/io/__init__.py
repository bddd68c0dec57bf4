"""``mx.io``: iterators that give batches, and what batches are made of."""

from __future__ import annotations

from recordmill.compat.mxnet.io.batches import DataBatch, DataDesc, DataIter
from recordmill.compat.mxnet.io.detection import ImageDetRecordIter
from recordmill.compat.mxnet.io.image_record import ImageRecordIter

__all__ = ["DataBatch", "DataDesc", "DataIter", "ImageDetRecordIter", "ImageRecordIter"]
