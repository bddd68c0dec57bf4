"""States of loaders, and the batches that they deliver after a state was loaded."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

import recordmill as rm
from tools.behavior.digest import Results
from tools.behavior.images import COLOR_JPEGS, read_images
from tools.behavior.orders import is_in_third, open_numbers

NUMBER_KEYS = ("version", "epoch", "position", "passed")


def add_noise(sample: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Add random numbers to a sample."""
    return sample | {"noise": rng.integers(0, 1000, 4)}


def double(batch: dict[str, Any]) -> dict[str, Any]:
    """Add a feature to a batch."""
    return batch | {"double": batch["id"] * 2}


def shift_pixels(sample: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """Add a random number to every level, modulo 256."""
    return sample | {"image": sample["image"] + rng.integers(0, 256, dtype=np.uint8)}


def open_photos(folder: Path) -> rm.Dataset:
    """Return a dataset of 28 JPEG images with labels, in two shards."""
    path = folder / "photos"
    if not path.exists():
        files = read_images(COLOR_JPEGS) * 4
        examples = ({"image": file, "label": number, "name": f"{number}"} for number, file in enumerate(files))
        rm.pack(examples, path / "part", format="tfrecord", shards=2)
    return rm.open(path)


def make_pipelines(folder: Path) -> dict[str, rm.Dataset]:
    """Return pipelines of each kind of stage."""
    numbers, seven = open_numbers(folder, 100), open_numbers(folder, 7)
    image = rm.Image(crop=rm.RandomResizedCrop(24), flip=True, color=[rm.ColorJitter(0.3)], mean=0.5)
    return {
        "plain": numbers.batch(8),
        "samples": numbers.shuffle(seed=3),
        "shuffle": numbers.shuffle(seed=3).batch(8),
        "block": numbers.shuffle(seed=3, block=8).batch(8, last="drop"),
        "window": numbers.shuffle(seed=3, window=9).batch(8, last="pad"),
        "wrap": numbers.shuffle(seed=3).batch(8, last="wrap"),
        "cuts": numbers.shuffle(seed=3).take(70).skip(5).batch(8).skip(1).take(7),
        "repeat": numbers.shuffle(seed=3).repeat(2).batch(8),
        "endless": numbers.shuffle(seed=3).take(21).repeat().batch(8),
        "map": numbers.shuffle(seed=3).map(add_noise, rng=True).batch(8).map(double),
        "map_seed": numbers.map(add_noise, rng=True, seed=9).batch(8),
        "filter": numbers.shuffle(seed=3).filter(is_in_third).batch(4),
        "filter_map": numbers.shuffle(seed=3).map(add_noise, rng=True).filter(is_in_third).batch(4, last="drop"),
        "filter_repeat": numbers.shuffle(seed=3).repeat().filter(is_in_third).batch(4),
        "mix": rm.mix([numbers.shuffle(seed=3), seven.shuffle(seed=4)], [3, 1], num_samples=120).batch(8),
        "mix_filter": rm.mix([numbers.shuffle(seed=3), seven], [3, 1], num_samples=120).filter(is_in_third).batch(4),
        "photos": open_photos(folder).shuffle(seed=3).decode(image=image).batch(5),
        "photos_text": open_photos(folder).shuffle(seed=3).decode(image=image, name=rm.Text(), seed=8).batch(5),
    }


def _deliver(pipeline: rm.Dataset, **options: Any) -> Any:
    with pipeline.loader(**options) as loader:
        batches = list(loader)
        return [batches, [one.position for one in loader.report.skipped]]


def is_multiple_of_5(sample: dict[str, Any]) -> bool:
    """Return whether the id is a multiple of 5; raise ValueError for 15."""
    if sample["id"] == 15:
        raise ValueError("sample 15 is refused")
    return bool(sample["id"] % 5 == 0)


def _workers(folder: Path) -> Results:
    """Yield an epoch for each number and kind of workers. The results of one pipeline must all be equal."""
    numbers = open_numbers(folder, 100).shuffle(seed=3)
    photos = open_photos(folder).shuffle(seed=3).decode(image=rm.Image(crop=rm.RandomResizedCrop(24), flip=True))
    for kind in ("threads", "processes"):
        pipelines = {
            "map": numbers.map(add_noise, rng=True, workers=kind).batch(8).map(double),
            "filter": numbers.map(add_noise, rng=True, workers=kind).filter(is_multiple_of_5).batch(4),
            "photos": photos.map(shift_pixels, rng=True, workers=kind).batch(5),
        }
        for name, pipeline in pipelines.items():
            for threads in (0, 2) if kind == "processes" else (0, 1, 3):
                yield f"workers/{name}/{kind}={threads}", _deliver(pipeline, threads=threads, on_error="skip")


def _take_from(batches: Iterable[Any], count: int) -> list[Any]:
    return list(islice(batches, count))


def record_states(folder: Path) -> Results:
    """Yield states after some batches, and the batches that follow in the same and in a resumed loader."""
    for name, pipeline in make_pipelines(folder).items():
        for epoch, count in ((0, 0), (0, 3), (2, 4)):
            with pipeline.loader(threads=0) as loader, pipeline.loader(threads=2) as resumed:
                loader.set_epoch(epoch)
                running = iter(loader)
                for _ in range(count):
                    next(running)
                state = loader.state_dict()
                resumed.load_state_dict(json.loads(json.dumps(state)))
                place = f"{name}/epoch={epoch}/batches={count}"
                yield f"numbers/{place}", {key: state[key] for key in NUMBER_KEYS}
                yield f"rest/{place}", _take_from(running, 4)
                yield f"resumed/{place}", _take_from(iter(resumed), 4)
        yield f"text/{name}", {key: state[key] for key in state if key not in NUMBER_KEYS}
        with pipeline.loader(threads=0) as loader:
            for _ in range(2):
                _take_from(loader, 5)
            yield f"after_two_epochs/{name}", {key: loader.state_dict()[key] for key in NUMBER_KEYS}
    yield from _workers(folder)
    for rank in range(2):
        pipeline = make_pipelines(folder)["shuffle"].shard(rank, 2)
        with pipeline.loader(threads=0) as loader:
            batches = _take_from(loader, 2)
            yield f"rank={rank}", [batches, {key: loader.state_dict()[key] for key in NUMBER_KEYS}]
