"""Reading and packing with recordmill, while the runner measures the memory of the process tree."""

from __future__ import annotations

import os
from collections.abc import Callable

from benches.jobs import Job, shards

LABEL = "ours"
ENVIRONMENT = ""
REQUIREMENTS = ("recordmill", "numpy")


def prepare(job: Job) -> None:
    """Write the list file of the images."""
    job.write_list_file()


def figures(job: Job) -> dict[str, float]:
    """Run the work of the variant once; return the number of records."""
    job.empty_out()
    return {"num_records": _WORK[job.variant](job)}


def _read_payloads(job: Job) -> int:
    import recordmill as rm

    number = 0
    for path in shards(job.data, "big"):
        with rm.ShardReader(path) as reader:
            number += sum(len(ragged) for ragged in reader.batches(64))
    return number


def _read_records(job: Job) -> int:
    import recordmill as rm

    with rm.ShardReader(shards(job.data, "big")[0]) as reader:
        return sum(1 for _ in reader)


def _read_columns(job: Job) -> int:
    import recordmill as rm

    return sum(len(batch["I1"]) for batch in rm.open(shards(job.data, "tabular")).batch(1024).loader(threads=2))


def _pack(job: Job, **options: str | int) -> int:
    import recordmill as rm

    source = rm.ListFile(job.list_file, root=job.data)
    rm.pack(source, os.path.join(job.out, "photos"), format="tfrecord", shards=1, workers=2, **options)
    return len(job.rows())


def _pack_encoded(job: Job) -> int:
    return _pack(job, encode="jpeg", quality=95)


def _write(job: Job) -> int:
    import recordmill as rm

    path = os.path.join(job.out, "big.tfrecord")
    with (
        rm.ShardReader(shards(job.data, "big")[0]) as reader,
        rm.ShardWriter(path, format="tfrecord", payload="raw") as writer,
    ):
        for payload in reader:
            writer.write(payload)
    return writer.num_records


_WORK: dict[str, Callable[[Job], int]] = {
    "read batches of payloads, 4 shards of 537 MB": _read_payloads,
    "read record by record, shard of 537 MB": _read_records,
    "read columns with the loader, 4 shards of 148 MB": _read_columns,
    "pack photos into one shard of 415 MB": _pack,
    "pack photos re-encoded into one shard": _pack_encoded,
    "write one shard of 537 MB record by record": _write,
}
VARIANTS = {"memory": tuple(_WORK)}
