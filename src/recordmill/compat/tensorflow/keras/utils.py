"""``tf.keras.utils``: Keras's, with data sets of folders and arrays that are this package's."""

from __future__ import annotations

from typing import Any

from recordmill.compat.tensorflow.keras.folders import member
from recordmill.compat.tensorflow.keras.loading import face
from recordmill.compat.tensorflow.keras.splitting import split_dataset

__all__ = ["split_dataset"]


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = found = member("utils", name)
    return found


def __dir__() -> list[str]:
    return dir(face().utils)
