"""``tf.keras.callbacks``: Keras's callbacks, with a ``ModelCheckpoint`` that accepts TensorFlow's file names."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from recordmill.compat.tensorflow.keras.load import load_legacy_namespace

_WEIGHTS = ".weights.h5"
_MODELS = (".keras", ".h5")


class _ModelCheckpoint:
    """``ModelCheckpoint``: save the model or its weights during training; a file appears only when it is complete."""

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
        path = add_required_suffix(os.fspath(filepath), weights_only=save_weights_only)
        direction = _choose_monitor_mode(mode, monitor, save_best_only=save_best_only)
        super().__init__(path, monitor, verbose, save_best_only, save_weights_only, direction, **options)  # type: ignore[call-arg]

    @property
    def model(self) -> Any:
        """Model wrapped in `AtomicModel`, or None if Keras has not set the model yet."""
        model = super().model  # type: ignore[misc]
        return None if model is None else AtomicModel(model)


class AtomicModel:
    """Model that saves to a temporary name first, so that a program that is killed leaves no incomplete file."""

    def __init__(self, model: Any) -> None:
        self._model = model

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def save(self, filepath: Any, **options: Any) -> None:
        """Save the model to a temporary name, then rename the file."""
        _save_atomically(self._model.save, Path(filepath), options)

    def save_weights(self, filepath: Any, **options: Any) -> None:
        """Save the weights to a temporary name, then rename the file."""
        _save_atomically(self._model.save_weights, Path(filepath), options)


def _save_atomically(save: Callable[..., None], path: Path, options: dict[str, Any]) -> None:
    partial = path.with_name(f".partial-{path.name}")
    try:
        save(partial, **options)
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def add_required_suffix(path: str, *, weights_only: bool) -> str:
    """Return `path` with the file name suffix that Keras 3 requires for weights or for models."""
    if weights_only:
        return path if path.endswith(_WEIGHTS) else path.removesuffix(".h5") + _WEIGHTS
    return path if path.endswith(_MODELS) else path + _MODELS[0]


def _choose_monitor_mode(mode: str, monitor: str, *, save_best_only: bool) -> str:
    """Choose "max" or "min" from a metric's name, as TensorFlow does; Keras 3 would fail for unknown metrics."""
    if mode != "auto":
        return mode
    if "acc" in monitor or monitor.startswith("fmeasure"):
        return "max"
    return "auto" if save_best_only else "min"


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(load_legacy_namespace().callbacks, name)
    if name == "ModelCheckpoint":
        found = type(name, (_ModelCheckpoint, found), {"__module__": __name__, "__doc__": _ModelCheckpoint.__doc__})
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return dir(load_legacy_namespace().callbacks)
