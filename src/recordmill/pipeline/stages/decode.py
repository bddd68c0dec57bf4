"""The stage that turns features into arrays, whole batches at a time, natively."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recordmill.decode.batch import decode_batch
from recordmill.decode.specs.image import Image
from recordmill.errors import DecodeError
from recordmill.pipeline.checks import seed_of, settle
from recordmill.pipeline.rows import Rows, joined_rows

if TYPE_CHECKING:
    from recordmill.decode.batch import Spec
    from recordmill.pipeline.positions import Ints
    from recordmill.pipeline.stages.base import Work

# Keeps the draws of a second decode stage apart from those of the first.
_STEP = 0x9E3779B97F4A7C15


@dataclass(frozen=True, slots=True)
class Decode:
    """Features to arrays.

    Parameters
    ----------
    specs : tuple of (str, spec)
        By the name of the output.
    seed : int, optional
        Of the random parts; that of the shuffle before, or 0.
    options : tuple of (str, object)
        Of `decode_batch`.
    """

    specs: tuple[tuple[str, Spec], ...]
    seed: int | None = None
    options: tuple[tuple[str, Any], ...] = ()

    def __post_init__(self) -> None:
        """Refuse a seed that is none."""
        if self.seed is not None:
            settle(self, seed=seed_of(self.seed))

    @property
    def name(self) -> str:
        """What its time is counted under."""
        return "decode"

    def apply(self, work: Work) -> Rows:
        """Samples with their features decoded."""
        groups = work.places.by_epoch()
        parts = [self._decoded(work, epoch, rows, whole=len(groups) == 1) for epoch, rows in groups]
        return joined_rows(parts) if parts else work.rows

    def _tables(self, work: Work) -> dict[str, Any] | None:
        """Entry points of images that are cut before they are resized, where some are kept."""
        found = {}
        for name, spec in self.specs:
            if isinstance(spec, Image) and spec.crop is not None and spec.resize is None:
                feature = spec.feature or name
                tables = work.tables(feature)
                if tables is not None:
                    found[feature] = tables
        return found or None

    @staticmethod
    def draws_seed(seed: int, number: int = 0) -> int:
        """Seed of the draws of one of several decode stages."""
        return (seed + number * _STEP) & (1 << 64) - 1

    def _decoded(self, work: Work, epoch: int, chosen: Ints, *, whole: bool) -> Rows:
        rows = work.rows if whole else work.rows.take(chosen)
        positions = work.places.array[chosen]
        faults: list[DecodeError] = []
        seed = self.draws_seed(work.seed, work.number_of(Decode))
        columns = decode_batch(
            rows.columns,
            dict(self.specs),
            rng=seed,
            epoch=epoch,
            positions=positions,
            threads=work.context.threads,
            on_error=faults.append,
            entry_points=self._tables(work) if whole else None,
            empty=np.empty if work.context.memory is None else work.context.memory.empty,
            **dict(self.options),
        )
        if not faults:
            return Rows(columns, rows.ordinals, rows.origins)
        lost = [int(fault.position or 0) for fault in faults]
        for row, fault in zip(lost, faults, strict=True):
            work.context.fail(*work.asked.at(int(chosen[row])), _placed(fault, work.where(int(chosen[row]))))
        kept = np.delete(np.arange(len(rows)), lost)
        return Rows(columns, rows.ordinals[kept], rows.origins[kept])

    def __repr__(self) -> str:
        """Readable form."""
        told = [f"{name}={spec!r}" for name, spec in self.specs]
        told += [] if self.seed is None else [f"seed={self.seed}"]
        return f"decode({', '.join(told + [f'{name}={value!r}' for name, value in self.options])})"


def _placed(fault: DecodeError, where: dict[str, Any]) -> DecodeError:
    """The same error with the record instead of the place in the batch."""
    parts = fault.parts() | {"position": None} | where
    return DecodeError(fault.message, **parts)
