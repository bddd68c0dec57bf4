"""Measure `rm.ray` on this machine beside `pack` in one process and `ray.data.read_tfrecords`; check equal results.

Usage: python -m benches.cluster [FOLDER] [NUM_PHOTOS] [NUM_RECORDS] [NUM_FILES]
"""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from benches import environments
from benches.contenders import tensorflow

_ROUNDS = 3
_NUM_WORKERS = 2
# Contents of the environment in which both readers run.
_REQUIREMENTS = ("ray==2.60.0", "pandas", "pyarrow", "fsspec", *tensorflow.REQUIREMENTS)
_NUM_INTS, _NUM_FLOATS, _NUM_TEXTS = 13, 13, 13


def _start_ray() -> None:
    import ray

    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    ray.init(num_cpus=_NUM_WORKERS, include_dashboard=False, log_to_driver=False, logging_level="error")


def _write_photos(folder: Path, count: int) -> None:
    """Write smooth images with some noise, of about 60 KB each."""
    import numpy as np
    from PIL import Image

    generator = np.random.default_rng(0)
    for number in range(count):
        path = folder / f"class-{number % 20:02}" / f"{number:06}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        colors = generator.integers(0, 255, (8, 10, 3)).astype(np.uint8)
        photo = np.asarray(Image.fromarray(colors).resize((500, 375), Image.Resampling.BICUBIC)).astype(np.int16)
        photo += generator.integers(-12, 13, photo.shape, np.int16)
        Image.fromarray(photo.clip(0, 255).astype(np.uint8)).save(path, quality=92)


def _read_files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def _measure_in_turns(works: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Run each work once to warm up, then several times in turns; return the median of the seconds."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for turn in range(_ROUNDS + 1):
        for name, work in works.items():
            start = time.perf_counter()
            work()
            if turn:
                times[name].append(time.perf_counter() - start)
    return {name: median(values) for name, values in times.items()}


def _print_result(title: str, count: int, seconds: dict[str, float], ours: str, other: str) -> None:
    rates = ", ".join(f"{name} {count / duration:,.0f}/s" for name, duration in seconds.items())
    print(f"{title}: {rates}; {ours} is {seconds[other] / seconds[ours]:.2f} x {other}", flush=True)


def measure_packing(root: Path, count: int) -> None:
    """Compare `rm.ray.pack` with `rm.pack`, both with two workers, which decode and encode each photo."""
    import recordmill as rm

    _write_photos(root / "photos", count)
    _start_ray()
    options: dict[str, Any] = {"shards": 16, "encode": "jpeg", "quality": 90, "overwrite": True}
    works: dict[str, Callable[[], object]] = {
        "rm.pack": lambda: rm.pack(root / "photos", root / "one/train", workers=_NUM_WORKERS, **options),
        "rm.ray.pack": lambda: rm.ray.pack(root / "photos", root / "ray/train", **options),
    }
    seconds = _measure_in_turns(works)
    assert _read_files(root / "one") == _read_files(root / "ray")
    _print_result("photos, re-encoded", count, seconds, "rm.ray.pack", "rm.pack")


def measure_reading(root: Path, count: int) -> None:
    """Compare `rm.ray.read` with `ray.data.read_tfrecords`, which needs TensorFlow and so an environment of its own."""
    import recordmill as rm

    with rm.ShardWriter(root / "tabular/train", shards=4) as writer:
        for row in range(count):
            ints = {f"int{column}": (row * 7919 + column * 31) % 1000 for column in range(_NUM_INTS)}
            floats = {f"float{column}": (row % 97 + column) / 7 for column in range(_NUM_FLOATS)}
            texts = {f"text{column}": f"value-{(row + column) % 1000}".encode() for column in range(_NUM_TEXTS)}
            writer.write(ints | floats | texts)
    python = environments.interpreter("ray", _REQUIREMENTS)
    source = os.path.dirname(os.path.dirname(rm.__file__))
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([source, os.getcwd()])}
    command = [python, "-m", "benches.cluster", "--read", str(root / "tabular"), str(count)]
    subprocess.run(command, check=True, env=environment)


def compare_readers(folder: str, count: int) -> None:
    """Read a dataset with both functions, compare the rows, and print the rates."""
    import ray.data

    import recordmill as rm

    _start_ray()
    ray.data.DataContext.get_current().enable_progress_bars = False
    paths = sorted(str(path) for path in Path(folder).glob("train-*"))
    columns = sorted(rm.open(folder).schema)
    read: dict[str, Callable[[], Any]] = {
        "ray.data.read_tfrecords": lambda: ray.data.read_tfrecords(paths).materialize(),
        "rm.ray.read": lambda: rm.ray.read(paths).materialize(),
    }
    tables = [work().to_pandas()[columns] for work in read.values()]
    assert all(len(table) == count for table in tables)
    first, second = (table.sort_values(columns).to_dict("records") for table in tables)
    assert first == second
    seconds = _measure_in_turns(dict(read))
    _print_result("tabular Examples", count, seconds, "rm.ray.read", "ray.data.read_tfrecords")


def measure_memory(root: Path, count: int) -> None:
    """Print the peak memory of a process that packs many small files on Ray."""
    per_folder = 1000
    for folder in range(-(-count // per_folder)):
        path = root / "many" / f"n{folder:08}"
        path.mkdir(parents=True)
        first = path / f"n{folder:08}_000000.JPEG"
        first.write_bytes(b"\xff\xd8\xff\xe0" + bytes(200))
        for number in range(1, min(per_folder, count - folder * per_folder)):
            os.link(first, path / f"n{folder:08}_{number:06}.JPEG")
    command = [sys.executable, "-m", "benches.cluster", "--memory", str(root / "many"), str(root / "packed")]
    subprocess.run(command, check=True)
    shutil.rmtree(root / "many")


def pack_many_files(source: str, folder: str) -> None:
    """Pack a folder on Ray, and print the time and the peak memory of this process."""
    import recordmill as rm

    _start_ray()
    start = time.perf_counter()
    result = rm.ray.pack(source, os.path.join(folder, "train"), shards=2000)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(f"{result.num_records:,} files in 2,000 parts: {seconds:.0f} s, driver peak {peak} MiB", flush=True)


def main(arguments: list[str]) -> None:
    """Print the rates, ratios and memory."""
    if arguments[:1] == ["--read"]:
        compare_readers(arguments[1], int(arguments[2]))
        return
    if arguments[:1] == ["--memory"]:
        pack_many_files(*arguments[1:])
        return
    folder, num_photos, num_records, num_files = (*arguments, *[""] * (4 - len(arguments)))
    with tempfile.TemporaryDirectory(dir=folder or None) as name:
        measure_memory(Path(name), int(num_files or 1_000_000))
        measure_reading(Path(name), int(num_records or 30_000))
        measure_packing(Path(name), int(num_photos or 2_000))


if __name__ == "__main__":
    main(sys.argv[1:])
