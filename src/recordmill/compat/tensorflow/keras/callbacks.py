"""``tf.keras.callbacks``: Keras's, with a ``ModelCheckpoint`` that takes TensorFlow's file names."""

from __future__ import annotations

import os
from typing import Any

from recordmill.compat.tensorflow.keras.load import load_namespace

_WEIGHTS = ".weights.h5"
_MODELS = (".keras", ".h5")


class _ModelCheckpoint:
    """Save the model, or its weights, after epochs or numbers of batches."""

    def __init__(
        self,
        filepath: Any,
        monitor: str = "val_loss",
        verbose: int = 0,
        save_best_only: bool = False,
        save_weights_only: bool = False,
        mode: str = "auto",
        **options: Any,
    ) -> None:
        path = complete_file_name(os.fspath(filepath), weights_only=save_weights_only)
        direction = _choose_mode(mode, monitor, save_best_only=save_best_only)
        super().__init__(path, monitor, verbose, save_best_only, save_weights_only, direction, **options)  # type: ignore[call-arg]


def complete_file_name(path: str, *, weights_only: bool) -> str:
    """Append the suffix that Keras 3 requires."""
    if weights_only:
        return path if path.endswith(_WEIGHTS) else path.removesuffix(".h5") + _WEIGHTS
    return path if path.endswith(_MODELS) else path + _MODELS[0]


def _choose_mode(mode: str, monitor: str, *, save_best_only: bool) -> str:
    """Return the direction of a metric by its name, as TensorFlow does; Keras 3 needs to know the metric."""
    if mode != "auto":
        return mode
    if "acc" in monitor or monitor.startswith("fmeasure"):
        return "max"
    return "auto" if save_best_only else "min"


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(load_namespace().callbacks, name)
    if name == "ModelCheckpoint":
        found = type(name, (_ModelCheckpoint, found), {"__module__": __name__, "__doc__": _ModelCheckpoint.__doc__})
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return dir(load_namespace().callbacks)
