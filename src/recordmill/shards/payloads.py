"""Payloads that a caller holds, as columns of features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from recordmill import _core
from recordmill.formats.base import PayloadCodec
from recordmill.formats.registry import PAYLOADS
from recordmill.schema import Feature, Schema
from recordmill.shards.native_errors import convert_error
from recordmill.types import Ragged

# Plans of schemas that payloads were parsed with lately. An entry holds its schema, so that no other one gets its id.
_PLANS: dict[tuple[str, int], tuple[Schema, Any]] = {}
_MOST_PLANS = 32


def parse_payloads(
    payloads: Ragged | Sequence[bytes],
    schema: Schema | Mapping[str, Feature],
    *,
    payload: str,
    threads: int = 1,
) -> dict[str, Any]:
    """Features of payloads in memory, as `Dataset` batches have them.

    Parameters
    ----------
    payloads : Ragged of uint8, or sequence of bytes
    schema : Schema or mapping of str to Feature
        Features that are wanted; others are passed over.
    payload : {"example", "sequence_example", "ofrecord", "irheader", "raw"}
        What the payloads are.
    threads : int
        How many may share the work; few payloads, and large ones, are parsed by one.

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
    try:
        return _parse(payloads, schema, PAYLOADS[payload], threads)
    except _core.CoreFault as fault:
        error = convert_error(fault.args, "")
        error.shard = None
        raise error from None


def _parse(
    payloads: Ragged | Sequence[bytes], schema: Schema | Mapping[str, Feature], codec: PayloadCodec, threads: int
) -> dict[str, Any]:
    wanted = schema if isinstance(schema, Schema) else Schema(schema)
    if codec.kind is None:
        return codec.parse(_rows(payloads), wanted)
    plan = _known_plan(codec, wanted) if wanted is schema else codec.plan(wanted)
    if isinstance(payloads, Ragged) or {*map(type, payloads)} - {bytes}:
        rows = _rows(payloads)
        parsed = _core.parse(rows.data, rows.row_splits, plan, threads=threads)
    else:
        parsed = _core.parse_each(tuple(payloads), plan, threads=threads)
    return codec.columns(parsed, wanted, len(payloads))


def _known_plan(codec: PayloadCodec, schema: Schema) -> Any:
    """What a schema that the caller holds is compiled to; it will be asked for again."""
    known = _PLANS.get((codec.name, id(schema)))
    if known is None:
        known = (schema, codec.plan(schema))
        if len(_PLANS) >= _MOST_PLANS:
            _PLANS.clear()
        _PLANS[codec.name, id(schema)] = known
    return known[1]


def _rows(payloads: Ragged | Sequence[bytes]) -> Ragged:
    return payloads if isinstance(payloads, Ragged) else Ragged.from_rows(list(payloads))
