"""Iterators of TensorFlow 1 that give values at once, and sessions that are asked to fetch these again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from recordmill.compat.tensorflow.data.iterators import Iterator
from recordmill.compat.tensorflow.data.structures import leaves

# Values of the element that was given last.
_LAST: list[Any] = []


class AtOnce(Iterator):
    """Elements of a data set, in which nothing is left to fetch."""

    def get_next(self, name: str | None = None) -> Any:
        """Next element; as `Iterator.get_next`."""
        del name
        value = super().get_next()
        _LAST[:] = leaves(value)
        return value


def refuse_given(fetches: Iterable[Any]) -> None:
    """Refuse to fetch what an iterator gave: it would be the same element each time, without end."""
    if any(one is other for one in fetches for other in _LAST):
        raise RuntimeError(
            "The Session graph is empty. The iterator gave this element at once, and a session would fetch it again "
            "and again: call tf.compat.v1.disable_eager_execution() first, make the iterator inside "
            "`with tf.Graph().as_default()`, or iterate over the data set without a session."
        )
