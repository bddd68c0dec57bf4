"""What decides the random choices of a batch: MXNet's own generators, or ours."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.compat.mxnet.io.numbers import Numbers, numbers_of, twister
from recordmill.compat.mxnet.io.order import Visit
from recordmill.dataclass import dataclass

Ints = NDArray[np.int64]
# The generator of an image is seeded with so much more than `seed_aug` and its place.
_SEED_OFFSET = 111


@dataclass(frozen=True, eq=False, slots=True)
class Lots:
    """The random numbers of some images."""

    draws: rm.Draws
    positions: Ints
    seeds: Ints | None

    def __getitem__(self, rows: Ints) -> Lots:
        """Return those of some images."""
        return Lots(self.draws, self.positions[rows], None if self.seeds is None else self.seeds[rows])

    def numbers(self) -> list[Numbers]:
        """Numbers of each image, in the order in which they are asked for."""
        if self.seeds is None:
            return numbers_of(self.draws, self.positions)
        return [twister(seed) for seed in self.seeds.tolist()]


def lots_of(visit: Visit, seed: int, seed_aug: int | None = None) -> Lots:
    """Seed the images of a batch: with `seed_aug` as MXNet does, else from seed, epoch and position."""
    seeds = None if seed_aug is None else visit.places + (seed_aug + _SEED_OFFSET)
    return Lots(rm.Draws(seed % 2**64, visit.epoch), visit.positions, seeds)
