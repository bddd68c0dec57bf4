"""The decode stage, which decodes the features of a whole batch to arrays in one native call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from recordmill.decode.batch import decode_batch
from recordmill.decode.specs.image import Image
from recordmill.errors import DecodeError
from recordmill.pipeline.checks import check_seed, set_fields
from recordmill.pipeline.samples import SampleRows, concatenate_rows

if TYPE_CHECKING:
    from recordmill.decode.batch import Spec
    from recordmill.pipeline.samples import Ints
    from recordmill.pipeline.stages.base import StageInput

# Added to the seed once per earlier decode stage, so that the stages have different random parameters.
_SEED_STEP = 0x9E3779B97F4A7C15


@dataclass(frozen=True, slots=True)
class Decode:
    """Decodes features to arrays as `decode_batch` does.

    Parameters
    ----------
    specs : tuple of (str, spec)
        Name and spec of each output.
    seed : int, optional
        Seed of the random parameters; by default the seed of the last shuffle before this stage, or 0.
    options : tuple of (str, object)
        Further arguments of `decode_batch`.
    """

    specs: tuple[tuple[str, Spec], ...]
    seed: int | None = None
    options: tuple[tuple[str, Any], ...] = ()

    def __post_init__(self) -> None:
        """Raise ValueError if the seed is invalid."""
        if self.seed is not None:
            set_fields(self, seed=check_seed(self.seed))

    @property
    def name(self) -> str:
        """Name of this stage in the statistics."""
        return "decode"

    def apply(self, stage_input: StageInput) -> SampleRows:
        """Return the samples with decoded features."""
        if isinstance(epoch := stage_input.positions.epochs, int):
            return self._decode_rows(stage_input, epoch, None)
        groups = stage_input.positions.by_epoch()
        parts = [self._decode_rows(stage_input, epoch, rows if len(groups) > 1 else None) for epoch, rows in groups]
        return concatenate_rows(parts) if parts else stage_input.rows

    def _decode_rows(self, stage_input: StageInput, epoch: int, chosen: Ints | None) -> SampleRows:
        """Decode the rows in `chosen`, or all rows if `chosen` is None. All of these rows belong to `epoch`."""
        rows, positions, context = stage_input.rows, stage_input.positions.array, stage_input.context
        if chosen is not None:
            rows, positions = rows.take(chosen), positions[chosen]
        errors: list[DecodeError] = []
        try:
            columns = decode_batch(
                rows.columns,
                dict(self.specs),
                rng=(stage_input.seed + stage_input.ordinal * _SEED_STEP) & (1 << 64) - 1,
                epoch=epoch,
                positions=positions,
                threads=context.threads,
                on_error=errors.append,
                entry_points=self._load_entry_points(stage_input) if chosen is None else None,
                empty=np.empty if context.memory is None else context.memory.empty,
                **dict(self.options),
            )
        except MemoryError as memory_error:
            raise _locate_memory_error(memory_error, stage_input, chosen) from memory_error.__cause__
        if not errors:
            return SampleRows(columns, rows.ordinals, rows.origins)
        failed = [int(error.position or 0) for error in errors]
        for index, error in zip(failed, errors, strict=True):
            row = index if chosen is None else int(chosen[index])
            # The error names the row in the batch. Replace it with the shard, record and offset of the row.
            fields = error.parts() | {"position": None} | stage_input.locate(row)
            context.raise_or_skip(*stage_input.requested.epoch_and_position(row), DecodeError(error.message, **fields))
        kept = np.delete(np.arange(len(rows)), failed)
        return SampleRows(columns, rows.ordinals[kept], rows.origins[kept])

    def _load_entry_points(self, stage_input: StageInput) -> dict[str, Any] | None:
        """Load the stored entry points of the JPEG features that are cropped but not resized first.

        An entry point is a place in a JPEG file at which decoding can start. The decoder uses entry points to skip the
        rows above a crop.
        """
        found = {}
        for name, spec in self.specs:
            if isinstance(spec, Image) and spec.crop is not None and spec.resize is None:
                feature = spec.feature or name
                tables = stage_input.entry_points(feature)
                if tables is not None:
                    found[feature] = tables
        return found or None

    def __repr__(self) -> str:
        """Return the method call that adds this stage to a dataset, as text."""
        arguments = [f"{name}={spec!r}" for name, spec in self.specs]
        arguments += [] if self.seed is None else [f"seed={self.seed}"]
        return f"decode({', '.join(arguments + [f'{name}={value!r}' for name, value in self.options])})"


def _locate_memory_error(error: MemoryError, stage_input: StageInput, chosen: Ints | None) -> MemoryError:
    """Return a MemoryError that names the record, because `decode_batch` only names the row in the batch."""
    index, feature = getattr(error, "sample", (None, None))
    location = {} if index is None else stage_input.locate(index if chosen is None else int(chosen[index]))
    if not location:
        return error
    record, shard = location["record"], location["shard"]
    return MemoryError(f"{error.__cause__}: record {record} of {shard}, feature '{feature}'")
