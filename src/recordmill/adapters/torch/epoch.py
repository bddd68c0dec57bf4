"""An epoch that the worker processes of a DataLoader see change."""

from __future__ import annotations

from typing import Any

from recordmill.adapters.checks import epoch_of
from recordmill.adapters.frameworks import extra


class SharedEpoch:
    """A number in shared memory; forked and spawned workers of a DataLoader read what the parent last set.

    Parameters
    ----------
    epoch : int
    """

    def __init__(self, epoch: int = 0) -> None:
        with extra("torch"):
            import torch
        self._value: Any = torch.tensor([epoch, 0]).share_memory_()

    def get(self) -> int:
        """Return the epoch."""
        return int(self._value[0])

    def set(self, epoch: int) -> None:
        """Change the epoch, for all processes that share it.

        Parameters
        ----------
        epoch : int
            From 0.
        """
        self._value[0], self._value[1] = epoch_of(epoch), 0

    def end(self) -> None:
        """Note that an iteration came to its end."""
        self._value[1] += 1

    @property
    def ended_once(self) -> bool:
        """Whether one iteration, and no more, came to its end since the epoch was set."""
        return int(self._value[1]) == 1
