"""``tf.compat.v1.data``: iterators as TensorFlow 1 made them; everything else as in ``tf.data``."""

from __future__ import annotations

from typing import Any

from recordmill.compat.tensorflow import data

__all__ = ["make_initializable_iterator", "make_one_shot_iterator"]


def make_one_shot_iterator(dataset: Any) -> Any:
    """Iterate over a data set once.

    Parameters
    ----------
    dataset : Dataset

    Returns
    -------
    Iterator
        Whose `get_next` gives the next element.
    """
    return iter(dataset)


def make_initializable_iterator(dataset: Any, shared_name: str | None = None) -> Any:
    """Not there: it belongs to graphs and sessions.

    Raises
    ------
    RuntimeError
        Always, as in TensorFlow without graphs.
    """
    del dataset, shared_name
    raise RuntimeError(
        "dataset.make_initializable_iterator is not supported when eager execution is enabled. Use `for element in "
        "dataset` instead."
    )


def __getattr__(name: str) -> Any:
    """Everything that kept its meaning."""
    return getattr(data, name)
