"""``tf.keras.callbacks``: Keras's, with a ``ModelCheckpoint`` that takes TensorFlow's file names."""

from __future__ import annotations

from typing import Any

from recordmill.compat.tensorflow.keras.checkpoint import ModelCheckpoint as Ours
from recordmill.compat.tensorflow.keras.loading import face


def __getattr__(name: str) -> Any:
    found = getattr(face().callbacks, name)
    if name == "ModelCheckpoint":
        found = type(name, (Ours, found), {"__module__": __name__, "__doc__": Ours.__doc__})
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return dir(face().callbacks)
