"""A Keras callback that reports the progress of ``fit`` to a data source."""

from __future__ import annotations

from typing import Any, Protocol

from recordmill.adapters.common import combine_classes, require_extra


class TrainingData(Protocol):
    """Interface of a data source to which the callback reports the progress of ``fit``."""

    def epoch_begins(self, epoch: int, last: int, steps: int | None) -> None:
        """Prepare for an epoch of ``fit``.

        Parameters
        ----------
        epoch : int
            Number of the epoch, from 0.
        last : int
            Number of the last epoch of ``fit``.
        steps : int or None
            Number of batches per epoch; None if Keras does not know it.
        """
        ...

    def batch_ends(self, batch: int) -> None:
        """Store that the model was trained on the batches of this epoch up to `batch`, inclusive."""
        ...


class ProgressCallback:
    """Reports the progress of ``fit`` to a data source.

    Keras prefetches batches. The data source therefore cannot know which requested batches were used for training.

    Parameters
    ----------
    data : TrainingData
    """

    def __init__(self, data: TrainingData) -> None:
        super().__init__()
        self._data = data

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:  # noqa: ARG002 (Keras passes it)
        """Report the start of an epoch."""
        params = getattr(self, "params", None) or {}
        self._data.epoch_begins(epoch, params.get("epochs", epoch + 1) - 1, params.get("steps"))

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:  # noqa: ARG002 (Keras passes it)
        """Report that the model was trained on a batch."""
        self._data.batch_ends(batch)


def create_callback(data: TrainingData) -> Any:
    """Return a `keras.callbacks.Callback` that reports the progress of ``fit`` to `data`."""
    with require_extra("keras", "pip install 'recordmill[keras]', and set KERAS_BACKEND to jax"):
        from keras.callbacks import Callback
    return combine_classes(ProgressCallback, Callback, __name__)(data)
