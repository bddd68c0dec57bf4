"""The callback that saves models, under TensorFlow's file names."""

from __future__ import annotations

import os
from typing import Any

from recordmill.compat.tensorflow.keras.whole import Whole

WEIGHTS = ".weights.h5"
MODELS = (".keras", ".h5")


class ModelCheckpoint:
    """Save the model, or its weights, after epochs or numbers of batches.

    A file appears under its name when it is complete, so `tf.train.latest_checkpoint` never finds half of one.
    """

    def __init__(
        self,
        filepath: Any,
        monitor: str = "val_loss",
        verbose: int = 0,
        save_best_only: bool = False,
        save_weights_only: bool = False,
        mode: str = "auto",
        save_freq: Any = "epoch",
        options: Any = None,
        initial_value_threshold: float | None = None,
    ) -> None:
        if options is not None:
            raise NotImplementedError("ModelCheckpoint has no `options` here: Keras writes one file for a model")
        chosen: dict[str, Any] = {
            "filepath": file_name(os.fspath(filepath), bool(save_weights_only)),
            "monitor": monitor,
            "verbose": verbose,
            "save_best_only": save_best_only,
            "save_weights_only": save_weights_only,
            "mode": direction(mode, monitor, bool(save_best_only)),
            "save_freq": save_freq,
            "initial_value_threshold": initial_value_threshold,
        }
        super().__init__(**chosen)

    @property
    def model(self) -> Any:
        """The model, whose files appear when they are complete."""
        found = super().model  # type: ignore[misc]
        return None if found is None else Whole(found)


def file_name(path: str, weights_only: bool) -> str:
    """Complete a file name as Keras wants it."""
    if weights_only:
        return path if path.endswith(WEIGHTS) else path.removesuffix(".h5") + WEIGHTS
    return path if path.endswith(MODELS) else path + MODELS[0]


def direction(mode: str, monitor: str, best_only: bool) -> str:
    """Say whether large values of a metric are good, where its name does or nobody asks."""
    if mode != "auto":
        return mode
    if "acc" in monitor or monitor.startswith("fmeasure"):
        return "max"
    return mode if best_only else "min"
