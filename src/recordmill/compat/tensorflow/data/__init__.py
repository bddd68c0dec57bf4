"""``tf.data``: `Dataset`, datasets of files and `Options`, imported on first use."""

from __future__ import annotations

from recordmill.compat.tensorflow.core.lazy import make_lazy_attributes

AUTOTUNE = -1
INFINITE_CARDINALITY = -1
UNKNOWN_CARDINALITY = -2
# Maps each public name to the module that defines it.
MEMBERS: dict[str, str] = {
    "Dataset": "data.dataset",
    "DatasetSpec": "data.structures",
    "Iterator": "data.iterators",
    "Options": "data.options",
    "TFRecordDataset": "data.files",
    "TextLineDataset": "data.files",
}
__getattr__, __dir__ = make_lazy_attributes(__name__, MEMBERS, {"experimental": "data.experimental"})
