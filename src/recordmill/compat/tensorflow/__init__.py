"""TensorFlow's names for records, images and data sets: ``import recordmill.compat.tensorflow as tf``."""

from __future__ import annotations

import importlib
from typing import Any

from recordmill.compat.tensorflow.core.dtypes import (
    DType,
    as_dtype,
    bool_,
    double,
    float16,
    float32,
    float64,
    half,
    int8,
    int16,
    int32,
    int64,
    string,
    uint8,
    uint16,
    uint32,
    uint64,
)
from recordmill.compat.tensorflow.core.shapes import TensorShape
from recordmill.compat.tensorflow.core.tensor import Tensor

bool = bool_  # noqa: A001 (TensorFlow's name)
_PACKAGE = "recordmill.compat.tensorflow"
# name: the module that has it, imported when the name is first used
_MODULES: dict[str, str] = {"errors": "core.errors", "dtypes": "core.dtypes"}
_MEMBERS: dict[str, str] = {}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        found: Any = importlib.import_module(f"{_PACKAGE}.{_MODULES[name]}")
    elif name in _MEMBERS:
        found = getattr(importlib.import_module(f"{_PACKAGE}.{_MEMBERS[name]}"), name)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}; see the migration page for what is here")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES, *_MEMBERS} - {"Any", "annotations", "importlib"})


__all__ = [
    "DType",
    "Tensor",
    "TensorShape",
    "as_dtype",
    "bool",
    "double",
    "float16",
    "float32",
    "float64",
    "half",
    "int8",
    "int16",
    "int32",
    "int64",
    "string",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]
