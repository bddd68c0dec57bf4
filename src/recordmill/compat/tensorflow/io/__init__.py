"""``tf.io``: record files, features of records, images, and whole files."""

from __future__ import annotations

from recordmill.compat.tensorflow.core.lazy import lazy

# name: the module that has it
MEMBERS: dict[str, str] = {
    # records and features
    "FixedLenFeature": "io.features",
    "FixedLenSequenceFeature": "io.features",
    "RaggedFeature": "io.features",
    "SparseFeature": "io.features",
    "VarLenFeature": "io.features",
    "parse_example": "io.parsing",
    "parse_sequence_example": "io.sequences",
    "parse_single_example": "io.parsing",
    "parse_single_sequence_example": "io.sequences",
    # images
}
__getattr__, __dir__ = lazy(__name__, MEMBERS)
