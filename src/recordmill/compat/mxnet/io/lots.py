"""What decides the random choices of a batch: MXNet's own generators, or ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.compat.mxnet.io.order import Visit
from recordmill.dataclass import dataclass

Ints = NDArray[np.int64]
# The generator of an image is seeded with so much more than `seed_aug` and its place.
_SEED_OFFSET = 111


@dataclass(frozen=True, eq=False, slots=True)
class Lots:
    """The random numbers of some images.

    Parameters
    ----------
    draws : Draws
    positions : ndarray of int64, shape (n,)
        In the epoch: what the draws depend on.
    seeds : ndarray of int64, shape (n,)
        Of the generator of each, where images are made as MXNet makes them.
    """

    draws: rm.Draws
    positions: Ints
    seeds: Ints

    def __getitem__(self, rows: Ints) -> Lots:
        """Return those of some images."""
        return Lots(self.draws, self.positions[rows], self.seeds[rows])


def lots_of(visit: Visit, values: Mapping[str, Any]) -> Lots:
    """Seed the images of a batch: with `seed_aug` as MXNet does, else from seed, epoch and position.

    Parameters
    ----------
    visit : Visit
    values : mapping of str to object
        The parameters of the iterator.

    Returns
    -------
    Lots
    """
    draws = rm.Draws(values["seed"] % 2**64, visit.epoch)
    if values["seed_aug"] is not None:
        return Lots(draws, visit.positions, visit.places + (values["seed_aug"] + _SEED_OFFSET))
    words = draws.words(visit.positions, rm.Stage.FREE + 1)[:, 0]
    return Lots(draws, visit.positions, (words >> np.uint64(32)).astype(np.int64))
