"""``tf.contrib.data``: an older path to the functions and classes of ``tf.data`` and ``tf.data.experimental``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from recordmill.compat.tensorflow import data
from recordmill.compat.tensorflow.data import experimental

__all__ = ["batch_and_drop_remainder", "padded_batch_and_drop_remainder"]


def batch_and_drop_remainder(batch_size: int) -> Callable[[Any], Any]:
    """Return a transformation that creates batches and drops an incomplete last batch."""
    return lambda dataset: dataset.batch(batch_size, drop_remainder=True)


def padded_batch_and_drop_remainder(
    batch_size: int, padded_shapes: Any, padding_values: Any = None
) -> Callable[[Any], Any]:
    """Return a transformation that creates padded batches and drops an incomplete last batch."""
    return lambda dataset: dataset.padded_batch(batch_size, padded_shapes, padding_values, drop_remainder=True)


def __getattr__(name: str) -> Any:
    return getattr(data if name in data.MEMBERS else experimental, name)
