"""What data sets of TensorFlow 1 could be asked for."""

from __future__ import annotations

from typing import Any

from recordmill.compat.tensorflow.data.refused import Refused


class OlderWays(Refused):
    """Iterators for sessions, and the specs of elements in parts."""

    @property
    def output_types(self) -> Any:
        """Dtypes of the elements."""
        from recordmill.compat.tensorflow.graphs.structures import types_of

        return types_of(self)

    @property
    def output_shapes(self) -> Any:
        """Shapes of the elements."""
        from recordmill.compat.tensorflow.graphs.structures import shapes_of

        return shapes_of(self)

    @property
    def output_classes(self) -> Any:
        """Classes of the elements."""
        from recordmill.compat.tensorflow.graphs.structures import classes_of

        return classes_of(self)

    def make_one_shot_iterator(self) -> Any:
        """Iterate once: over values of a graph, which sessions fetch."""
        from recordmill.compat.tensorflow.graphs.iterators import one_shot

        return one_shot(self)

    def make_initializable_iterator(self, shared_name: Any = None) -> Any:
        """Iterate over values of a graph, anew after each run of the initializer."""
        del shared_name
        from recordmill.compat.tensorflow.graphs.iterators import initializable

        return initializable(self)
