"""``tf.keras.backend``: the members of ``keras.backend``. Functions on tensors are in ``tf.keras.ops``."""

from __future__ import annotations

from typing import Any

from recordmill.compat.tensorflow.keras.load import load_keras


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(load_keras().backend, name, None)
    if found is None:
        raise AttributeError(f"tf.keras.backend.{name} is not supported; use tf.keras.ops", name=name)
    return found


def __dir__() -> list[str]:
    return dir(load_keras().backend)
