"""A step that checks how many elements there are."""

from __future__ import annotations

from collections.abc import Iterator

from recordmill.compat.tensorflow.core.errors import FailedPreconditionError
from recordmill.compat.tensorflow.data.elements import UNKNOWN_CARDINALITY, Element, Failed, Node, Step, Way


class AssertCardinality(Node):
    """Elements whose number is checked."""

    def __init__(self, node: Node, expected: int) -> None:
        super().__init__(node)
        self._expected = expected

    def iterate(self, way: Way) -> Iterator[Step]:
        """Give them, and an error where there are fewer or more."""
        found, refusal = 0, f"Input dataset was expected to contain {self._expected} elements but contained"
        for element in self.input.iterate(way):
            found += isinstance(element, Element)
            if found > self._expected >= 0:
                yield Failed(FailedPreconditionError(f"{refusal} at least {found} elements."))
                return
            yield element
        if self._expected not in {found, UNKNOWN_CARDINALITY}:
            yield Failed(FailedPreconditionError(f"{refusal} only {found} elements."))

    def cardinality(self) -> int:
        """What is asserted."""
        return self._expected
