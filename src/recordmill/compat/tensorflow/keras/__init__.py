"""``tf.keras``: Keras 3 on a backend other than TensorFlow, imported when a name of it is first used."""

from __future__ import annotations

import importlib
from typing import Any

from recordmill.compat.tensorflow.keras.finder import install
from recordmill.compat.tensorflow.keras.loading import face

# Modules that differ from Keras's own.
OURS = ("backend", "callbacks", "layers", "preprocessing", "utils")

install()


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = importlib.import_module(f"{__name__}.{name}") if name in OURS else getattr(face(), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*OURS, *dir(face())})
