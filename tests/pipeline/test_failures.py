"""Samples that fail: errors that name the record, skipping, substitutes and limits."""

from __future__ import annotations

import json
import pickle
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import recordmill as rm
from recordmill.pipeline.stages.map import Map
from tests.concurrency.tasks import UnpicklableError
from tests.images import encode_image
from tests.pipeline.sources import ids, numbers


def picky(sample: dict[str, Any]) -> dict[str, Any]:
    if sample["id"] % 10 == 3:
        raise KeyError("three")
    return sample


def greedy(sample: dict[str, Any]) -> dict[str, Any]:
    sample["id"][...] = 0
    return sample


def wrong(sample: dict[str, Any]) -> dict[str, Any]:
    return {"x": np.zeros((2, 3) if sample["id"] == 5 else (2, 3, 1))}


def lost(sample: dict[str, Any]) -> dict[str, Any]:
    return {"x" if sample["id"] < 5 else "y": 1}


def nothing(sample: dict[str, Any]) -> Any:
    return None


@pytest.mark.parametrize("threads", [0, 2])
def test_map_error_names_function_stage_and_record(threads: int) -> None:
    with pytest.raises(rm.MapError) as caught:
        list(numbers(50).map(picky).batch(4).loader(threads=threads))
    error = pickle.loads(pickle.dumps(caught.value))
    assert (error.stage, error.function, error.position) == ("map(picky)", "picky", 3)
    assert (error.shard, error.record, error.offset) == ("numbers-0", 3, 300)
    assert isinstance(error.cause, KeyError)
    assert "picky raised KeyError" in str(error)


def foreign(sample: dict[str, Any]) -> dict[str, Any]:
    raise UnpicklableError(1, 2)


@pytest.mark.parametrize("workers", ["threads", "processes"])
def test_map_error_with_unpicklable_cause_keeps_record(workers: Any) -> None:
    with pytest.raises(rm.MapError) as caught:
        next(iter(numbers(9).map(foreign, workers=workers).batch(3).loader(threads=1)))
    error = pickle.loads(pickle.dumps(caught.value))
    assert (error.stage, error.position, error.shard, error.record) == (
        repr(Map(foreign, workers=workers)),
        0,
        "numbers-0",
        0,
    )
    assert "UnpicklableError: 1 and 2" in str(error)
    assert "1 and 2" in str(error.cause)
    assert caught.value.__cause__ is not None


@pytest.mark.parametrize(
    "function, words",
    [
        (wrong, "'x' in the form of the first result, expected float64"),
        (lost, "the same features, expected x, got y"),
        (nothing, "NoneType, expected a dict"),
    ],
)
def test_map_refuses_result_that_differs_from_first(function: Any, words: str) -> None:
    with pytest.raises(rm.MapError, match=words):
        list(numbers(20).map(function).batch(4).loader())


@pytest.mark.parametrize(
    "function, words",
    [
        (lambda batch: batch if batch["id"][0] < 8 else {}, "the same features, expected id, got none"),
        (
            lambda batch: {"x": batch["id"].astype("u1" if batch["id"][0] < 8 else "f4")},
            "'x' in the form of the first result, expected uint8, got float32",
        ),
        (lambda batch: [batch], "list, expected a dict"),
    ],
)
def test_map_refuses_batch_that_differs_from_first(function: Any, words: str) -> None:
    with pytest.raises(rm.MapError, match=words) as caught:
        list(numbers(20).batch(4).map(function).loader())
    assert caught.value.stage == "map(<lambda>)"


def test_map_accepts_batches_of_different_sizes() -> None:
    def free(batch: dict[str, Any]) -> dict[str, Any]:
        even = [1, 2] if batch["id"][0] % 8 else [1, 1]
        return {"z": [np.zeros(size) for size in even] if batch["id"][0] % 16 else np.zeros((2, 1))}

    assert len(list(numbers(64).batch(4).map(free).loader())) == 16
    sizes = [batch["y"].shape for batch in numbers(6).batch(4).map(lambda batch: {"y": np.zeros(batch["id"][-1])})]
    assert sizes == [(3,), (5,)]


