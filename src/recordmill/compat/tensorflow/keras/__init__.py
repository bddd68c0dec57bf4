"""``tf.keras``: Keras 3 on a backend other than TensorFlow, imported when one of its names is first used."""

from __future__ import annotations

import importlib
from typing import Any

from recordmill.compat.tensorflow.keras.load import install_finder, load_legacy_namespace

# Modules of this package that replace Keras's modules.
_OWN_MODULES = ("backend", "callbacks")

install_finder()


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name in _OWN_MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    globals()[name] = found = getattr(load_legacy_namespace(), name)
    return found


def __dir__() -> list[str]:
    return sorted({*_OWN_MODULES, *dir(load_legacy_namespace())})
