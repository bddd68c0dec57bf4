"""Payloads of many shards, fetched one shard after another and put into the order that was asked for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from recordmill import _core
from recordmill.shards.opening import OpenShard
from recordmill.shards.translate import translated
from recordmill.types import Ragged

Ints = NDArray[np.int64]


def gather(
    shards: Iterable[OpenShard], which: Ints, rows: Sequence[int] | Ints, frames: Sequence[Ints], *, verify: bool
) -> Ragged:
    """Payloads of records that lie in several shards.

    Parameters
    ----------
    shards : iterable of OpenShard
        Each is asked for when its turn comes, and only then needs an open file.
    which : ndarray of int64, shape (n,)
        Ordinal of the shard of each record.
    rows : sequence of int, length n
        Positions in their shards.
    frames : sequence of ndarray of int64
        Offsets and lengths.
    verify : bool

    Returns
    -------
    Ragged of uint8

    Raises
    ------
    DamageError
        With shard, record and offset.
    """
    parts: list[Ragged] = []
    order: list[Ints] = []
    for number, shard in enumerate(shards):
        chosen = np.flatnonzero(which == number)
        wanted = (values[chosen] for values in frames)
        with translated(shard.name, np.asarray(rows)[chosen]):
            fetched = _core.fetch(shard.source, shard.format.framing.kind, *wanted, verify=verify)
        parts.append(Ragged.from_blocks(*fetched))
        order.append(chosen)
    return parts[0] if len(parts) == 1 else _in_order(parts, order, len(which))


def _in_order(parts: Sequence[Ragged], order: Sequence[Ints], count: int) -> Ragged:
    rows: list[bytes] = [b""] * count
    for chosen, part in zip(order, parts, strict=True):
        for place, payload in zip(chosen, part, strict=True):
            rows[place] = payload
    return Ragged.from_rows(rows)
