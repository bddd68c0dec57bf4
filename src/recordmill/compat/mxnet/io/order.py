"""Compute the order in which ImageRecordIter reads records: split files into chunks, shuffle, and form batches."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.compat.mxnet.io.random import (
    LibstdcxxGenerator,
    create_image_generators,
    create_mersenne_twister,
    create_seeded_generator,
    shuffle_long_list,
)

Ints = NDArray[np.int64]
# Range (start, stop) of bytes or records; `stop` is excluded.
Span = tuple[int, int]
# MXNet reads this many bytes and finds the last complete record header in them. The chunk ends before this header.
CHUNK_BYTES = 1 << 23
_FRAME_HEADER_BYTES = 8
# With this factor, MXNet creates 10 % more byte ranges than the size of a part divided by `shuffle_chunk_size`.
_EXTRA_RANGES = 1.1
# MXNet adds _SEED_OFFSET to the seeds of `shuffle` and `seed_aug`, and _RANGE_SEED_OFFSET to `shuffle_chunk_seed`.
_SEED_OFFSET = 111
_RANGE_SEED_OFFSET = 666


@dataclass(frozen=True, eq=False, slots=True)
class EpochOrder:
    """Order of the records in one epoch.

    `slots` has the record positions in MXNet's read buffer; MXNet seeds augmentations with `seed_aug` plus the slot.
    """

    rows: Ints
    slots: Ints


@dataclass(frozen=True, eq=False, slots=True)
class BatchRows:
    """Records of one batch: their rows in `RecordTable`, slots in MXNet's read buffer, and positions in the epoch.

    `EpochOrder` explains the slots. `pad` is the number of padding rows at the end of the batch.
    """

    rows: Ints
    slots: Ints
    positions: Ints
    epoch: int
    pad: int = 0

    def __getitem__(self, selected: Ints) -> BatchRows:
        return BatchRows(self.rows[selected], self.slots[selected], self.positions[selected], self.epoch)

    def create_draws(self, seed: int) -> rm.Draws:
        """Return the random number generator of this epoch."""
        return rm.Draws(seed % 2**64, self.epoch)

    def create_generators(self, seed: int, seed_aug: int | None) -> list[LibstdcxxGenerator]:
        """Return one random number generator per record.

        If `seed_aug` is set, the seed is `seed_aug` plus the slot, as in MXNet. Otherwise, the random numbers depend on
        `seed`, the epoch and the position.
        """
        if seed_aug is None:
            return create_image_generators(self.create_draws(seed), self.positions)
        return [create_seeded_generator(seed_aug + _SEED_OFFSET + slot) for slot in self.slots.tolist()]


def split_part_into_ranges(values: Mapping[str, Any], size: int) -> list[Span]:
    """Return the byte ranges of part `part_index`. Without `shuffle_chunk_size`, the part is one range.

    `size` is the total number of bytes of all files.
    """
    num_parts, part, chunk = values["num_parts"], values["part_index"], values["shuffle_chunk_size"]
    count = max(math.ceil(size * _EXTRA_RANGES / (num_parts * (chunk << 20))), 1) if chunk > 0 else 1
    step = (-(-size // (num_parts * count)) + 3) // 4 * 4
    return [(k * step, (k + 1) * step) for k in range(part * count, (part + 1) * count)]


def split_span_into_chunks(starts: Ints, span: Span, size: int) -> list[Span]:
    """Split a span of records into the chunks that MXNet reads at once.

    A chunk has at most `CHUNK_BYTES`. If its first record does not fit, this limit is doubled until the record fits.
    """
    first, last = span
    end = int(starts[last]) if last < len(starts) else size
    chunks = []
    while first < last:
        stop, room = last, CHUNK_BYTES
        while end - starts[first] >= room:
            stop = int(np.searchsorted(starts, starts[first] + room - _FRAME_HEADER_BYTES, "right")) - 1
            if stop > first:
                break
            stop, room = last, 2 * room
        chunks.append((first, min(stop, last)))
        first = min(stop, last)
    return chunks


class EpochOrderSampler:
    """Draws the record order of each epoch. The random generators are not reset between epochs.

    With an index file, all records of the part are shuffled together; otherwise records move only within their chunk.
    """

    def __init__(self, ranges: Sequence[Sequence[Span]], values: Mapping[str, Any]) -> None:
        self._ranges, self._is_indexed = ranges, bool(values.get("path_imgidx"))
        self._batch_size: int = values["batch_size"]
        self._fills_last: bool = values["round_batch"]
        self._words = create_mersenne_twister(_SEED_OFFSET + values["seed"]) if values["shuffle"] else None
        seed = values["part_index"] + values["num_parts"] + len(ranges) + values["shuffle_chunk_seed"]
        self._range_words = create_mersenne_twister(_RANGE_SEED_OFFSET + seed) if len(ranges) > 1 else None
        self._range_order = list(range(len(ranges)))

    def draw_next_order(self) -> EpochOrder:
        """Return the order of the next epoch."""
        if self._range_words is not None:
            shuffle_long_list(self._range_order, self._range_words)
        rows: list[Ints] = []
        slots: list[Ints] = []
        visited = 0
        for first, last in (chunk for number in self._range_order for chunk in self._ranges[number]):
            order = list(range(last - first))
            if self._words is not None:
                shuffle_long_list(order, self._words)
            chosen = np.array(order, np.int64)
            rows.append(first + chosen)
            slots.append(self._compute_buffer_slots(chosen, visited))
            visited += last - first
        return EpochOrder(np.concatenate(rows), np.concatenate(slots))

    def _compute_buffer_slots(self, chosen: Ints, visited: int) -> Ints:
        if self._is_indexed:
            return (visited + np.arange(len(chosen))) % self._batch_size
        # In MXNet's read buffer, a shuffled chunk starts at slot `batch_size`.
        # An unshuffled chunk starts after the rows of the current batch.
        return chosen + (visited % self._batch_size if self._words is None else self._batch_size)

    def split_into_batches(
        self, epoch: int, order: EpochOrder, following: EpochOrder, skip: int
    ) -> Iterator[BatchRows]:
        """Yield the records of each batch after the first `skip` batches.

        With ``round_batch``, the last batch is filled with the first records of `following`, the next epoch's order.
        """
        size = self._batch_size
        for start in range(skip * size, len(order.rows), size):
            rows, slots = order.rows[start : start + size], order.slots[start : start + size]
            count = len(rows)
            pad = size - count
            if self._fills_last and pad:
                shift = count if self._words is None or self._is_indexed else 0
                rows = np.concatenate([rows, following.rows[:pad]])
                slots = np.concatenate([slots, following.slots[:pad] + shift])
            yield BatchRows(rows, slots, np.arange(start, start + len(rows)), epoch, pad)


def iter_batches_in_file_order(
    ranges: Sequence[Sequence[Span]], batch_size: int, *, is_indexed: bool
) -> Iterator[BatchRows]:
    """Yield batches of all records in file order; MXNet uses this order for the mean image."""
    for first, last in (chunk for chunks in ranges for chunk in chunks):
        for start in range(first, last, batch_size):
            rows = np.arange(start, min(start + batch_size, last))
            yield BatchRows(rows, rows - (start if is_indexed else first) + batch_size, rows, 0)
