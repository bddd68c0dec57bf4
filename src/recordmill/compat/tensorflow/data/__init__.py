"""``tf.data``: pipelines of elements, in TensorFlow's words and order."""

from __future__ import annotations

from recordmill.compat.tensorflow.core.lazy import lazy

AUTOTUNE = -1
INFINITE_CARDINALITY = -1
UNKNOWN_CARDINALITY = -2
# name: the module that has it
MEMBERS: dict[str, str] = {
    "Dataset": "data.dataset",
    "DatasetSpec": "data.specs",
    "FixedLengthRecordDataset": "data.readers",
    "Iterator": "data.iterators",
    "NumpyIterator": "data.iterators",
    "Options": "data.options",
    "TFRecordDataset": "data.readers",
    "TextLineDataset": "data.readers",
    "ThreadingOptions": "data.options",
}
__getattr__, __dir__ = lazy(__name__, MEMBERS, {"experimental": "data.experimental"})
