"""Packs examples that the caller makes: any iterable of mappings or payloads, straight to the shard writer."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from recordmill.errors import InputError
from recordmill.packing.options import OutputOptions
from recordmill.packing.plan import make_order
from recordmill.packing.progress import Progress
from recordmill.packing.result import PackResult
from recordmill.schema import Schema
from recordmill.shards.writer import ShardWriter


def pack_examples(
    source: Iterable[Mapping[str, Any] | bytes],
    destination: str | os.PathLike[str],
    format_: str,
    outputs: OutputOptions,
    *,
    payload: str | None = None,
    schema: Schema | None = None,
    seed: int | None = None,
    show: bool | Callable[[int, int | None], object] | None = None,
) -> PackResult:
    """Write examples to shards."""
    if isinstance(source, Mapping) or not isinstance(source, Iterable):
        raise InputError(
            "this cannot be packed",
            kind="bad_source",
            expected="a source of files, or an iterable of mappings",
            found=type(source).__name__,
        )
    total = len(source) if isinstance(source, Sequence) else None
    if seed is not None:
        source = _shuffled(source, seed)
    progress = Progress(total, show)
    with ShardWriter(
        destination,
        format=format_,
        shards=outputs.shards,
        max_shard_bytes=outputs.max_shard_bytes,
        payload=payload,
        schema=schema,
        compression=outputs.compression,
        compression_level=outputs.compression_level,
        overwrite=outputs.overwrite,
        index=outputs.index,
    ) as writer:
        for example in source:
            writer.write(example)
            progress.advance(1)
    progress.close()
    num_bytes = sum(os.path.getsize(path) for path in writer.paths)
    return PackResult(writer.num_records, num_bytes, writer.paths)


def _shuffled(source: Iterable[Any], seed: int) -> Iterable[Any]:
    if not isinstance(source, Sequence):
        raise InputError(
            "only a sequence of examples can be shuffled",
            kind="bad_source",
            expected="len() and indexing",
            found=type(source).__name__,
            hint="make a list of the examples, or leave shuffle= out",
        )
    order = make_order(len(source), seed)
    return (source[position] for position in (() if order is None else order.tolist()))
