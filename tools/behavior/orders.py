"""Order of samples: shuffles, cuts, ranks, last batches, mixtures and filters."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

import recordmill as rm
from tools.behavior.digest import Results

LENGTHS = (1, 2, 7, 100, 1000, 65537)
SEEDS = (0, 1, 7, 2**63 + 5)
EPOCHS = (0, 1, 2, 1000)
STREAM_BATCHES = 12  # batches read of an endless pipeline


def open_numbers(folder: Path, length: int) -> rm.Dataset:
    """Return a dataset whose sample at position n has the feature id = n, in one to three shards."""
    path = folder / f"numbers-{length}"
    if not path.exists():
        rm.pack(({"id": number} for number in range(length)), path / "part", format="tfrecord", shards=min(length, 3))
    return rm.open(path)


def _ids(dataset: rm.Dataset, epoch: int = 0, **options: Any) -> list[Any]:
    """Return the ids of each batch of an epoch; padded rows are -1."""
    with dataset.loader(threads=0, **options) as loader:
        loader.set_epoch(epoch)
        batches = [np.where(batch["valid"], batch["id"], -1) if "valid" in batch else batch["id"] for batch in loader]
    return [batch.tolist() for batch in batches]


def _joined_ids(dataset: rm.Dataset, epoch: int = 0) -> Any:
    with dataset.batch(8192).loader(threads=0) as loader:
        loader.set_epoch(epoch)
        batches = [batch["id"] for batch in loader]
    return np.concatenate(batches) if batches else np.zeros(0, np.int64)


def record_orders(folder: Path) -> Results:
    """Yield the ids of samples in the order of delivery."""
    yield from _shuffles(folder)
    numbers = open_numbers(folder, 100)
    yield from _cuts(numbers)
    yield from _batches(numbers)
    yield from _ranks(numbers)
    yield from _mixtures(folder, numbers)
    yield from _filters(numbers)
    yield from _failures(numbers)


def _shuffles(folder: Path) -> Results:
    for length in LENGTHS:
        numbers = open_numbers(folder, length)
        yield f"sequential/{length}", _joined_ids(numbers)
        seeds, epochs = (SEEDS, EPOCHS) if length < 65537 else (SEEDS[:2], EPOCHS[:2])
        for seed in seeds:
            for epoch in epochs:
                yield f"shuffle/{length}/seed={seed}/epoch={epoch}", _joined_ids(numbers.shuffle(seed=seed), epoch)
        for block in (2, 8, 64):
            yield f"shuffle/{length}/block={block}", _joined_ids(numbers.shuffle(seed=3, block=block), 1)
        for window in (2, 10, 500) if length < 65537 else (500,):
            yield f"shuffle/{length}/window={window}", _joined_ids(numbers.shuffle(seed=3, window=window), 1)


def _cuts(numbers: rm.Dataset) -> Results:
    shuffled = numbers.shuffle(seed=5)
    pipelines = {
        "take": shuffled.take(13),
        "skip": shuffled.skip(90),
        "take_more_than_all": numbers.take(1000),
        "take_skip": shuffled.take(50).skip(20),
        "repeat": shuffled.repeat(3),
        "take_repeat": shuffled.take(7).repeat(5),
        "repeat_shuffle": numbers.take(10).repeat(3).shuffle(seed=2),
        "shuffle_twice": shuffled.shuffle(seed=6),
        "repeat_repeat": shuffled.take(4).repeat(2).repeat(3),
    }
    for name, pipeline in pipelines.items():
        for epoch in (0, 2):
            yield f"cut/{name}/epoch={epoch}", _joined_ids(pipeline, epoch)
        yield f"cut/{name}/length", len(pipeline)
    yield "cut/endless", _first_batches(shuffled.take(7).repeat().batch(5))
    yield "cut/batches_take", _ids(shuffled.batch(8).take(3), 1)
    yield "cut/batches_skip", _ids(shuffled.batch(8).skip(10), 1)
    yield "cut/fetch", [sample["id"] for sample in shuffled.fetch([5, -1, 5, 0, 99], epoch=4)]
    yield "cut/slice", [sample["id"] for sample in shuffled[10:40:7]]


def _first_batches(pipeline: rm.Dataset) -> list[Any]:
    with pipeline.loader(threads=0) as loader:
        return [batch["id"].tolist() for batch in islice(loader, STREAM_BATCHES)]


def _batches(numbers: rm.Dataset) -> Results:
    shuffled = numbers.shuffle(seed=5)
    for last in ("keep", "drop", "pad", "wrap"):
        for size in (1, 7, 100, 150):
            pipeline = shuffled.batch(size, last=last)
            if last != "drop" or size <= 100:
                yield f"batch/last={last}/size={size}", _ids(pipeline, 1)
            yield f"batch/last={last}/size={size}/length", len(pipeline)


def _ranks(numbers: rm.Dataset) -> Results:
    shuffled = numbers.shuffle(seed=5)
    for world_size in (2, 3, 8):
        for last in ("keep", "drop", "pad", "wrap"):
            name = f"ranks/world_size={world_size}/last={last}"
            pipeline = shuffled.batch(7, last=last)
            ranks = [pipeline.shard(rank, world_size) for rank in range(world_size)]
            try:
                yield name, [_ids(rank, 1) for rank in ranks]
            except ValueError:  # some ranks would get no batch
                yield name, "ValueError"
    yield "ranks/samples", [_ids(shuffled.shard(rank, 4).batch(1), 1) for rank in range(4)]
    options = [{"rank": 1, "world_size": 2, "workers": (index, 3)} for index in range(3)]
    yield "ranks/workers", [_ids(shuffled.batch(6, last="drop"), 1, **one) for one in options]
    yield "ranks/take", [_ids(shuffled.batch(6, last="drop").take(2).shard(rank, 2), 1) for rank in range(2)]


def _mixtures(folder: Path, numbers: rm.Dataset) -> Results:
    thousand, seven = open_numbers(folder, 1000), open_numbers(folder, 7)
    mixtures = {
        "equal": rm.mix([numbers, thousand], [1, 1]),
        "shuffled": rm.mix([numbers.shuffle(seed=1), thousand.shuffle(seed=2), seven.shuffle(seed=3)], [5, 3, 0.5]),
        "restarting": rm.mix([numbers.shuffle(seed=1), seven.shuffle(seed=1)], [0.6, 0.4], num_samples=150),
        "shuffled_again": rm.mix([numbers, seven], [2, 1]).shuffle(seed=4),
        "parts_cut": rm.mix([numbers.shuffle(seed=1).take(9), seven.repeat(4)], [1, 3]),
        "nested": rm.mix([rm.mix([numbers, seven], [1, 1]), thousand.shuffle(seed=9)], [1, 2]),
    }
    for name, mixture in mixtures.items():
        for epoch in (0, 1, 5):
            yield f"mix/{name}/epoch={epoch}", _joined_ids(mixture, epoch)
        yield f"mix/{name}/length", len(mixture)


def is_in_third(sample: dict[str, Any], remainder: int = 0) -> bool:
    """Return whether the id modulo 3 is `remainder`."""
    return bool(sample["id"] % 3 == remainder)


def _is_drawn(_: dict[str, Any], rng: np.random.Generator) -> bool:
    return bool(rng.random() < 0.4)


def _filters(numbers: rm.Dataset) -> Results:
    kept = numbers.shuffle(seed=5).filter(is_in_third)
    drawn = numbers.shuffle(seed=5).filter(_is_drawn, rng=True)
    pipelines = {
        "keep": kept.batch(5),
        "drop": kept.batch(5, last="drop"),
        "pad": kept.batch(5, last="pad"),
        "random": drawn.batch(5),
        "random_seed": numbers.filter(_is_drawn, rng=True, seed=77).batch(5),
        "twice": kept.filter(_is_drawn, rng=True).batch(4),
        "take": kept.take(11).batch(4),
        "skip": kept.skip(11).batch(4),
        "batches_take": kept.batch(4).take(2),
        "repeat": numbers.shuffle(seed=5).repeat(2).filter(is_in_third).batch(9),
    }
    for name, pipeline in pipelines.items():
        for epoch in (0, 1):
            yield f"filter/{name}/epoch={epoch}", _ids(pipeline, epoch)
    yield "filter/ranks", [_ids(kept.batch(4, last="drop").shard(rank, 3), 1) for rank in range(3)]
    yield "filter/endless", _first_batches(numbers.shuffle(seed=5).repeat().filter(is_in_third).batch(9))


def _fail_in_third(sample: dict[str, Any]) -> dict[str, Any]:
    if is_in_third(sample, 1):
        raise ValueError(f"sample {sample['id']} is refused")
    return sample


def _failures(numbers: rm.Dataset) -> Results:
    pipeline = numbers.shuffle(seed=5).map(_fail_in_third).batch(8)
    for on_error in ("skip", "substitute"):
        with pipeline.loader(threads=0, on_error=on_error) as loader:
            yield f"errors/{on_error}", [batch["id"].tolist() for batch in loader]
            yield f"errors/{on_error}/positions", [one.position for one in loader.report.skipped]
