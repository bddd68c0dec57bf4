"""``tf.contrib.data``: ``tf.data`` and ``tf.data.experimental`` before they had these names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from recordmill.compat.tensorflow import data
from recordmill.compat.tensorflow.data import experimental

__all__ = ["batch_and_drop_remainder", "padded_batch_and_drop_remainder"]
# older name: name in tf.data.experimental
_RENAMED = {"sloppy_interleave": "parallel_interleave"}
_HERE = ("Dataset", "FixedLengthRecordDataset", "Iterator", "Options", "TFRecordDataset", "TextLineDataset")


def batch_and_drop_remainder(batch_size: int) -> Callable[[Any], Any]:
    """For `Dataset.apply`: batches, without the last one if it is smaller."""
    return lambda dataset: dataset.batch(batch_size, drop_remainder=True)


def padded_batch_and_drop_remainder(
    batch_size: int, padded_shapes: Any, padding_values: Any = None
) -> Callable[[Any], Any]:
    """For `Dataset.apply`: padded batches, without the last one if it is smaller."""
    return lambda dataset: dataset.padded_batch(batch_size, padded_shapes, padding_values, drop_remainder=True)


def __getattr__(name: str) -> Any:
    """What is called so in ``tf.data`` or ``tf.data.experimental``."""
    if name in _HERE:
        return getattr(data, name)
    return getattr(experimental, _RENAMED.get(name) or name)
