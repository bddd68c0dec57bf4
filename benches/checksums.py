"""Measure what comparing checksums costs: reads with `verify=True` beside the same reads with `verify=False`, in turns.

Usage: python -m benches.checksums [ROUNDS]
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import recordmill as rm

# Size of a record in bytes, and records per batch.
_SIZES = {"600 bytes": (600, 1024), "64 KiB": (64 << 10, 64)}
_TOTAL_BYTES = 512 << 20
_FORMATS = ("ofrecord", "recordio")


def _list_reads(paths: list[str], format_: str, batch: int) -> dict[str, Callable[[bool], int]]:
    """Return functions that read all records and return their number of bytes."""

    def read_batches(verify: bool, seed: int | None) -> int:
        dataset = rm.open(paths, format=format_, payload="raw", verify=verify)
        dataset = dataset if seed is None else dataset.shuffle(seed=seed)
        return sum(int(ragged.row_splits[-1]) for chunk in dataset.batch(batch).loader() for ragged in chunk.values())

    def read_shards(verify: bool) -> int:
        total = 0
        for path in paths:
            with rm.ShardReader(path, format=format_, verify=verify) as reader:
                total += sum(int(ragged.row_splits[-1]) for ragged in reader.batches(batch))
        return total

    return {
        "batch in file order": lambda verify: read_batches(verify, None),
        "batch, shuffled": lambda verify: read_batches(verify, 1),
        "ShardReader.batches": read_shards,
    }


def _measure(read: Callable[[bool], int], rounds: int, expected: int) -> float:
    """Return the time without checksums divided by the time with them, as medians of runs in turns."""
    times: dict[bool, list[float]] = {True: [], False: []}
    for number in range(rounds + 1):
        for verify in (True, False):
            started = time.perf_counter()
            assert read(verify) == expected
            if number:  # The first round fills the page cache.
                times[verify].append(time.perf_counter() - started)
    return median(times[False]) / median(times[True])


def _write(folder: Path, format_: str, size: int) -> tuple[list[str], int]:
    payload: Any = os.urandom(size)
    count = _TOTAL_BYTES // size
    with rm.ShardWriter(folder / f"{format_}-{size}", format=format_, payload="raw", shards=4) as writer:
        for _ in range(count):
            writer.write(payload)
    return writer.paths, count * size


def main(arguments: list[str]) -> None:
    """Print the ratio for each size, format and kind of read."""
    rounds = int(arguments[0]) if arguments else 7
    with tempfile.TemporaryDirectory() as folder:
        for name, (size, batch) in _SIZES.items():
            for format_ in _FORMATS:
                paths, expected = _write(Path(folder), format_, size)
                reads = _list_reads(paths, format_, batch)
                ratios = {read: _measure(function, rounds, expected) for read, function in reads.items()}
                print(
                    f"{name}, {format_}: {', '.join(f'{read} {ratio:.2f}' for read, ratio in ratios.items())}",
                    flush=True,
                )


if __name__ == "__main__":
    main(sys.argv[1:])
