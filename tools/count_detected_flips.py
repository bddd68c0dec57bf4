"""Count how many random bit flips in shards verify, the loader and indexing detect.

    python -m tools.count_detected_flips [--flips 1000]

Each flip changes one bit of a shard of 200 records. A reader detects it if it raises or reports an error of the damaged
record. It is silent if the reader returns a value that differs from that of the intact shard. Flips in bytes that no
reader returns, such as padding, change nothing and are counted apart. Prints a Markdown table.
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
from collections import Counter
from pathlib import Path

import recordmill as rm
from recordmill.shards.index import sidecar_path

NUM_RECORDS = 200
READERS = ("verify", "loader", "ds[i]")


def write_shard(folder: Path, format_name: str) -> Path:
    """Write a shard of records with an image, a name and a label."""
    numbers = random.Random(format_name)
    with rm.ShardWriter(folder / "part", format=format_name) as writer:
        for number in range(NUM_RECORDS):
            image = numbers.randbytes(numbers.randrange(20, 600))
            example = {"image": image, "label": float(number)}
            writer.write(example if format_name == "recordio" else example | {"name": b"photo-%d.jpg" % number})
    return Path(writer.paths[0])


def read_with_loader(path: Path) -> list[str]:
    """Return the samples that a loader delivers which skips damaged records."""
    loader = rm.open(path).batch(1, ragged="list").loader(threads=0, on_error="skip")
    return [str(batch) for batch in loader]


def read_by_position(path: Path) -> list[str | None]:
    """Return the examples; None where reading raises an error."""
    dataset = rm.open(path)
    return [_read(dataset, position) for position in range(len(dataset))]


def _read(dataset: rm.Dataset, position: int) -> str | None:
    try:
        return str(dataset[position])
    except rm.RecordmillError:
        return None


def classify(found: list[str], intact: list[str]) -> str:
    """Return whether samples show a flipped bit: "detected", "silent" or "unchanged"."""
    if found == intact:
        return "unchanged"
    remaining = iter(intact)
    return "detected" if all(sample in remaining for sample in found) else "silent"


def count_flips(format_name: str, num_flips: int, *, with_index: bool) -> dict[str, Counter[str]]:
    """Return for each reader the number of flips by result."""
    numbers, counts = random.Random(7), {reader: Counter[str]() for reader in READERS}
    with tempfile.TemporaryDirectory() as folder:
        path = write_shard(Path(folder), format_name)
        sidecar = Path(sidecar_path(str(path)))
        data, index = path.read_bytes(), sidecar.read_bytes()
        batches, examples = read_with_loader(path), [str(example) for example in rm.open(path)]
        for _ in range(num_flips):
            damaged = bytearray(data)
            damaged[numbers.randrange(len(data))] ^= 1 << numbers.randrange(8)
            path.write_bytes(damaged)
            sidecar.unlink(missing_ok=True)
            if with_index:
                sidecar.write_bytes(index)
            report = rm.verify(path)
            try:
                loaded = classify(read_with_loader(path), batches)
            except rm.RecordmillError:
                loaded = "detected"
            found = [example for example in read_by_position(path) if example is not None]
            indexed = classify(found, examples)
            counts["loader"][loaded] += 1
            counts["ds[i]"][indexed] += 1
            counts["verify"]["unchanged" if report.ok and indexed == "unchanged" else _name(report.ok)] += 1
    return counts


def _name(ok: bool) -> str:
    return "silent" if ok else "detected"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--flips", type=int, default=1000, help="number of flips per row (default: %(default)s)")
    args = parser.parse_args()
    os.environ["RECORDMILL_CACHE"] = tempfile.mkdtemp()
    print(f"| format | index | {' | '.join(READERS)} |")
    print("|---|---|" + "---|" * len(READERS))
    for format_name in ("tfrecord", "ofrecord", "recordio"):
        for with_index in (True, False):
            counts = count_flips(format_name, args.flips, with_index=with_index)
            cells = [
                " / ".join(str(counts[reader][result]) for result in ("detected", "unchanged", "silent"))
                for reader in READERS
            ]
            print(f"| {format_name} | {'with' if with_index else 'without'} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
