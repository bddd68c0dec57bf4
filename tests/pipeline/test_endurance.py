"""Many starts, stops and epochs leave no threads, files or memory behind."""

from __future__ import annotations

import gc
import os
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import recordmill as rm
from tests.concurrency.helpers import call_until_interrupted, wait_until
from tests.images import encode_image
from tests.pipeline.sources import numbers


def failing(sample: dict[str, Any]) -> dict[str, Any]:
    if sample["id"] == 37:
        raise ValueError("this one")
    return sample


def resident_bytes() -> int:
    """Return the resident memory of this process in bytes."""
    return int(Path("/proc/self/statm").read_text("utf-8").split()[1]) * os.sysconf("SC_PAGE_SIZE")


def count_resources() -> tuple[int, int]:
    """Return the numbers of threads and open files of this process."""
    gc.collect()
    return threading.active_count(), len(os.listdir("/proc/self/fd"))


def run_loader(number: int) -> None:
    """Start and stop a loader in one of six ways."""
    way = number % 6
    dataset = numbers(60).shuffle(seed=number).map(failing if way == 1 else dict).batch(4)
    loader = dataset.loader(threads=1 + number % 3, prefetch=number % 4)
    if way == 0:
        assert len(list(loader)) == 15
    elif way == 1:
        with pytest.raises(rm.MapError):
            list(loader)
    elif way == 2:
        next(iter(loader))
    elif way == 3:
        with loader:
            run = iter(loader)
            next(run)
    elif way == 4:
        call_until_interrupted(lambda: list(loader))
    else:
        run = iter(loader)
        next(run)
        run.close()  # type: ignore[attr-defined]


@pytest.mark.parametrize("count", [40, pytest.param(1_000, marks=pytest.mark.campaign)])
def test_repeated_starts_and_stops_leave_no_threads_or_files(count: int) -> None:
    before = count_resources()
    for number in range(count):
        run_loader(number)
    assert wait_until(lambda: count_resources() == before), (count_resources(), before)


@pytest.mark.deep
def test_memory_does_not_grow_over_many_epochs(tmp_path: Path) -> None:
    pixels = np.random.default_rng(0).integers(0, 256, (256, 256, 3), np.uint8)
    with rm.ShardWriter(tmp_path / "part", shards=2) as writer:
        for number in range(64):
            writer.write({"image": encode_image(Image.fromarray(pixels), "JPEG", quality=70), "id": number})
    spec = rm.Image(crop=rm.RandomResizedCrop(160), flip=True, mean=0.5)
    loader = rm.open(tmp_path).shuffle(seed=1).decode(image=spec).batch(16).loader(threads=2)
    sizes = []
    for _ in range(60):
        for batch in loader:
            del batch
        sizes.append(resident_bytes())
    early, late = max(sizes[5:15]), max(sizes[-10:])
    assert late < early * 1.03
