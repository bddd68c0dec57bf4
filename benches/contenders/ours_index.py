"""recordmill's index: building it from frame headers, verifying all checksums, and opening indexed shards."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Iterator
from typing import Any

from benches.digest import Digest
from benches.expected import damaged_copy
from benches.jobs import Job

LABEL = "ours"
ENVIRONMENT = ""
REQUIREMENTS = ("recordmill", "numpy")
VARIANTS = {"index": ("",), "check": ("",), "open": ("",)}


def prepare(job: Job) -> None:
    """Create a folder of links to the shards, so that its indexes are not shared with other tasks."""
    import recordmill as rm

    folder = job.empty_out()
    for path in job.shards:
        os.symlink(path, os.path.join(folder, os.path.basename(path)))
    if job.task_name == "open":
        rm.build_index(_links(job))


def _links(job: Job) -> list[str]:
    return [os.path.join(job.out, os.path.basename(path)) for path in job.shards]


def run(job: Job) -> Iterator[tuple[int, Any]]:
    """Build the indexes of all shards again, or verify the shards."""
    import recordmill as rm

    if job.task_name == "check":
        report = rm.verify(job.shards, payload=None)
        assert report.ok
        yield report.num_records, report
        return
    for name in os.listdir(job.out):
        if name.startswith("."):
            os.remove(os.path.join(job.out, name))
    for path in _links(job):
        with rm.ShardReader(path) as reader:
            yield len(reader), None


def checked(job: Job) -> dict[str, Any]:
    """Return the digest of the frames in the stored indexes, or the fault found in a damaged copy."""
    import recordmill as rm

    count = sum(number for number, _ in run(job))
    if job.task_name == "check":
        report = rm.verify(damaged_copy(job.shards[0], job.out), payload=None)
        return {"count": count, "sum": " and ".join(f"fault in record {fault.record}" for fault in report.faults)}
    digest = Digest()
    for number, path in enumerate(_links(job)):
        with rm.ShardReader(path) as reader:
            frames = zip(reader.index.offsets.tolist(), reader.index.lengths.tolist(), strict=True)
            digest.add_payloads(b"%d %d %d" % (number, offset, length) for offset, length in frames)
    return digest.to_json()


def figures(job: Job) -> dict[str, float]:
    """Measure the milliseconds to open shards with all modules imported, and the bytes of memory per record."""
    import recordmill as rm

    small = os.path.join(job.out, "small", "small.tfrecord")
    with rm.ShardWriter(small, format="tfrecord", overwrite=True) as writer:
        writer.write({"label": 1})
    assert len(rm.open(small)) == 1
    gc.collect()
    before, start = _resident_bytes(), time.perf_counter()
    dataset = rm.open(_links(job))
    elapsed = time.perf_counter() - start
    gc.collect()
    grown = _resident_bytes() - before
    return {"open_ms": elapsed * 1000, "bytes_per_record": grown / len(dataset), "num_records": len(dataset)}


def _resident_bytes() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
