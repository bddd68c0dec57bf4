"""One record by its position, without the arrays that many take."""

from __future__ import annotations

from typing import Any

from recordmill import _core
from recordmill.formats.base import PayloadCodec
from recordmill.schema import Schema
from recordmill.shards.reader import ShardReader
from recordmill.shards.translate import translated


def read_single(
    reader: ShardReader, record: int, codec: PayloadCodec, compiled: tuple[Schema, Any], *, verify: bool
) -> dict[str, Any]:
    """One example of a shard.

    Parameters
    ----------
    reader : ShardReader
    record : int
        Position in the shard.
    codec : PayloadCodec
        Whose payloads the native module parses.
    compiled : (Schema, Plan)
        The features, and their plan.
    verify : bool
        Whether checksums are computed.

    Returns
    -------
    dict of str to value

    Raises
    ------
    DamageError, FeatureError, ShardChangedError
    """
    (schema, plan), shard, index = compiled, reader.shard, reader.index
    frame = int(index.offsets[record]), int(index.lengths[record])
    try:
        columns = _core.read_example(shard.source, shard.format.framing.kind, *frame, plan, verify=verify)
    except (_core.CoreFault, _core.CoreChanged):
        with translated(shard.name, [record]):
            raise
    return {name: column[0] for name, column in codec.columns(columns, schema, 1).items()}
