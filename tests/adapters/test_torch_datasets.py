"""Data sets in PyTorch's own DataLoader: by position and as a stream, in any number of workers and ranks."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import pytest

import recordmill as rm
from tests.adapters.conftest import QUIET, same
from tests.adapters.digits import BATCH, FAMILIES, NUM_BATCHES, NUM_SAMPLES, batches, samples

pytestmark = [pytest.mark.deep, *QUIET]
SPAWNED = {"num_workers": 2, "multiprocessing_context": "spawn"}
WORKERS = [{"num_workers": 0}] + [{"num_workers": count, "multiprocessing_context": "fork"} for count in (1, 2, 4)]
# Every number of workers for one family, one number for each of the others; starting processes takes its time.
PAIRS = [("tfrecord", options) for options in WORKERS] + [(family, WORKERS[1]) for family in FAMILIES[1:]]


def workers_named(options: dict[str, Any]) -> str:
    return f"{options['num_workers']} {options.get('multiprocessing_context', '')}".strip()


def loaded(dataset: Any, **options: Any) -> Any:
    from torch.utils.data import DataLoader

    return DataLoader(dataset, **options)


class Counting:
    """A data set that counts how often it is read."""

    is_sharded = False

    def __init__(self, dataset: rm.Dataset) -> None:
        self.dataset, self.reads = dataset, 0

    def __len__(self) -> int:
        return len(self.dataset)

    def fetch(self, positions: Any, epoch: int = 0) -> Any:
        self.reads += 1
        return self.dataset.fetch(positions, epoch=epoch)


def test_map_dataset_when_a_loader_asks_for_a_batch_then_reads_once(squares: Path) -> None:
    counting = Counting(samples(squares, "tfrecord"))
    got = list(loaded(rm.torch.MapDataset(counting), batch_size=BATCH))
    assert counting.reads == len(got) == NUM_BATCHES + 1
    assert same(got[0], counting.dataset.batch(BATCH)[0]) and str(got[0]["image"].dtype) == "torch.float32"


@pytest.mark.parametrize("family, options", PAIRS)
def test_map_dataset_when_sampled_by_workers_then_gives_what_the_dataset_has(
    family: str, options: dict[str, Any], squares: Path
) -> None:
    dataset = samples(squares, family)
    order = list(range(NUM_SAMPLES - 1, -1, -2))
    got = list(loaded(rm.torch.MapDataset(dataset), sampler=order, batch_size=20, **options))
    assert [len(batch["label"]) for batch in got] == [20, 20, 5]
    expected = dataset.fetch(order)
    for name in ("image", "label"):
        assert same([row for batch in got for row in batch[name]], [sample[name] for sample in expected])


def test_map_dataset_when_pickled_then_reads_the_same(squares: Path) -> None:
    dataset = rm.torch.MapDataset(samples(squares, "ofrecord"))
    dataset.set_epoch(3)
    copy = pickle.loads(pickle.dumps(dataset))
    assert copy.epoch == 3 and same(copy[-1], dataset[NUM_SAMPLES - 1])
    with pytest.raises(IndexError):
        copy[NUM_SAMPLES]


@pytest.mark.parametrize("kind", ["MapDataset", "IterableDataset"])
@pytest.mark.parametrize("options", [WORKERS[2], SPAWNED], ids=workers_named)
def test_dataset_when_the_epoch_is_set_then_persistent_workers_see_it(
    options: dict[str, Any], kind: str, squares: Path
) -> None:
    pipeline = batches(squares, "recordio")
    dataset = getattr(rm.torch, kind)(pipeline)
    loader = loaded(dataset, batch_size=None, persistent_workers=True, **options)
    for epoch in (0, 3, 1):
        dataset.set_epoch(epoch)
        assert same(list(loader), pipeline.fetch(range(NUM_BATCHES), epoch=epoch))
    with pytest.raises(ValueError, match="an epoch is a whole number"):
        dataset.set_epoch(-1)


@pytest.mark.parametrize("family, options", PAIRS)
def test_iterable_dataset_when_divided_among_workers_then_streams_the_same_batches(
    family: str, options: dict[str, Any], squares: Path
) -> None:
    from torch.utils.data import IterableDataset

    pipeline = batches(squares, family)
    dataset = rm.torch.IterableDataset(pipeline)
    assert isinstance(dataset, IterableDataset)
    loader = loaded(dataset, batch_size=None, **options)
    assert len(loader) == len(dataset) == NUM_BATCHES
    for epoch in (0, 0, 4):
        dataset.set_epoch(epoch)
        assert same(list(loader), pipeline.fetch(range(NUM_BATCHES), epoch=epoch))


@pytest.mark.parametrize("options", WORKERS[:2], ids=workers_named)
@pytest.mark.parametrize("world_size", [2, 4, 8])
def test_iterable_dataset_when_divided_among_ranks_then_they_share_each_global_batch(
    world_size: int, options: dict[str, Any], squares: Path
) -> None:
    part = samples(squares, "tfrecord").batch(BATCH // world_size, last="drop")
    ranks = [rm.torch.IterableDataset(part, rank=rank, world_size=world_size) for rank in range(world_size)]
    streams = [list(loaded(dataset, batch_size=None, **options)) for dataset in ranks]
    assert {len(stream) for stream in streams} == {NUM_BATCHES}
    joined = [[row for batch in step for row in batch["image"]] for step in zip(*streams, strict=True)]
    assert same(joined, [list(batch["image"]) for batch in batches(squares, "tfrecord")])


def test_iterable_dataset_when_pickled_then_streams_the_same(squares: Path) -> None:
    dataset = rm.torch.IterableDataset(batches(squares, "tfrecord"), rank=1, world_size=2)
    dataset.set_epoch(2)
    copy = pickle.loads(pickle.dumps(dataset))
    assert repr(copy) == repr(dataset) and copy.epoch == 2 and same(list(copy), list(dataset))


def test_iterable_dataset_when_a_worker_fails_then_the_error_reaches_the_caller(tmp_path: Path, squares: Path) -> None:
    with rm.ShardWriter(tmp_path / "bad", format="tfrecord") as writer:
        for number in range(40):
            writer.write({"image": b"no image" if number == 33 else b"", "label": number})
    dataset = rm.torch.IterableDataset(rm.open(tmp_path).decode(image=rm.Image()).batch(8))
    with pytest.raises(rm.DecodeError, match="image"):
        list(loaded(dataset, batch_size=None, num_workers=2, multiprocessing_context="fork"))


@pytest.mark.parametrize("kind", ["MapDataset", "IterableDataset"])
def test_batches_when_a_dataloader_would_stack_them_then_there_is_a_warning(kind: str, squares: Path) -> None:
    import torch

    def joined(rows: list[Any]) -> Any:
        return torch.cat([row["label"] for row in rows])

    dataset = getattr(rm.torch, kind)(batches(squares, "tfrecord"))
    with pytest.warns(UserWarning, match=r"batches of batches: what has shape \(16, ...\).* batch_size=None"):
        assert next(iter(loaded(dataset)))["label"].shape == (1, BATCH)
    whole = getattr(rm.torch, kind)(batches(squares, "tfrecord"))
    assert next(iter(loaded(whole, batch_size=2, collate_fn=joined))).shape == (2 * BATCH,)
    assert next(iter(loaded(whole, batch_size=None)))["label"].shape == (BATCH,)
    alone = getattr(rm.torch, kind)(samples(squares, "tfrecord"))
    assert next(iter(loaded(alone, batch_size=2)))["label"].shape == (2,)


def test_epoch_when_it_begins_again_in_the_same_order_then_there_is_a_warning(squares: Path) -> None:
    def run() -> None:
        for _ in loaded(dataset, batch_size=None):
            pass

    dataset = rm.torch.IterableDataset(batches(squares, "tfrecord"))
    next(iter(loaded(dataset, batch_size=None)))  # a look at the first batch is no epoch
    run()
    with pytest.warns(UserWarning, match=r"epoch 0 begins again, in the same order: call set_epoch"):
        run()
    dataset.set_epoch(1)
    counted = iter(dataset)
    for _ in range(len(dataset)):  # and nothing behind them, as trainers do
        next(counted)
    with pytest.warns(UserWarning, match="epoch 1 begins again"):
        run()
    dataset.set_epoch(2)
    run()
    dataset = rm.torch.IterableDataset(rm.open(squares / "tfrecord").batch(BATCH))
    run()
    run()


def test_map_dataset_when_asked_for_a_list_then_the_error_leads_on(squares: Path) -> None:
    from torch.utils.data import BatchSampler

    dataset = rm.torch.MapDataset(samples(squares, "tfrecord"))
    lists = BatchSampler(range(NUM_SAMPLES), BATCH, drop_last=True)
    with pytest.raises(TypeError, match="batch_sampler="):
        next(iter(loaded(dataset, sampler=lists, batch_size=None)))
    assert next(iter(loaded(dataset, batch_sampler=lists)))["label"].shape == (BATCH,)


@pytest.mark.parametrize("kind", ["loader", "IterableDataset"])
def test_pipeline_when_not_divided_among_ranks_then_there_is_a_warning(
    kind: str, squares: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch.distributed

    for name, answer in (("is_initialized", True), ("get_world_size", 2), ("get_rank", 1)):
        monkeypatch.setattr(torch.distributed, name, lambda answer=answer: answer)
    made, pipeline = getattr(rm.torch, kind), samples(squares, "tfrecord")
    with pytest.warns(UserWarning, match=r"each of the 2 ranks .* gets all the batches: put shard\(\)") as caught:
        whole = made(pipeline.batch(4))
    assert caught[0].filename == __file__ and len(whole) == 23
    assert len(made(pipeline.shard().batch(4))) == 12
    assert len(made(pipeline.batch(4), rank=0, world_size=1)) == 23


def test_map_dataset_when_added_to_another_then_is_a_data_set_of_pytorch(squares: Path) -> None:
    from torch.utils.data import Dataset

    dataset = rm.torch.MapDataset(samples(squares, "tfrecord"))
    assert isinstance(dataset, Dataset) and len(dataset + dataset) == 2 * NUM_SAMPLES
