"""Payloads that a caller holds, as columns of features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from recordmill import _core
from recordmill.formats.registry import PAYLOADS
from recordmill.schema import Feature, Schema
from recordmill.shards.translate import to_error
from recordmill.types import Ragged


def parse_payloads(
    payloads: Ragged | Sequence[bytes], schema: Schema | Mapping[str, Feature], *, payload: str
) -> dict[str, Any]:
    """Features of payloads in memory, as `Dataset` batches have them.

    Parameters
    ----------
    payloads : Ragged of uint8, or sequence of bytes
    schema : Schema or mapping of str to Feature
        Features that are wanted; others are passed over.
    payload : {"example", "sequence_example", "ofrecord", "irheader", "raw"}
        What the payloads are.

    Returns
    -------
    dict of str to ndarray or Ragged
        Dense features ``(num_records, *shape)``. Byte strings are rows of a Ragged of uint8.

    Raises
    ------
    FeatureError
        A feature that a payload lacks, or holds in another kind or number; `record` is its place in `payloads`.
    PayloadError
        Bytes that are no such message; `record` is their place in `payloads`.
    ValueError
        No such kind of payload.
    """
    if payload not in PAYLOADS:
        raise ValueError(f"payload is one of {', '.join(PAYLOADS)}, not {payload!r}")
    rows = payloads if isinstance(payloads, Ragged) else Ragged.from_rows(list(payloads))
    try:
        return PAYLOADS[payload].parse(rows, Schema(schema))
    except _core.CoreFault as fault:
        error = to_error(fault.args, "")
        error.shard = None
        raise error from None