def test_map_refuses_modified_input_with_hint() -> None:
    dataset = numbers(20).map(lambda sample: {"id": np.full(2, sample["id"])})
    with pytest.raises(rm.MapError, match="greedy modifies its input") as caught:
        list(dataset.map(greedy).batch(4).loader())
    assert "copy" in (caught.value.hint or "")


def test_filter_refuses_ambiguous_answer() -> None:
    with pytest.raises(rm.MapError, match="cannot be converted to bool"):
        list(numbers(9).filter(lambda sample: np.zeros(3)).batch(2).loader())


def slow(sample: dict[str, Any]) -> dict[str, Any]:
    time.sleep(2 if sample["id"] == 9 else 0)
    return sample


def test_map_timeout_raises_error_in_time() -> None:
    begun = time.monotonic()
    with pytest.raises(rm.MapError, match="slow hangs") as caught:
        list(numbers(20).map(slow, timeout=0.1).batch(4).loader(threads=2))
    assert caught.value.position == 9
    assert time.monotonic() - begun < 30


@pytest.mark.parametrize("filtered", [False, True])
def test_map_error_does_not_wait_for_other_workers(filtered: bool) -> None:
    busy, caught_it, ended = threading.Event(), threading.Event(), list[bool]()

    def stuck(sample: dict[str, Any]) -> dict[str, Any]:
        if sample["id"] == 0:
            busy.wait(30)
            raise KeyError("zero")
        busy.set()
        ended.append(caught_it.wait(4))
        return sample

    dataset = numbers(40).filter(lambda sample: True) if filtered else numbers(40)
    with pytest.raises(rm.MapError):
        next(iter(dataset.map(stuck).batch(1).loader(threads=2)))
    caught_it.set()
    for thread in [one for one in threading.enumerate() if one.name == "recordmill-load"]:
        thread.join()
    assert ended
    assert all(ended)


def test_skipped_samples_are_missing_and_reported() -> None:
    loader = numbers(40, 7, 25).map(picky).batch(10).loader(on_error="skip")
    batches = list(loader)
    assert ids(batches) == [number for number in range(40) if number not in (3, 7, 13, 23, 25, 33)]
    assert [len(batch["id"]) for batch in batches] == [8, 9, 8, 9]
    entries = [entry.to_json() for entry in loader.report.skipped]
    assert sorted(entry["position"] for entry in entries) == [3, 7, 13, 23, 25, 33]
    assert all(entry["shard"].startswith("numbers-") and entry["record"] is not None for entry in entries)
    assert json.dumps(entries)


def test_substituted_samples_fill_batches_reproducibly() -> None:
    def run(threads: int) -> list[int]:
        return ids(
            numbers(40, 7, 25).shuffle(seed=1).map(picky).batch(10).loader(on_error="substitute", threads=threads)
        )

    found, sound = run(0), ids(numbers(40).shuffle(seed=1))
    bad = {3, 7, 13, 23, 25, 33}
    assert len(found) == 40
    assert not bad & set(found)
    assert all(one == other for one, other in zip(found, sound, strict=True) if other not in bad)
    assert run(1) == run(3) == found


def test_substitute_raises_error_if_all_samples_fail() -> None:
    for policy in ("skip", "substitute"):
        with pytest.raises(rm.PayloadError):
            list(numbers(8, *range(8)).batch(4).loader(on_error=policy))


@pytest.mark.parametrize("threads", [0, 1, 3])
@pytest.mark.parametrize("filtered", [False, True])
@pytest.mark.parametrize("size", [1, 2])
def test_batch_whose_samples_all_fail_is_skipped(size: int, filtered: bool, threads: int) -> None:
    samples = numbers(41, 20, 21, 40)
    dataset = (samples.filter(lambda sample: True) if filtered else samples).map(picky).batch(size)
    bad = {3, 13, 20, 21, 23, 33, 40}
    loader = dataset.loader(on_error="skip", threads=threads)
    for _ in range(2):
        batches = list(loader)
        assert ids(batches) == [number for number in range(41) if number not in bad]
        assert all(len(batch["id"]) for batch in batches)
    assert len(loader.report.skipped) == 2 * len(bad)
    run = iter(loader)
    first = [next(run) for _ in range(12)]
    resumed = dataset.loader(on_error="skip", threads=2)
    resumed.load_state_dict(loader.state_dict())
    assert ids(first) + ids(list(resumed)) == ids(batches)


