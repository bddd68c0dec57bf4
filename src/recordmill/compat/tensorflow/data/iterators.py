"""Iterators that callers hold."""

from __future__ import annotations

from collections.abc import Iterator as AnyIterator
from typing import Any, Self

from recordmill.compat.tensorflow.core.errors import OutOfRangeError
from recordmill.compat.tensorflow.data.ahead import close
from recordmill.compat.tensorflow.data.elements import Failed, Node, Step, Way
from recordmill.compat.tensorflow.data.structures import to_numpy


class Iterator:
    """Elements of a data set, one after the other.

    An element that fails raises; the next call gives the element behind it, as in TensorFlow. What runs ahead ends when
    the iterator ends, is closed or is not held any more.
    """

    def __init__(self, node: Node) -> None:
        self._node = node
        self._steps: AnyIterator[Step] | None = None
        self._done = False

    @property
    def element_spec(self) -> Any:
        """Specs of the elements."""
        return self._node.spec()

    @staticmethod
    def from_structure(output_types: Any, output_shapes: Any = None, *unused: Any, **others: Any) -> Any:
        """Iterator of a graph that is given its data set later; see `GraphIterator`."""
        from recordmill.compat.tensorflow.graphs.iterators import from_structure

        return from_structure(output_types, output_shapes, *unused, **others)

    @staticmethod
    def from_string_handle(
        string_handle: Any, output_types: Any, output_shapes: Any = None, output_classes: Any = None
    ) -> Any:
        """Iterator of a graph that a value names; see `GraphIterator`."""
        from recordmill.compat.tensorflow.graphs.iterators import from_string_handle

        return from_string_handle(string_handle, output_types, output_shapes, output_classes)

    def __iter__(self) -> Self:
        """Return the iterator itself."""
        return self

    def __next__(self) -> Any:
        """Next element."""
        if self._done:
            raise StopIteration
        if self._steps is None:
            self._steps = self._node.iterate(Way())
        try:
            step = next(self._steps, None)
        except BaseException:
            self.close()
            raise
        if step is None:
            self.close()
            raise StopIteration
        if isinstance(step, Failed):
            try:
                raise step.error
            finally:
                del step, self  # else the error would hold itself, and the threads, until garbage is collected
        return self._given(step.value)

    def _given(self, value: Any) -> Any:
        return value

    def get_next(self) -> Any:
        """Next element."""
        try:
            return next(self)
        except StopIteration:
            raise OutOfRangeError("End of sequence") from None

    def get_next_as_optional(self) -> Any:
        """Next element, or that there is none."""
        from recordmill.compat.tensorflow.data.optional import Optional

        try:
            return Optional.from_value(next(self))
        except StopIteration:
            return Optional.empty(self.element_spec)

    def close(self) -> None:
        """End what runs ahead."""
        self._done = True
        if self._steps is not None:
            close(self._steps)
        self._steps = None


class NumpyIterator(Iterator):
    """Elements of a data set as NumPy's arrays."""

    def _given(self, value: Any) -> Any:
        return to_numpy(value)

    def next(self) -> Any:
        """Next element."""
        return next(self)
