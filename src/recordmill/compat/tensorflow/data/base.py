"""A data set as a value: what it is, before what can be done to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

from recordmill.compat.tensorflow.core import dtypes
from recordmill.compat.tensorflow.core.tensor import Tensor, as_tensor
from recordmill.compat.tensorflow.data.elements import INFINITE_CARDINALITY, UNKNOWN_CARDINALITY, Node, Step, Way
from recordmill.compat.tensorflow.data.iterators import Iterator, NumpyIterator
from recordmill.compat.tensorflow.data.legacy import LegacyDataset
from recordmill.compat.tensorflow.data.options import Options

# kind of the last step: how TensorFlow calls it, where it has another name there
_SPELLED = {
    "Lines": "TextLineDatasetV2",
    "Pieces": "FixedLengthRecordDatasetV2",
    "Records": "TFRecordDatasetV2",
    "Single": "_TensorDataset",
    "Slices": "_TensorSliceDataset",
}


class DatasetBase(LegacyDataset):
    """What every data set has, however it was made."""

    def __init__(self, node: Node, options: Options | None = None) -> None:
        self.node = node
        self._options = options or Options()

    def _then(self, node: Node) -> Any:
        from recordmill.compat.tensorflow.data.dataset import Dataset

        return Dataset(node, self._options)

    def __iter__(self) -> Iterator:
        """Iterate over the elements."""
        return Iterator(self.node)

    def as_numpy_iterator(self) -> NumpyIterator:
        """Iterate over the elements as NumPy's arrays."""
        return NumpyIterator(self.node)

    @property
    def element_spec(self) -> Any:
        """Specs of the elements; behind functions that cannot be recorded, what the first elements show."""
        return self.node.spec()

    def cardinality(self) -> Tensor:
        """Number of elements."""
        return as_tensor(self.node.cardinality(), dtypes.int64)

    def __len__(self) -> int:
        """Return the number of elements."""
        length = self.node.cardinality()
        if length == INFINITE_CARDINALITY:
            raise TypeError("The dataset is infinite.")
        if length == UNKNOWN_CARDINALITY:
            raise TypeError("The dataset length is unknown.")
        return length

    def __bool__(self) -> bool:
        """Return True, also of data sets without elements, as TensorFlow does."""
        return True

    def options(self) -> Options:
        """Options in effect."""
        return self._options

    def with_options(self, options: Options, name: str | None = None) -> Any:  # noqa: ARG002
        """Data set with other options, none of which changes elements or their order."""
        from recordmill.compat.tensorflow.data.dataset import Dataset

        return Dataset(self.node, self._options.merge(options))

    def apply(self, transformation_func: Callable[[Self], Any]) -> Any:
        """What a function makes of the data set."""
        made = transformation_func(self)
        if not isinstance(made, DatasetBase):
            raise TypeError(f"`transformation_func` must return a `tf.data.Dataset` object. Got {type(made)}.")
        return made

    def explain(self) -> str:
        """Which map functions run for whole batches in native code, which as Python, and why."""
        from recordmill.compat.tensorflow.data.explaining import explain

        return explain(self.node)

    def __repr__(self) -> str:
        """TensorFlow's spelling; without the specs of elements that cannot be had."""
        kind = type(self.node).__name__
        name = _SPELLED.get(kind, f"_{kind}Dataset")
        try:
            return f"<{name} element_spec={self.element_spec!r}>"
        except Exception:  # noqa: BLE001 (whoever asks for elements is told)
            return f"<{name}>"


def steps(dataset: DatasetBase, *, whole_batches: bool = True) -> list[Step]:
    """All steps of a finite data set."""
    return list(dataset.node.iterate(Way(whole_batches)))
