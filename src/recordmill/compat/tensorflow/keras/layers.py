"""``tf.keras.layers``: Keras's; those that hold strings are this package's, for pipelines."""

from __future__ import annotations

from typing import Any

from recordmill.compat.tensorflow.keras.hashing import Hashing
from recordmill.compat.tensorflow.keras.indexing import IntegerLookup, StringLookup
from recordmill.compat.tensorflow.keras.loading import face
from recordmill.compat.tensorflow.keras.vectorization import TextVectorization

__all__ = ["Hashing", "IntegerLookup", "StringLookup", "TextVectorization"]


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found = getattr(face().layers, name)
    return found


def __dir__() -> list[str]:
    return sorted({*__all__, *dir(face().layers)})
