"""The stages `take`, `skip` and `repeat`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recordmill.pipeline.checks import check_integer, set_fields
from recordmill.pipeline.samples import Positions

# Maximum number of samples per epoch, because positions are 64-bit integers.
MAX_SAMPLES = 1 << 62


@dataclass(frozen=True, slots=True)
class Take:
    """Keeps the first samples.

    Parameters
    ----------
    count : int
        Number of samples; all are kept if there are fewer.
    """

    count: int

    def __post_init__(self) -> None:
        """Raise ValueError if the count is invalid."""
        set_fields(self, count=check_integer(self.count, "take() needs an integer of at least 0", 0))

    def length(self, upstream: int | None) -> int | None:
        """Return the number of samples after this stage; `upstream` is the number before this stage."""
        return self.count if upstream is None else min(self.count, upstream)

    def map_positions(self, positions: Positions, upstream: int | None) -> Positions:
        """Convert positions in the output of this stage to positions in its input."""
        del upstream
        return positions

    def __repr__(self) -> str:
        """Return the method call that adds this stage to a dataset, as text."""
        return f"take({self.count})"


@dataclass(frozen=True, slots=True)
class Skip:
    """Drops the first samples.

    Parameters
    ----------
    count : int
    """

    count: int

    def __post_init__(self) -> None:
        """Raise ValueError if the count is invalid."""
        set_fields(self, count=_check_count("skip", self.count, 0))

    def length(self, upstream: int | None) -> int | None:
        """Return the number of samples after this stage; `upstream` is the number before this stage."""
        return None if upstream is None else max(0, upstream - self.count)

    def map_positions(self, positions: Positions, upstream: int | None) -> Positions:
        """Convert positions in the output of this stage to positions in its input."""
        del upstream
        values = positions.values
        if isinstance(values, range):
            return Positions(positions.epochs, range(values.start + self.count, values.stop + self.count, values.step))
        return Positions(positions.epochs, values + self.count)

    def __repr__(self) -> str:
        """Return the method call that adds this stage to a dataset, as text."""
        return f"skip({self.count})"


@dataclass(frozen=True, slots=True)
class Repeat:
    """Repeats all samples. Each repetition is another epoch of the stages before `repeat`.

    Parameters
    ----------
    count : int, optional
        Number of repetitions; endless by default.
    """

    count: int | None = None

    def __post_init__(self) -> None:
        """Raise ValueError if the count is invalid."""
        if self.count is not None:
            set_fields(self, count=_check_count("repeat", self.count, 1))

    def length(self, upstream: int | None) -> int | None:
        """Return the number of samples after this stage; `upstream` is the number before this stage."""
        if upstream is None:
            raise ValueError("an endless pipeline cannot be repeated")
        if not upstream and self.count is None:
            raise ValueError("an empty pipeline cannot be repeated endlessly")
        return None if self.count is None else upstream * self.count

    def map_positions(self, positions: Positions, upstream: int | None) -> Positions:
        """Convert positions in the output of this stage to positions in its input."""
        length, count = max(upstream or 0, 1), self.count or 1
        values = positions.values
        if isinstance(values, range) and isinstance(positions.epochs, int) and len(values):
            repetition = values[0] // length
            if repetition == values[-1] // length:
                start = repetition * length
                inside = range(values.start - start, values.stop - start, values.step)
                return Positions(positions.epochs * count + repetition, inside)
        repetitions, remainders = np.divmod(positions.array, length)
        return Positions(np.asarray(positions.epochs, np.int64) * count + repetitions, remainders)

    def __repr__(self) -> str:
        """Return the method call that adds this stage to a dataset, as text."""
        return f"repeat({'' if self.count is None else self.count})"


def _check_count(name: str, count: int, minimum: int) -> int:
    return check_integer(count, f"{name}() needs an integer from {minimum} to 2**62", minimum, MAX_SAMPLES + 1)
