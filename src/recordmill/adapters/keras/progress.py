"""The callback that tells a data set what the model was trained on."""

from __future__ import annotations

import functools
from typing import Any, Protocol

from recordmill.adapters.frameworks import extra, joined


class Trained(Protocol):
    """What is told."""

    def epoch_begins(self, epoch: int, last: int, steps: int | None) -> None:
        """Prepare for an epoch of ``fit``, which goes on to the epoch `last` and has so many batches in each."""
        ...

    def batch_ends(self, batch: int) -> None:
        """Note that the model was trained on a batch, and on those before it in this epoch of ``fit``."""
        ...


class Progress:
    """Tells the data of a training what the model has learnt from, and not what was made ahead for it.

    Parameters
    ----------
    data : Trained
    """

    def __init__(self, data: Trained) -> None:
        super().__init__()
        self._data = data

    def on_epoch_begin(self, epoch: int, logs: Any = None) -> None:  # noqa: ARG002 (Keras hands it over)
        """Tell the epoch of ``fit``."""
        run = getattr(self, "params", None) or {}
        self._data.epoch_begins(epoch, run.get("epochs", epoch + 1) - 1, run.get("steps"))

    def on_train_batch_end(self, batch: int, logs: Any = None) -> None:  # noqa: ARG002 (Keras hands it over)
        """Tell the batch of this epoch."""
        self._data.batch_ends(batch)


@functools.cache
def _class() -> Any:
    with extra("keras", "pip install 'recordmill[keras]', and set KERAS_BACKEND to jax"):
        from keras.callbacks import Callback
    return joined(Progress, Callback, __name__)


def progress(data: Trained) -> Any:
    """Make the callback for a data set.

    Parameters
    ----------
    data : Trained

    Returns
    -------
    keras.callbacks.Callback
    """
    return _class()(data)
