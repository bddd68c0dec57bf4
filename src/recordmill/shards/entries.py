"""Finds the entry points of the JPEG images in a shard and keeps them beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from recordmill import _core
from recordmill.errors import FeatureError
from recordmill.schema import Feature, Schema
from recordmill.shards.collection import ShardSet
from recordmill.shards.tables import DIRECTORY_BYTES, TableWriter
from recordmill.types import Ragged

# What entry points may take of the images that they belong to.
SHARE = 0.01
_CHUNK_BYTES = 8 << 20


def keep_entry_points(
    path: str,
    features: bool | str | Sequence[str] = True,
    *,
    format: str | None = None,  # noqa: A002
    compression: str | None = "auto",
    threads: int = 1,
) -> str | None:
    """Find and keep the entry points of one shard.

    Parameters
    ----------
    path : str
    features : bool, str, or sequence of str
        Features that hold images; True for all that hold one byte string per record.
    format, compression
        As for `ShardReader`.
    threads : int
        At work side by side.

    Returns
    -------
    str or None
        Where they are kept; None if no image has any, or no file can be written.

    Raises
    ------
    FeatureError
        A feature that is not there, or holds something else.
    DamageError
        The shard is damaged.
    """
    shards = ShardSet([path], format=format, compression=compression)
    wanted = _chosen(shards.schema, features)
    if not wanted or not len(shards):
        return None
    writer = TableWriter(shards.readers[0].shard, list(wanted))
    try:
        for rows in _chunks(shards):
            columns = shards.columns(rows, wanted)
            writer.append(rows.start, [_tables(columns[name], threads) for name in wanted])
        return writer.finish()
    except BaseException:
        writer.discard()
        raise


def _tables(images: Ragged, threads: int) -> Ragged:
    splits = np.ascontiguousarray(images.row_splits, np.int64)
    return Ragged.from_blocks(*_core.entry_points(images.data, splits, SHARE, DIRECTORY_BYTES, threads))


def _chosen(schema: Schema, features: bool | str | Sequence[str]) -> Schema:
    if isinstance(features, bool):
        return Schema({name: feature for name, feature in schema.items() if features and _may_be_image(feature)})
    names = [features] if isinstance(features, str) else list(features)
    for name in names:
        if name not in schema or not _may_be_image(schema[name]):
            found = f"{schema[name].kind} of shape {schema[name].shape}" if name in schema else ", ".join(schema)
            message = f"feature {name!r} holds no images"
            raise FeatureError(message, kind="feature_mismatch", expected="one byte string per record", found=found)
    return Schema({name: schema[name] for name in names})


def _may_be_image(feature: Feature) -> bool:
    return feature.kind == "bytes" and not feature.sequence and feature.shape == ()


def _chunks(shards: ShardSet) -> Iterator[range]:
    """Ranges of records that have about as many bytes."""
    index = shards.readers[0].index
    marks = np.concatenate([[0], np.cumsum(index.lengths)])
    first = 0
    while first < len(index):
        last = int(np.searchsorted(marks, marks[first] + _CHUNK_BYTES, side="right")) - 1
        yield range(first, max(first + 1, last))
        first = max(first + 1, last)
