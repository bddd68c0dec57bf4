"""Base class of all datasets: iteration, element specs, cardinality and options."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

from recordmill.compat.tensorflow.core import dtypes
from recordmill.compat.tensorflow.core.tensor import Tensor, as_tensor
from recordmill.compat.tensorflow.data.elements import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, Node
from recordmill.compat.tensorflow.data.explain import explain
from recordmill.compat.tensorflow.data.iterators import Iterator, NumpyIterator
from recordmill.compat.tensorflow.data.legacy import LegacyDataset
from recordmill.compat.tensorflow.data.options import Options

# Maps node classes to the names of datasets in TensorFlow's `repr`. Other node classes are shown as "_<class>Dataset".
_CLASS_NAMES = {
    "ChooseInput": "_ChooseDataset",
    "PlaceholderSource": "_FedNodeDataset",
    "RecordPayloads": "TFRecordDatasetV2",
    "SingleElement": "_TensorDataset",
    "TensorSlices": "_TensorSliceDataset",
    "TextLines": "TextLineDatasetV2",
    "ValueList": "_ValuesDataset",
}


class DatasetBase(LegacyDataset):
    """Base class of `Dataset`, with a pipeline node and options; subclasses add the transformations."""

    def __init__(self, node: Node, options: Options | None = None) -> None:
        self.node = node
        self._options = options or Options()

    def _with_node(self, node: Node) -> Any:
        """Return a dataset for another node, with the options of this dataset."""
        raise NotImplementedError

    def __iter__(self) -> Iterator:
        return Iterator(self.node)

    def as_numpy_iterator(self) -> NumpyIterator:
        """Iterate over the elements as NumPy arrays."""
        return NumpyIterator(self.node)

    @property
    def element_spec(self) -> Any:
        """Specs of the elements; they are inferred from the first elements if a function cannot be traced."""
        return self.node.spec()

    def cardinality(self) -> Tensor:
        """Return the number of elements, INFINITE_CARDINALITY or UNKNOWN_CARDINALITY."""
        return as_tensor(self.node.cardinality(), dtypes.int64)

    def __len__(self) -> int:
        length = self.node.cardinality()
        if length == INFINITE_CARDINALITY:
            raise TypeError("The dataset is infinite.")
        if length == UNKNOWN_CARDINALITY:
            raise TypeError("The dataset length is unknown.")
        return length

    def __bool__(self) -> bool:
        """Return True even if the dataset is empty, as TensorFlow does."""
        return True

    def options(self) -> Options:
        """Return the options in effect."""
        return self._options

    def apply(self, transformation_func: Callable[[Self], Any]) -> Any:
        """Return ``transformation_func(dataset)``, which must be a dataset."""
        result = transformation_func(self)
        if not isinstance(result, DatasetBase):
            raise TypeError(f"`transformation_func` must return a `tf.data.Dataset` object. Got {type(result)}.")
        return result

    def explain(self) -> str:
        """Describe which functions run natively on whole batches, which run element by element, and why."""
        return explain(self.node)

    def __repr__(self) -> str:
        kind = type(self.node).__name__
        name = _CLASS_NAMES.get(kind, f"_{kind}Dataset")
        try:
            return f"<{name} element_spec={self.element_spec!r}>"
        except Exception:  # noqa: BLE001 (iterating raises the same error)
            return f"<{name}>"
