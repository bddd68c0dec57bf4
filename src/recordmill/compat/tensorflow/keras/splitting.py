"""``tf.keras.utils.split_dataset`` for data sets of this package."""

from __future__ import annotations

from typing import Any

import numpy as np

from recordmill.compat.tensorflow.keras.feeding import is_dataset


def split_dataset(
    dataset: Any,
    left_size: float | None = None,
    right_size: float | None = None,
    shuffle: bool = False,
    seed: int | None = None,
    **options: Any,
) -> tuple[Any, Any]:
    """Two data sets of the first and the last samples of one, or of arrays."""
    if options:
        raise NotImplementedError(f"split_dataset({next(iter(options))}=...) is not supported: leave it out")
    from recordmill.compat.tensorflow.data.batching import Batch
    from recordmill.compat.tensorflow.data.dataset import Dataset
    from recordmill.compat.tensorflow.data.sources import Values
    from recordmill.compat.tensorflow.data.specs import spec_of

    if not is_dataset(dataset):
        dataset = Dataset.from_tensor_slices(_arrays(dataset))
    size = dataset.node.size if isinstance(dataset.node, Batch) else None
    samples = list(dataset.unbatch() if size else dataset)
    if not samples:
        raise ValueError("Received an empty dataset as argument `dataset`: there is nothing to split.")
    count = left_count(len(samples), left_size, right_size)
    stop = len(samples) if count[1] is None else count[0] + count[1]
    if shuffle:
        np.random.default_rng(seed).shuffle(samples)
    parts = []
    for rows in (samples[: count[0]], samples[count[0] : stop]):
        part = Dataset(Values(rows, spec_of(rows[0]))) if rows else dataset.take(0)
        part = part.batch(size) if size and rows else part
        parts.append(part.prefetch(-1))
    return parts[0], parts[1]


def _arrays(given: Any) -> Any:
    if not isinstance(given, list | tuple):
        return given
    for place, one in enumerate(given):
        if not isinstance(one, np.ndarray):
            kind = type(given).__name__
            raise ValueError(f"Expected a {kind} of `numpy.ndarray` objects, Received: {type(one)} at index {place}.")  # noqa: TRY004
    return tuple(given)


def left_count(total: int, left: float | None, right: float | None) -> tuple[int, int | None]:
    """Read how many samples go to either side; None is all others."""
    if left is None and right is None:
        raise ValueError("At least one of the `left_size` or `right_size` must be specified. Received: left_size=None")
    counts = [_count(size, total, name) for size, name in ((left, "left_size"), (right, "right_size"))]
    first, last = counts
    if first is None:
        return total - (last or 0), None
    if last is not None and first + last > total:
        raise ValueError(
            f"The sum of `left_size` and `right_size` should be smaller than or equal to {total}. Received: "
            f"left_size={left}, right_size={right}"
        )
    return first, last


def _count(size: float | None, total: int, name: str) -> int | None:
    if size is None:
        return None
    is_share = isinstance(size, float)
    if not (0 < size < 1 if is_share else isinstance(size, int | np.integer) and 0 < size < total):
        raise ValueError(
            f"`{name}` should be either a positive integer smaller than {total}, or a float within the range `[0, 1]`. "
            f"Received: {name}={size}"
        )
    return round(size * total) if is_share else int(size)
