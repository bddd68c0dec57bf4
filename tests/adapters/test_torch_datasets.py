"""Datasets in PyTorch's DataLoader, by position and as a stream, with any number of workers and ranks."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

import recordmill as rm
from tests.adapters.conftest import IGNORED_WARNINGS, equal
from tests.adapters.squares import BATCH, FAMILIES, NUM_BATCHES, NUM_SAMPLES, batches, samples

pytestmark = [pytest.mark.deep, *IGNORED_WARNINGS]
SPAWNED = {"num_workers": 2, "multiprocessing_context": "spawn"}
WORKERS = [{"num_workers": 0}] + [{"num_workers": count, "multiprocessing_context": "fork"} for count in (1, 2, 4)]
# Several numbers of workers for one family and a single one for the others, because starting processes is slow.
PAIRS = [("tfrecord", options) for options in WORKERS] + [(family, WORKERS[1]) for family in FAMILIES[1:]]


def describe_workers(options: dict[str, Any]) -> str:
    return f"{options['num_workers']} {options.get('multiprocessing_context', '')}".strip()


def create_loader(dataset: Any, **options: Any) -> Any:
    from torch.utils.data import DataLoader

    return DataLoader(dataset, **options)


class CountingDataset:
    """Counts how often a dataset is read."""

    is_sharded = False

    def __init__(self, dataset: rm.Dataset) -> None:
        self.dataset, self.reads = dataset, 0

    def __len__(self) -> int:
        return len(self.dataset)

    def fetch(self, positions: Any, epoch: int = 0) -> Any:
        self.reads += 1
        return self.dataset.fetch(positions, epoch=epoch)


def test_map_dataset_reads_batch_at_once(squares: Path) -> None:
    counting = CountingDataset(samples(squares, "tfrecord"))
    got = list(create_loader(rm.torch.MapDataset(counting), batch_size=BATCH))
    assert counting.reads == len(got) == NUM_BATCHES + 1
    assert equal(got[0], counting.dataset.batch(BATCH)[0]) and str(got[0]["image"].dtype) == "torch.float32"


@pytest.mark.parametrize("family, options", PAIRS)
def test_map_dataset_returns_samples_in_order_of_sampler(family: str, options: dict[str, Any], squares: Path) -> None:
    dataset = samples(squares, family)
    order = list(range(NUM_SAMPLES - 1, -1, -2))
    got = list(create_loader(rm.torch.MapDataset(dataset), sampler=order, batch_size=20, **options))
    assert [len(batch["label"]) for batch in got] == [20, 20, 5]
    expected = dataset.fetch(order)
    for name in ("image", "label"):
        assert equal([row for batch in got for row in batch[name]], [sample[name] for sample in expected])


def test_pickled_map_dataset_returns_same_samples(squares: Path) -> None:
    dataset = rm.torch.MapDataset(samples(squares, "ofrecord"))
    dataset.set_epoch(3)
    copy = pickle.loads(pickle.dumps(dataset))
    assert copy.epoch == 3 and equal(copy[-1], dataset[NUM_SAMPLES - 1])
    with pytest.raises(IndexError):
        copy[NUM_SAMPLES]


@pytest.mark.parametrize("kind", ["MapDataset", "IterableDataset"])
@pytest.mark.parametrize("options", [WORKERS[2], SPAWNED], ids=describe_workers)
def test_set_epoch_reaches_persistent_workers(options: dict[str, Any], kind: str, squares: Path) -> None:
    pipeline = batches(squares, "recordio")
    dataset = getattr(rm.torch, kind)(pipeline)
    loader = create_loader(dataset, batch_size=None, persistent_workers=True, **options)
    for epoch in (0, 3, 1):
        dataset.set_epoch(epoch)
        assert equal(list(loader), pipeline.fetch(range(NUM_BATCHES), epoch=epoch))
    with pytest.raises(ValueError, match="epoch must be an integer"):
        dataset.set_epoch(-1)


@pytest.mark.parametrize("family, options", PAIRS)
def test_iterable_dataset_returns_same_batches_for_any_number_of_workers(
    family: str, options: dict[str, Any], squares: Path
) -> None:
    from torch.utils.data import IterableDataset

    pipeline = batches(squares, family)
    dataset = rm.torch.IterableDataset(pipeline)
    assert isinstance(dataset, IterableDataset)
    loader = create_loader(dataset, batch_size=None, **options)
    assert len(loader) == len(dataset) == NUM_BATCHES
    for epoch in (0, 0, 4):
        dataset.set_epoch(epoch)
        assert equal(list(loader), pipeline.fetch(range(NUM_BATCHES), epoch=epoch))


@pytest.mark.parametrize("options", WORKERS[:2], ids=describe_workers)
@pytest.mark.parametrize("world_size", [2, 4, 8])
def test_iterable_dataset_divides_global_batches_among_ranks(
    world_size: int, options: dict[str, Any], squares: Path
) -> None:
    part = samples(squares, "tfrecord").batch(BATCH // world_size, last="drop")
    ranks = [rm.torch.IterableDataset(part, rank=rank, world_size=world_size) for rank in range(world_size)]
    streams = [list(create_loader(dataset, batch_size=None, **options)) for dataset in ranks]
    assert {len(stream) for stream in streams} == {NUM_BATCHES}
    joined = [[row for batch in step for row in batch["image"]] for step in zip(*streams, strict=True)]
    assert equal(joined, [list(batch["image"]) for batch in batches(squares, "tfrecord")])


def test_pickled_iterable_dataset_returns_same_batches(squares: Path) -> None:
    dataset = rm.torch.IterableDataset(batches(squares, "tfrecord"), rank=1, world_size=2)
    dataset.set_epoch(2)
    copy = pickle.loads(pickle.dumps(dataset))
    assert repr(copy) == repr(dataset) and copy.epoch == 2 and equal(list(copy), list(dataset))


def test_iterable_dataset_raises_worker_error_in_caller(tmp_path: Path, squares: Path) -> None:
    with rm.ShardWriter(tmp_path / "bad", format="tfrecord") as writer:
        for number in range(40):
            writer.write({"image": b"no image" if number == 33 else b"", "label": number})
    dataset = rm.torch.IterableDataset(rm.open(tmp_path).decode(image=rm.Image()).batch(8))
    with pytest.raises(rm.DecodeError, match="image"):
        list(create_loader(dataset, batch_size=None, num_workers=2, multiprocessing_context="fork"))


@pytest.mark.parametrize("kind", ["MapDataset", "IterableDataset"])
def test_dataset_warns_if_dataloader_stacks_batches(kind: str, squares: Path) -> None:
    import torch

    def joined(rows: list[Any]) -> Any:
        return torch.cat([row["label"] for row in rows])

    dataset = getattr(rm.torch, kind)(batches(squares, "tfrecord"))
    with pytest.warns(UserWarning, match=r"stacks batches again: features of shape \(16, ...\).* batch_size=None"):
        assert next(iter(create_loader(dataset)))["label"].shape == (1, BATCH)
    whole = getattr(rm.torch, kind)(batches(squares, "tfrecord"))
    assert next(iter(create_loader(whole, batch_size=2, collate_fn=joined))).shape == (2 * BATCH,)
    assert next(iter(create_loader(whole, batch_size=None)))["label"].shape == (BATCH,)
    alone = getattr(rm.torch, kind)(samples(squares, "tfrecord"))
    assert next(iter(create_loader(alone, batch_size=2)))["label"].shape == (2,)


def test_iterable_dataset_warns_about_repeated_epoch(squares: Path) -> None:
    def run() -> None:
        for _ in create_loader(dataset, batch_size=None):
            pass

    dataset = rm.torch.IterableDataset(batches(squares, "tfrecord"))
    next(iter(create_loader(dataset, batch_size=None)))  # reading only the first batch does not count as an epoch
    run()
    with pytest.warns(UserWarning, match=r"epoch 0 is repeated in the same order; call set_epoch"):
        run()
    dataset.set_epoch(1)
    iterator = iter(dataset)
    for _ in range(len(dataset)):  # trainers stop after the last batch without asking for another one
        next(iterator)
    with pytest.warns(UserWarning, match="epoch 1 is repeated"):
        run()
    dataset.set_epoch(2)
    run()
    dataset = rm.torch.IterableDataset(rm.open(squares / "tfrecord").batch(BATCH))
    run()
    run()


def test_map_dataset_error_for_list_suggests_batch_sampler(squares: Path) -> None:
    from torch.utils.data import BatchSampler

    dataset = rm.torch.MapDataset(samples(squares, "tfrecord"))
    lists = BatchSampler(range(NUM_SAMPLES), BATCH, drop_last=True)
    with pytest.raises(TypeError, match="batch_sampler="):
        next(iter(create_loader(dataset, sampler=lists, batch_size=None)))
    assert next(iter(create_loader(dataset, batch_sampler=lists)))["label"].shape == (BATCH,)


@pytest.mark.parametrize("kind", ["loader", "IterableDataset"])
def test_pipeline_without_shard_warns_in_distributed_training(
    kind: str, squares: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch.distributed

    for name, answer in (("is_initialized", True), ("get_world_size", 2), ("get_rank", 1)):
        monkeypatch.setattr(torch.distributed, name, lambda answer=answer: answer)
    create, pipeline = getattr(rm.torch, kind), samples(squares, "tfrecord")
    with pytest.warns(UserWarning, match=r"each of the 2 ranks .* loads all batches: add shard\(\)") as caught:
        whole = create(pipeline.batch(4))
    assert caught[0].filename == __file__ and len(whole) == 23
    assert len(create(pipeline.shard().batch(4))) == 12
    assert len(create(pipeline.batch(4), rank=0, world_size=1)) == 23


def test_map_dataset_is_pytorch_dataset(squares: Path) -> None:
    from torch.utils.data import Dataset

    dataset = rm.torch.MapDataset(samples(squares, "tfrecord"))
    assert isinstance(dataset, Dataset) and len(dataset + dataset) == 2 * NUM_SAMPLES
