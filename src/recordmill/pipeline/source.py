"""What a pipeline needs from where examples come from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from recordmill.schema import Schema
from recordmill.types import RecordRef


class ExampleSource(Protocol):
    """Examples by position.

    Calls from several threads at once are safe, a pickled copy gives the same examples, and the same position always
    gives the same example.
    """

    @property
    def schema(self) -> Schema:
        """Kinds and shapes of the features."""
        ...

    @property
    def is_schema_inferred(self) -> bool:
        """Whether the schema is only what a look at some examples told."""
        ...

    def __len__(self) -> int:
        """Return the number of examples."""
        ...

    def __getitems__(self, positions: Sequence[int]) -> list[dict[str, Any]]:
        """Examples at positions, negative ones counted from the end."""
        ...

    def columns(self, positions: NDArray[np.int64] | range, schema: Schema | None = None) -> dict[str, Any]:
        """Features of examples at positions from 0, as arrays."""
        ...

    def where(self, position: int) -> RecordRef:
        """Place of the example at a position."""
        ...

    def fingerprint(self) -> str:
        """Short text that differs between data sets, and is the same wherever the data set lies."""
        ...
