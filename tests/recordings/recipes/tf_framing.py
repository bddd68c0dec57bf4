"""TFRecord files written by tf.io.TFRecordWriter: sizes, text, compression, wrong compression options."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import tensorflow as tf

from recipes.tf_errors import error_json
from recipes.values import write_json

EMPTY = {"": "empty.tfrecord", "GZIP": "empty.tfrecord.gz", "ZLIB": "empty.tfrecord.zlib"}


def payloads() -> list[bytes | str]:
    """Return records of many sizes: empty, around the alignments, text and a run of zeros."""
    source = random.Random(1)
    sizes = [5, 0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 0, 127, 128, 255, 256, 1000]
    records: list[bytes | str] = [source.randbytes(size) for size in sizes]
    records += ["plain text", "Grüße, 世界 \N{SNOWMAN}", "", b"\n" * 3, bytes(12), bytes(5_000), b"last"]
    return records


def write(path: Path, records: list[Any], options: tf.io.TFRecordOptions | str = "", flush_every: int = 0) -> None:
    """Write records with TensorFlow, flushing the stream after every `flush_every` of them."""
    with tf.io.TFRecordWriter(str(path), options) as writer:
        for position, record in enumerate(records, 1):
            writer.write(record)
            if flush_every and position % flush_every == 0:
                writer.flush()


def read(path: Path, compression: str) -> tuple[list[bytes], dict[str, Any] | None]:
    """Return the records that TensorFlow delivers and the error that ends the reading, if any."""
    records: list[bytes] = []
    try:
        for record in tf.data.TFRecordDataset(str(path), compression_type=compression):
            records.append(record.numpy())
    except tf.errors.OpError as error:
        return records, error_json(error)
    return records, None


def _options(compression: str, **more: int) -> tf.io.TFRecordOptions:
    return tf.io.TFRecordOptions(compression_type=compression, **more)


def _write_all(folder: Path) -> dict[str, str]:
    records = payloads()
    few = records[:6]
    plans: dict[str, tuple[str, list[Any], dict[str, int], int]] = {
        "sizes.tfrecord": ("", records, {}, 0),
        "many.tfrecord": ("", [f"record {number}".encode() for number in range(300)], {}, 0),
        "only_empty_records.tfrecord": ("", [b"", b"", b""], {}, 0),
        "sizes.tfrecord.gz": ("GZIP", records, {}, 0),
        "sizes_level9.tfrecord.gz": ("GZIP", records, {"compression_level": 9}, 0),
        "stored_level0.tfrecord.gz": ("GZIP", few, {"compression_level": 0}, 0),
        "flushed.tfrecord.gz": ("GZIP", few, {}, 2),
        "sizes.tfrecord.zlib": ("ZLIB", records, {}, 0),
        "sizes_level1.tfrecord.zlib": ("ZLIB", records, {"compression_level": 1}, 0),
        "flushed.tfrecord.zlib": ("ZLIB", few, {}, 2),
    }
    for name, (compression, content, more, flush) in plans.items():
        write(folder / name, content, _options(compression, **more), flush)
    for compression, name in EMPTY.items():
        write(folder / name, [], _options(compression))
    return {name: plan[0] for name, plan in plans.items()} | {name: kind for kind, name in EMPTY.items()}


def _concatenate(folder: Path) -> dict[str, str]:
    """Join compressed files byte by byte: TensorFlow reads every gzip member, but one zlib stream."""
    joins = {
        "members.tfrecord.gz": ["flushed.tfrecord.gz", "empty.tfrecord.gz", "stored_level0.tfrecord.gz"],
        "streams.tfrecord.zlib": ["flushed.tfrecord.zlib", "empty.tfrecord.zlib", "flushed.tfrecord.zlib"],
    }
    for name, parts in joins.items():
        (folder / name).write_bytes(b"".join((folder / part).read_bytes() for part in parts))
    return {"members.tfrecord.gz": "GZIP", "streams.tfrecord.zlib": "ZLIB"}


def _wrong_options(folder: Path) -> list[dict[str, Any]]:
    """Read plain, gzip, zlib and empty files with every value of the option."""
    names = ["only_empty_records.tfrecord", "flushed.tfrecord.gz", "flushed.tfrecord.zlib", *EMPTY.values()]
    rows = []
    for name in names:
        for option in ("", "GZIP", "ZLIB"):
            records, error = read(folder / name, option)
            rows.append({"path": name, "compression": option, "num_records": len(records), "error": error})
    return rows


def record(out: Path) -> None:
    """Write OUT/framing: the files, expected.json and wrong_compression.json."""
    folder = out / "framing"
    folder.mkdir(parents=True, exist_ok=True)
    compressions = _write_all(folder) | _concatenate(folder)
    files = []
    for name, compression in compressions.items():
        records, error = read(folder / name, compression)
        if error:
            raise RuntimeError(f"{name}: {error}")
        files.append({"path": name, "compression": compression, "records": [r.hex() for r in records]})
    write_json(folder / "expected.json", {"files": files})
    write_json(folder / "wrong_compression.json", {"cases": _wrong_options(folder)})
