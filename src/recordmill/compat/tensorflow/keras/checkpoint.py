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

    Parameters
    ----------
    filepath : str or path
        May hold ``{epoch}`` and the names of metrics, with formats. ``.weights.h5``, or ``.keras`` for whole models, is
        added where Keras asks for it.
    monitor : str, default "val_loss"
        What ``save_best_only`` compares.
    verbose : int, default 0
        1 prints a line about each file.
    save_best_only : bool, default False
    save_weights_only : bool, default False
        Keras saves the state of a compiled model's optimizer along with its weights.
    mode : {"auto", "min", "max"}
        Whether large values are good. "auto" knows that of the loss, of accuracies, and of Keras's own metrics.
    save_freq : "epoch" or int
        Or number of batches.
    initial_value_threshold : float, optional
        What the first model has to surpass.

    Raises
    ------
    NotImplementedError
        TensorFlow's ``options``, which Keras does not have.
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
    """Complete a file name as Keras wants it.

    Parameters
    ----------
    path : str
    weights_only : bool

    Returns
    -------
    str
    """
    if weights_only:
        return path if path.endswith(WEIGHTS) else path.removesuffix(".h5") + WEIGHTS
    return path if path.endswith(MODELS) else path + MODELS[0]


def direction(mode: str, monitor: str, best_only: bool) -> str:
    """Say whether large values of a metric are good, where its name does or nobody asks.

    Parameters
    ----------
    mode, monitor : str
    best_only : bool

    Returns
    -------
    str
        Keras decides "auto", and refuses metrics that it does not know.

    References
    ----------
    keras/callbacks.py of Keras 2.15 (which names are those of accuracies).
    """
    if mode != "auto":
        return mode
    if "acc" in monitor or monitor.startswith("fmeasure"):
        return "max"
    return mode if best_only else "min"
