"""Tokens of data, row by row, and options of layers that are not here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from recordmill.compat.tensorflow.core.ragged import RaggedTensor
from recordmill.compat.tensorflow.core.tensor import array_of
from recordmill.compat.tensorflow.keras.feeding import is_dataset


def refuse_options(name: str, options: dict[str, Any]) -> None:
    """Refuse options of Keras that are not here."""
    for option, value in options.items():
        is_usual = option in ("name", "dtype", "trainable", "vocabulary_dtype") or value in (None, False, "utf-8")
        if not is_usual:
            raise NotImplementedError(f"tf.keras.layers.{name}({option}={value!r}) is not supported: leave it out")


def rows_of(data: Any, steps: int | None = None) -> Iterator[list[Any]]:
    """Tokens of data, row by row."""
    elements: Iterable[Any] = (data if steps is None else data.take(steps)) if is_dataset(data) else [data]
    for element in elements:
        rows: Sequence[Any] = (
            element.to_list() if isinstance(element, RaggedTensor) else [*np.atleast_1d(_array(element))]
        )
        for row in rows:
            yield np.ravel(row).tolist() if isinstance(row, np.ndarray) else row if isinstance(row, list) else [row]


def _array(element: Any) -> Any:
    return array_of(element[0] if isinstance(element, tuple) else element)