def test_empty_worker_does_not_stop_others() -> None:
    shares = [numbers(4, 1, 3).batch(1).loader(on_error="skip", workers=(index, 2)) for index in range(2)]
    assert [ids(list(share)) for share in shares] == [[0, 2], []]
    with pytest.raises(rm.PayloadError):
        list(numbers(4, *range(4)).batch(1).loader(on_error="skip"))


def test_empty_batch_is_error_with_several_ranks() -> None:
    loader = numbers(40, 20, 21).batch(2).loader(on_error="skip", rank=0, world_size=2)
    with pytest.raises(rm.PayloadError) as caught:
        list(loader)
    assert caught.value.__notes__ == ["all 2 samples of a batch failed, and every rank needs a batch"]


@pytest.mark.parametrize("size, delivered", [(1, 30), (8, 4), (70, 0)])
def test_too_many_consecutive_failures_raise_error(size: int, delivered: int) -> None:
    found: list[Any] = []
    loader = numbers(300, *range(30, 300)).batch(size).skip(int(size == 70)).loader(on_error="skip", threads=0)
    with pytest.raises(rm.PayloadError):
        found.extend(loader)
    assert len(found) == delivered
    assert len(ids(list(numbers(300, *range(30, 200)).loader(on_error="skip")))) == 130


@pytest.mark.parametrize("limit, count", [(3, 4), (0, 1), (0.02, 3)])
def test_max_errors_limits_failed_samples(limit: float, count: int) -> None:
    loader = numbers(400).map(picky).batch(10).loader(on_error="skip", max_errors=limit)
    with pytest.raises(rm.LimitError, match="too many"):
        list(loader)
    assert len(loader.report.skipped) == count
    assert isinstance(loader.report.skipped[-1].error, rm.MapError)


def test_decode_error_names_record(tmp_path: Path) -> None:
    good = encode_image(Image.fromarray(np.full((8, 8, 3), 9, np.uint8)))
    with rm.ShardWriter(tmp_path / "part", shards=2) as writer:
        for number in range(12):
            writer.write({"image": good[:30] if number == 7 else good, "id": number})
    dataset = rm.open(tmp_path).shuffle(seed=1).decode(image=rm.Image()).batch(4)
    with pytest.raises(rm.DecodeError) as caught:
        list(dataset.loader())
    error = caught.value
    assert error.feature == "image"
    assert error.shard is not None
    assert error.record is not None
    reader = rm.ShardReader(error.shard)
    assert good[:30] in reader[error.record]
    assert error.offset == reader.index.offsets[error.record]
    skipping = dataset.loader(on_error="skip")
    assert sorted(ids(skipping)) == [number for number in range(12) if number != 7]
    assert [entry.error.record for entry in skipping.report.skipped] == [error.record]


def test_replaced_shard_raises_error_that_names_it(tmp_path: Path) -> None:
    with rm.ShardWriter(tmp_path / "part", shards=1) as writer:
        for number in range(500):
            writer.write({"id": number, "pad": bytes(5000)})
    dataset = rm.open(tmp_path)
    batches = iter(dataset.batch(4).loader(threads=1, prefetch=0, on_error="skip"))
    next(batches)
    path = next(tmp_path.glob("*.tfrecord"))
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 3])
    with pytest.raises(rm.ShardChangedError):
        list(batches)


def test_deleted_shard_raises_error_that_names_it(tmp_path: Path) -> None:
    with rm.ShardWriter(tmp_path / "part", shards=3) as writer:
        for number in range(300):
            writer.write({"id": number, "pad": bytes(5000)})
    dataset = rm.open(tmp_path)
    list(dataset.batch(100).loader())
    path = sorted(tmp_path.glob("*.tfrecord"))[1]
    path.unlink()
    with pytest.raises(rm.ShardChangedError) as caught:
        list(dataset.shuffle(seed=1).batch(100).loader())
    assert caught.value.shard == str(path)
