"""``tf.compat.v1``: all names of ``tf``; names that TensorFlow 2 changed have their TensorFlow 1 meaning."""

from __future__ import annotations

import importlib
from typing import Any

from recordmill.compat.tensorflow import __version__
from recordmill.compat.tensorflow.core.lazy import make_lazy_attributes

# Maps each public name to the module that defines it.
MEMBERS: dict[str, str] = {
    "FixedLenFeature": "io.features",
    "FixedLenSequenceFeature": "io.features",
    "SparseFeature": "io.features",
    "VarLenFeature": "io.features",
    "decode_csv": "io.csv_lines",
    "decode_raw": "ops.numerals",
    "matching_files": "files.contents",
    "parse_example": "io.parsing:parse_example_v1",
    "parse_single_example": "io.parsing:parse_single_example_v1",
    "parse_single_sequence_example": "io.sequences",
    "parse_tensor": "io.tensor_protos",
    "read_file": "files.contents",
    "serialize_tensor": "io.tensor_protos",
    "write_file": "files.contents",
}
MODULES = {name: name for name in ("gfile", "io", "logging", "python_io", "train")}
MODULES |= {"data": "compat.v1_data", "image": "compat.v1_image"}
__all__ = ["__version__"]
_load, __dir__ = make_lazy_attributes(__name__, MEMBERS, MODULES)


def __getattr__(name: str) -> Any:
    if name in MEMBERS or name in MODULES or name.startswith("__"):
        return _load(name)
    package = importlib.import_module("recordmill.compat.tensorflow")
    return getattr(package, name) if name in dir(package) else _load(name)
