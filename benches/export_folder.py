"""Compare `export` of photos to a folder with copying the files, in turns.

Usage: python -m benches.export_folder [FOLDER] [NUM_PHOTOS]
"""

from __future__ import annotations

import os
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import recordmill as rm

_ROUNDS = 5
# Size of a photo of ImageNet, on average.
_PHOTO_BYTES = 110_000


def _write_photos(folder: Path, count: int) -> None:
    head = b"\xff\xd8\xff\xe0"
    for number in range(count):
        path = folder / f"class-{number % 20:02}" / f"{number:06}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(head + os.urandom(_PHOTO_BYTES + number % 1000))


def _measure(work: Callable[[], object], output: Path) -> float:
    shutil.rmtree(output, ignore_errors=True)
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main(folder: str, count: int) -> None:
    """Print the seconds of both, and their ratio."""
    with tempfile.TemporaryDirectory(dir=folder) as name:
        root = Path(name)
        _write_photos(root / "photos", count)
        rm.pack(root / "photos", root / "packed/train", shards=8, keep_name=True)
        times: dict[str, list[float]] = {"copy": [], "export": []}
        for _ in range(_ROUNDS):
            out = root / "copied"
            times["copy"].append(_measure(lambda out=out: shutil.copytree(root / "photos", out), out))
            out = root / "exported"
            times["export"].append(_measure(lambda out=out: rm.export(root / "packed", out, to="folder"), out))
        copied = {path.relative_to(root / "copied") for path in (root / "copied").rglob("*.jpg")}
        assert all((root / "copied" / path).read_bytes() == (root / "exported" / path).read_bytes() for path in copied)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        copy, export = (sorted(values)[_ROUNDS // 2] for values in times.values())
        print(f"{count} photos, copy {copy:.2f} s, export {export:.2f} s: {copy / export:.2f} x; peak {peak} MiB")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else tempfile.gettempdir(), int((sys.argv[2:] or ["5000"])[0]))
