"""Iterators over the elements of datasets."""

from __future__ import annotations

from collections.abc import Callable, Iterator as AnyIterator
from typing import Any, Self

from recordmill.compat.tensorflow.core.errors import OutOfRangeError
from recordmill.compat.tensorflow.data.elements import ExecutionOptions, FailedElement, Node, Step
from recordmill.compat.tensorflow.data.structures import to_numpy


class Iterator:
    """Iterator over the elements of a dataset; its threads stop when it is exhausted, closed or garbage-collected.

    A failed element raises its error, and the next call continues with the element after it, as in TensorFlow.
    """

    def __init__(self, node: Node, convert: Callable[[Any], Any] | None = None) -> None:
        self._node, self._convert = node, convert
        self._steps: AnyIterator[Step] | None = None
        self._is_done = False

    @property
    def element_spec(self) -> Any:
        """Spec of the elements."""
        return self._node.spec()

    @staticmethod
    def from_structure(output_types: Any, output_shapes: Any = None, *unused: Any, **others: Any) -> Any:
        """Create a TensorFlow 1 iterator without a dataset; `make_initializer` sets the dataset."""
        from recordmill.compat.tensorflow.graphs.iterators import from_structure

        return from_structure(output_types, output_shapes, *unused, **others)

    @staticmethod
    def from_string_handle(string_handle: Any, output_types: Any, output_shapes: Any = None, *unused: Any) -> Any:
        """Return the TensorFlow 1 iterator with a string handle. A symbolic handle is read in each session run."""
        from recordmill.compat.tensorflow.graphs.iterators import from_string_handle

        return from_string_handle(string_handle, output_types, output_shapes, *unused)

    def __iter__(self) -> Self:
        """Return the iterator itself."""
        return self

    def __next__(self) -> Any:
        """Return the next element."""
        if self._is_done:
            raise StopIteration
        if self._steps is None:
            self._steps = self._node.iterate(ExecutionOptions())
        try:
            step = next(self._steps, None)
        except BaseException:
            self.close()
            raise
        if step is None:
            self.close()
            raise StopIteration
        if isinstance(step, FailedElement):
            try:
                raise step.error
            finally:
                del step, self  # Otherwise, the traceback of the error keeps the iterator and its threads alive.
        return step.value if self._convert is None else self._convert(step.value)

    next = __next__

    def get_next(self, name: str | None = None) -> Any:  # noqa: ARG002
        """Return the next element; raise OutOfRangeError at the end."""
        try:
            return next(self)
        except StopIteration:
            raise OutOfRangeError("End of sequence") from None

    def close(self) -> None:
        """Stop the iteration and the threads that it started."""
        self._is_done = True
        close = getattr(self._steps, "close", None)
        self._steps = None
        if close is not None:
            close()


class NumpyIterator(Iterator):
    """Iterator over the elements as NumPy arrays."""

    def __init__(self, node: Node) -> None:
        super().__init__(node, to_numpy)
