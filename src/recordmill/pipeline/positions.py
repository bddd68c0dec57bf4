"""Places in an epoch, many at once: what order stages map and random draws depend on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False, slots=True)
class Places:
    """Positions in epochs.

    Parameters
    ----------
    epochs : int, or ndarray of int64, shape (n,)
        One number where all are of one epoch.
    positions : range, or ndarray of int64, shape (n,)
        From 0; a range where they follow one another, which sources read faster.
    """

    epochs: int | Ints
    positions: range | Ints

    def __len__(self) -> int:
        """Return the number of places."""
        return len(self.positions)

    @property
    def array(self) -> Ints:
        """Positions as an array."""
        found = self.positions
        if isinstance(found, range):
            return np.arange(found.start, found.stop, found.step, dtype=np.int64)
        return found

    def take(self, rows: Ints) -> Places:
        """Some of the places."""
        if len(rows) == len(self):
            return self
        epochs = self.epochs if isinstance(self.epochs, int) else self.epochs[rows]
        return Places(epochs, self.array[rows])

    def at(self, row: int) -> tuple[int, int]:
        """Epoch and position of one of the places."""
        epoch = self.epochs if isinstance(self.epochs, int) else int(self.epochs[row])
        return epoch, int(self.positions[row])

    def by_epoch(self) -> list[tuple[int, Ints]]:
        """Rows of each epoch."""
        if isinstance(self.epochs, int):
            return [(self.epochs, np.arange(len(self), dtype=np.int64))]
        return [(int(epoch), np.flatnonzero(self.epochs == epoch)) for epoch in np.unique(self.epochs)]


def joined(parts: list[Places]) -> Places:
    """Places of several objects, one behind the other."""
    if len(parts) == 1:
        return parts[0]
    positions: Any = [part.array for part in parts]
    known = {part.epochs for part in parts if isinstance(part.epochs, int)}
    if len(known) == 1 and all(isinstance(part.epochs, int) for part in parts):
        return Places(known.pop(), np.concatenate(positions))
    epochs = [np.broadcast_to(np.asarray(part.epochs, np.int64), len(part)) for part in parts]
    return Places(np.concatenate(epochs), np.concatenate(positions))
