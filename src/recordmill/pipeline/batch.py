"""The stage that puts examples together into batches of arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from recordmill.types import Ragged

Last = Literal["keep", "drop"]
RaggedAs = Literal["ragged", "pad", "list"]


@dataclass(frozen=True, slots=True)
class Batch:
    """Examples ``i * num_records`` … ``(i + 1) * num_records - 1`` as one batch.

    Parameters
    ----------
    num_records : int
        Examples per batch.
    last : {"keep", "drop"}
        What becomes of a last batch that is not full.
    ragged : {"ragged", "pad", "list"}
        What becomes of features with different numbers of values: a `Ragged`, an array padded with zeros to the
        longest row, or a list of arrays. Byte strings are lists of `bytes` with "list" and a `Ragged` otherwise.
    """

    num_records: int
    last: Last = "keep"
    ragged: RaggedAs = "ragged"

    def __post_init__(self) -> None:
        """Refuse what makes no batch."""
        if self.num_records < 1:
            raise ValueError(f"a batch holds at least one example, not {self.num_records}")
        if self.last not in ("keep", "drop"):
            raise ValueError(f'last is "keep" or "drop", not {self.last!r}')
        if self.ragged not in ("ragged", "pad", "list"):
            raise ValueError(f'ragged is "ragged", "pad" or "list", not {self.ragged!r}')

    def count(self, num_examples: int) -> int:
        """Batches that so many examples make.

        Parameters
        ----------
        num_examples : int

        Returns
        -------
        int
        """
        full, rest = divmod(num_examples, self.num_records)
        return full + (rest > 0 and self.last == "keep")

    def collate(self, columns: dict[str, Any]) -> dict[str, Any]:
        """Bring ragged columns into the form that was asked for.

        Parameters
        ----------
        columns : dict of str to ndarray or Ragged

        Returns
        -------
        dict of str to ndarray, Ragged or list
        """
        return {name: self._form(column) for name, column in columns.items()}

    def _form(self, column: Any) -> Any:
        if not isinstance(column, Ragged) or self.ragged == "ragged":
            return column
        if self.ragged == "list":
            return list(column)
        return column if _holds_bytes(column) else _padded(column)


def _holds_bytes(column: Ragged) -> bool:
    inner: Any = column
    while isinstance(inner, Ragged):
        inner = inner.data
    return bool(inner.dtype == np.uint8)


def _padded(column: Ragged) -> Any:
    if not isinstance(column.data, Ragged):
        return column.to_padded()
    inner = column.data.to_padded()
    return Ragged(inner, column.row_splits).to_padded()
