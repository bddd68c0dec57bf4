"""Tasks on records and columns: packing, iterating, parsing, indexing."""

from __future__ import annotations

from benches.tasks.base import Bound, Ratio, Task

_SMALL = (Ratio("array_record", 5, "ragged"), Ratio("array_record", 1.5, "list"))
_READ = ("page cache read, 1 thread", "CRC-32C, 1 thread")

RECORD_TASKS = (
    Task(
        "P1a",
        "pack 4,000 photos, file bytes passed through",
        "pack",
        "photos",
        goals=(Ratio("tensorflow", 1.3),),
        limit=("photos copied, 2 threads",),
    ),
    Task(
        "P1b",
        "pack 4,000 photos, decoded and re-encoded as JPEG of quality 95",
        "pack",
        "photos",
        goals=(Ratio("", 1.4),),
        limit=("photos recoded by Pillow, 2 threads",),
    ),
    Task(
        "P2a",
        "iterate over 64 KiB records in file order, batches of 64",
        "pass",
        "big",
        64,
        (Ratio("tensorflow", 3), Ratio("array_record", 3), Ratio("tfrecord", 1)),
        _READ,
        compare="payloads",
    ),
    Task(
        "P2b",
        "iterate over 60,000 PNG digits, batches of 1,024",
        "pass",
        "digits",
        1024,
        _SMALL,
        _READ,
        compare="payloads",
    ),
    Task(
        "P2c",
        "iterate over 1 M tabular records, batches of 1,024",
        "pass",
        "tabular",
        1024,
        _SMALL,
        _READ,
        compare="payloads",
    ),
    Task(
        "P3a",
        "tabular Examples to 39 columns, batches of 1,024",
        "pass",
        "tabular",
        1024,
        (Ratio("tensorflow", 5, "file order"), Ratio("ours", 0.8, "shuffled", "file order")),
        compare="columns",
    ),
    Task(
        "P3b",
        "SequenceExamples to padded ids, batches of 128",
        "pass",
        "sequence",
        128,
        (Ratio("tensorflow", 5),),
        compare="columns",
    ),
    Task(
        "index",
        "index of 1 M records from frame headers, kept beside the shards",
        "pass",
        "tabular",
        goals=(Bound("rate", True, 500_000, "records/s"),),
    ),
    Task(
        "check",
        "every frame found and every checksum verified, 64 KiB records",
        "pass",
        "big",
        goals=(Bound("gb_per_s", True, 4, "GB/s"),),
        limit=_READ,
    ),
    Task(
        "open",
        "open an indexed set of 1 M records",
        "value",
        "tabular",
        goals=(Bound("open_ms", False, 50, "ms"), Bound("bytes_per_record", False, 24, "bytes/record")),
    ),
    Task(
        "memory",
        "peak memory of the process tree",
        "value",
        "big",
        goals=(Bound("peak_mb", False, 300, "MB"),),
        more_data=("tabular", "photos"),
    ),
    Task("limits", "what the machine does at most", "pass", "big", more_data=("photos",)),
)
