"""The function `parse_payloads`, which converts payloads in memory to columns of features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from recordmill import _core
from recordmill.formats.base import PayloadCodec
from recordmill.formats.registry import PAYLOADS
from recordmill.schema import Feature, Schema
from recordmill.shards.native_errors import convert_error, convert_memory_error
from recordmill.suggestions import suggest_arguments
from recordmill.types import Ragged

# Compiled plans by codec and `id` of the schema. An entry also holds the schema, so that its id is not reused.
_PLANS: dict[tuple[str, int], tuple[Schema, Any]] = {}
_MAX_PLANS = 32


@suggest_arguments
def parse_payloads(
    payloads: Ragged | Sequence[bytes],
    schema: Schema | Mapping[str, Feature],
    *,
    payload: str,
    threads: int = 1,
) -> dict[str, Any]:
    """Parse payloads that are in memory. Return a dict of columns, like a batch of a `Dataset`.

    Parameters
    ----------
    payloads : Ragged of uint8, or sequence of bytes
        One payload per record.
    schema : Schema or mapping of str to Feature
        Features to parse; others are skipped. Repeated calls are faster with the same `Schema` object.
    payload : str
        Codec of the payloads. One of "example", "sequence_example", "ofrecord", "irheader" or "raw".
    threads : int
        Maximum number of threads. Few or large payloads are parsed by one thread.

    Returns
    -------
    dict of str to ndarray or Ragged
        Dense features have the shape ``(num_records, *shape)``. Byte strings are rows of a Ragged of uint8.

    Raises
    ------
    FeatureError
        If a payload lacks a feature, or has it with another kind or number of values; `record` is the position of the
        payload in `payloads`.
    PayloadError
        If a payload is not a valid message; `record` is its position in `payloads`.
    ValueError
        If the codec is unknown.

    Examples
    --------
    >>> payloads = rm.ShardReader("train.tfrecord").fetch([2, 0])
    >>> rm.parse_payloads(payloads, {"label": rm.Feature("int64")}, payload="example")["label"]
    array([2, 0])
    """
    if payload not in PAYLOADS:
        raise ValueError(f"payload must be one of {', '.join(PAYLOADS)}, got {payload!r}")
    try:
        return _parse_to_columns(payloads, schema, PAYLOADS[payload], threads)
    except _core.CoreFault as fault:
        error = convert_error(fault.args, "")
        error.shard = None
        raise error from None
    except MemoryError as error:
        raise convert_memory_error(error, "the payloads") from None


def _parse_to_columns(
    payloads: Ragged | Sequence[bytes], schema: Schema | Mapping[str, Feature], codec: PayloadCodec, threads: int
) -> dict[str, Any]:
    checked = schema if isinstance(schema, Schema) else Schema(schema)
    if codec.kind is None:
        return codec.parse(_convert_to_ragged(payloads), checked)
    plan = _find_or_compile_plan(codec, checked) if checked is schema else codec.compile_schema(checked)
    if isinstance(payloads, Ragged) or {*map(type, payloads)} - {bytes}:
        rows = _convert_to_ragged(payloads)
        parsed = _core.parse(rows.data, rows.row_splits, plan, threads=threads)
    else:
        parsed = _core.parse_each(tuple(payloads), plan, threads=threads)
    return codec.build_columns(parsed, checked, len(payloads))


def _find_or_compile_plan(codec: PayloadCodec, schema: Schema) -> Any:
    """Return the compiled plan of a schema. The plan is compiled on the first call with a schema, and then cached."""
    entry = _PLANS.get((codec.name, id(schema)))
    if entry is None:
        entry = (schema, codec.compile_schema(schema))
        if len(_PLANS) >= _MAX_PLANS:
            _PLANS.clear()
        _PLANS[codec.name, id(schema)] = entry
    return entry[1]


def _convert_to_ragged(payloads: Ragged | Sequence[bytes]) -> Ragged:
    return payloads if isinstance(payloads, Ragged) else Ragged.from_rows(list(payloads))
