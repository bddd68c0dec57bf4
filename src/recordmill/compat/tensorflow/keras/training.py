"""Training, evaluation and prediction of Keras's models on ``tf.data`` datasets and tensors of this package.

References
----------
keras/src/trainers/data_adapters (interface of data adapters, which is the same in Keras 3.8 to 3.15).
"""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor
from recordmill.compat.tensorflow.train.checkpoints import Checkpoint
from recordmill.errors import MissingExtraError

_DATA_MODULE = "recordmill.compat.tensorflow.data"
_ADAPTERS = "keras.src.trainers.data_adapters"
_INFINITE = -1


class DatasetAdapter:
    """Data adapter through which Keras reads a `tf.data` dataset; each pass iterates over the dataset again."""

    batch_size = None
    has_partial_batch = None
    partial_batch_size = None

    def __init__(self, dataset: Any, steps: int | None = None, class_weight: dict[int, float] | None = None) -> None:
        self._dataset = dataset
        self._class_weight = class_weight
        cardinality = int(dataset.cardinality())
        if cardinality == _INFINITE and not steps:
            raise ValueError("the dataset is infinite; pass steps_per_epoch, steps or validation_steps")
        self._num_batches = cardinality if cardinality >= 0 else None

    @property
    def num_batches(self) -> int | None:
        """Number of batches per pass, or None if it is unknown or infinite."""
        return self._num_batches

    def get_numpy_iterator(self) -> Iterator[Any]:
        """Yield batches as NumPy arrays."""
        for element in self._dataset:
            batch = element_to_arrays(element)
            yield batch if self._class_weight is None else self._add_sample_weights(batch)

    __iter__ = get_jax_iterator = get_numpy_iterator

    def get_torch_dataloader(self) -> Any:
        """Return a PyTorch DataLoader over the batches."""
        return _import_adapter_utilities().get_torch_dataloader(self)

    def _add_sample_weights(self, batch: Any) -> Any:
        if not isinstance(batch, tuple) or len(batch) != 2:
            raise ValueError("class_weight requires a dataset of pairs (x, y)")
        return *batch, _import_adapter_utilities().class_weight_to_sample_weights(batch[1], self._class_weight)


def _import_adapter_utilities() -> Any:
    return importlib.import_module(f"{_ADAPTERS}.data_adapter_utils")


def element_to_arrays(element: Any) -> Any:
    """Convert the tensors in an element of a dataset to NumPy arrays, and lists to tuples."""
    if isinstance(element, Mapping):
        return {key: element_to_arrays(value) for key, value in element.items()}
    if isinstance(element, tuple | list):
        return tuple(element_to_arrays(value) for value in element)
    return None if element is None else _to_array(element)


def _to_array(value: Any) -> NDArray[Any]:
    if not isinstance(value, Tensor) and not hasattr(value, "__array__"):
        raise InvalidArgumentError(
            f"a Keras model accepts only dense tensors, got a {type(value).__name__}",
            hint="call to_tensor() or tf.sparse.to_dense()",
        )
    array: NDArray[Any] = value.values if isinstance(value, Tensor) else np.asarray(value)
    if array.dtype.kind not in "biufV":  # NumPy's kind of bfloat16 is "V".
        raise InvalidArgumentError("a Keras model does not accept strings", hint="convert them to numbers in map()")
    if not array.ndim:
        raise InvalidArgumentError("a Keras model accepts only batches, got a scalar", hint="call batch()")
    return array


def register_datasets() -> None:
    """Make Keras models accept datasets, by replacing the function that chooses Keras's data adapter."""
    try:
        adapters: Any = importlib.import_module(_ADAPTERS)
        original, base = adapters.get_data_adapter, adapters.data_adapter.DataAdapter
    except (ImportError, AttributeError) as error:
        raise MissingExtraError("this version of Keras is not supported", hint="pip install 'keras>=3.8'") from error
    adapter = type("DatasetAdapter", (DatasetAdapter, base), {"__module__": __name__})

    @functools.wraps(original)
    def get_data_adapter(x: Any, y: Any = None, sample_weight: Any = None, **options: Any) -> Any:
        # If the module of datasets has not been imported, x cannot be a dataset.
        data = sys.modules.get(_DATA_MODULE)
        if data is None or not isinstance(x, data.Dataset):
            return original(x, y, sample_weight, **options)
        for name, value in (("y", y), ("sample_weight", sample_weight), ("batch_size", options.get("batch_size"))):
            if value is not None:
                raise ValueError(f"{name} must not be given if x is a dataset, because the dataset determines {name}")
        return adapter(x, options.get("steps_per_epoch"), options.get("class_weight"))

    adapters.get_data_adapter = get_data_adapter


def wrap_model_methods(keras: Any) -> None:
    """Make Keras models accept tensors and checkpoints of this package."""
    model = keras.Model
    for name in ("train_on_batch", "test_on_batch", "predict_on_batch"):
        setattr(model, name, _convert_tensor_arguments(getattr(model, name)))
    model.load_weights = _build_optimizer_first(model.load_weights)
    model.get_metrics_result = _return_metric_values(model.get_metrics_result, keras)


def _convert_tensor_arguments(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def call_with_arrays(self: Any, *args: Any, **kwargs: Any) -> Any:
        arguments = {name: to_arrays(value) for name, value in kwargs.items()}
        return method(self, *map(to_arrays, args), **arguments)

    return call_with_arrays


def to_arrays(value: Any) -> Any:
    """Convert the tensors in nested lists, tuples and dicts to NumPy arrays."""
    if isinstance(value, Tensor):
        return value.values
    if type(value) in (tuple, list):
        return type(value)(map(to_arrays, value))
    return {key: to_arrays(one) for key, one in value.items()} if type(value) is dict else value


def _build_optimizer_first(method: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap ``load_weights`` to build the optimizer first, because Keras does not restore unbuilt optimizers."""

    @functools.wraps(method)
    def load_weights(self: Any, filepath: Any, *args: Any, **kwargs: Any) -> Any:
        optimizer = getattr(self, "optimizer", None)
        if isinstance(filepath, Checkpoint) and self.built and optimizer is not None and not optimizer.built:
            optimizer.build(self.trainable_variables)
        return method(self, filepath, *args, **kwargs)

    return load_weights


def _return_metric_values(method: Callable[..., Any], keras: Any) -> Callable[..., Any]:
    """Wrap ``get_metrics_result`` to return the values of metrics instead of Keras variables."""

    @functools.wraps(method)
    def get_metrics_result(self: Any) -> Any:
        return keras.tree.map_structure(lambda one: one.value if isinstance(one, keras.Variable) else one, method(self))

    return get_metrics_result
