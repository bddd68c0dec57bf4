"""How ``fit``, ``evaluate`` and ``predict`` of Keras take a ``tf.data.Dataset`` of ours, whatever the model is.

Keras asks one function for the adapter of its data, and takes no adapters of others by a public way. That function
learns about our data sets, and does with everything else what it did before.

References
----------
keras/src/trainers/data_adapters (what an adapter is asked for), the same in Keras 3.8 to 3.15.
"""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Iterator
from typing import Any

from recordmill.compat.tensorflow.keras.batches import plain_batch, weighted
from recordmill.errors import MissingExtraError

_DATA = "recordmill.compat.tensorflow.data"
_INFINITE = -1


def is_dataset(value: Any) -> bool:
    """Whether a value is a data set of ours."""
    data = sys.modules.get(_DATA)  # who has a data set has imported this
    return data is not None and isinstance(value, data.Dataset)


class DatasetAdapter:
    """What Keras asks for the batches of a data set: each pass over it is a new iteration."""

    batch_size = None
    has_partial_batch = None
    partial_batch_size = None

    def __init__(self, dataset: Any, steps: int | None = None, class_weight: dict[int, float] | None = None) -> None:
        self._dataset = dataset
        self._class_weight = class_weight
        cardinality = int(dataset.cardinality())
        if cardinality == _INFINITE and not steps:
            raise ValueError(
                "When providing an infinite dataset, you must specify the number of steps to run (if you did not "
                "intend to create an infinite dataset, make sure to not call `repeat()` on the dataset)."
            )
        self._num_batches = cardinality if cardinality >= 0 else None

    @property
    def num_batches(self) -> int | None:
        """Number of batches of a pass; None if it is not known or there is no end."""
        return self._num_batches

    def get_numpy_iterator(self) -> Iterator[Any]:
        """Batches of arrays."""
        for element in self._dataset:
            batch = plain_batch(element)
            yield batch if self._class_weight is None else weighted(batch, self._class_weight)

    get_jax_iterator = get_numpy_iterator  # JAX takes NumPy's arrays

    def get_torch_dataloader(self) -> Any:
        """Batches of PyTorch's tensors on its device."""
        return _internal("trainers.data_adapters.data_adapter_utils").get_torch_dataloader(_Again(self))


class _Again:
    """Iterates anew each time: what PyTorch's loader is made of."""

    def __init__(self, adapter: DatasetAdapter) -> None:
        self._adapter = adapter

    def __iter__(self) -> Iterator[Any]:
        return self._adapter.get_numpy_iterator()


def _internal(name: str) -> Any:
    return importlib.import_module(f"keras.src.{name}")


def register_datasets() -> None:
    """Let Keras take our data sets."""
    try:
        adapters = _internal("trainers.data_adapters")
        theirs, base = adapters.get_data_adapter, adapters.data_adapter.DataAdapter
    except (ImportError, AttributeError) as changed:
        hint = "pip install 'keras>=3.8'"
        raise MissingExtraError("this version of Keras does not tell how it takes data sets", hint=hint) from changed
    ours = type("DatasetAdapter", (DatasetAdapter, base), {"__module__": __name__})

    @functools.wraps(theirs)
    def get_data_adapter(x: Any, *args: Any, **kwargs: Any) -> Any:
        return _adapter(ours, x, *args, **kwargs) if is_dataset(x) else theirs(x, *args, **kwargs)

    adapters.get_data_adapter = get_data_adapter


def _adapter(
    adapter: Any,
    x: Any,
    y: Any = None,
    sample_weight: Any = None,
    batch_size: int | None = None,
    steps_per_epoch: int | None = None,
    shuffle: Any = False,  # noqa: ARG001 (on by default in fit; the data set says how it is shuffled)
    class_weight: dict[int, float] | None = None,
) -> Any:
    for name, told, value in (("y", "the targets", y), ("sample_weight", "the sample weights", sample_weight)):
        if value is not None:
            raise ValueError(
                f"When providing `x` as a tf.data.Dataset, `{name}` should not be passed. "
                f"Instead, {told} should be included as part of the tf.data.Dataset."
            )
    if batch_size is not None:
        raise ValueError("The `batch_size` argument must not be specified when `x` is a tf.data.Dataset: batch() it.")
    return adapter(x, steps_per_epoch, class_weight)
