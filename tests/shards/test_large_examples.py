"""Examples of large records, which several threads read: the same as by columns, and the same errors."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordmill as rm
from recordmill.schema import Feature
from recordmill.shards.collection import ShardCollection

NUM_RECORDS = 48
RECORD_BYTES = 300_000


def data(number: int) -> bytes:
    """Contents of one record: some are empty, none are alike."""
    return b"" if number % 11 == 5 else np.random.default_rng(number).bytes(RECORD_BYTES + number)


def example(number: int) -> dict[str, Any]:
    """One record with a feature of each form."""
    parts = [b"part %d" % part for part in range(number // 3 % 3)]
    return {"data": data(number), "id": number, "pair": [data(number)[:5], b"two"], "parts": parts}


@pytest.fixture(params=["tfrecord", "ofrecord", "tfrecord.gz"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Large records in three shards."""
    name, _, compression = request.param.partition(".")
    options: dict[str, Any] = {"compression": "gzip"} if compression else {}
    with rm.ShardWriter(tmp_path / "large", format=name, shards=3, **options) as writer:
        for number in range(NUM_RECORDS):
            writer.write(example(number))
    return tmp_path


def check(found: dict[str, Any], number: int) -> None:
    """Hold one example against what was written."""
    expected = example(number)
    assert found["data"] == expected["data"] and type(found["data"]) is bytes
    assert int(found["id"]) == number
    assert [*found["pair"]] == expected["pair"] and [*found["parts"]] == expected["parts"]


def numbers_of(dataset: Any) -> list[int]:
    """Which record each position is; shards are dealt out in turn."""
    return np.concatenate([part["id"].reshape(-1) for part in [dataset.to_numpy()]]).tolist()


def test_fetch_returns_large_records_by_position(folder: Path) -> None:
    dataset = rm.open(folder)
    numbers = numbers_of(dataset)
    assert sorted(numbers) == list(range(NUM_RECORDS))
    order = [*range(NUM_RECORDS - 1, -1, -2), *range(0, NUM_RECORDS, 2), -1, 7, 7]
    found = dataset.fetch(order)
    assert len(found) == len(order)
    for position, one in zip(order, found, strict=True):
        check(one, numbers[position])
    for position in (0, 5, -3):
        check(dataset[position], numbers[position])
    assert dataset.fetch([]) == []
    with pytest.raises(IndexError):
        dataset.fetch([*range(NUM_RECORDS), NUM_RECORDS])


def test_fetch_returns_row_for_feature_of_shape_one(folder: Path) -> None:
    dataset = rm.open(folder, schema={"data": Feature("bytes", (1,)), "id": Feature("int64", (1,))})
    one = dataset.fetch(range(NUM_RECORDS))[3]
    assert [*one["data"]] == [data(int(one["id"][0]))] and one["id"].shape == (1,)


def test_fetch_is_thread_safe(folder: Path) -> None:
    dataset = rm.open(folder)
    numbers, wrong = numbers_of(dataset), []

    def fetch(seed: int) -> None:
        order = np.random.default_rng(seed).permutation(NUM_RECORDS).tolist()
        for position, one in zip(order, dataset.fetch(order), strict=True):
            if one["data"] != data(numbers[position]):
                wrong.append(position)

    threads = [threading.Thread(target=fetch, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.parametrize("position", [0, 9, 30, NUM_RECORDS - 1])
def test_fetch_names_first_damaged_record_in_given_order(tmp_path: Path, position: int) -> None:
    with rm.ShardWriter(tmp_path / "large", format="tfrecord", shards=1) as writer:
        for number in range(NUM_RECORDS):
            writer.write({"data": np.random.default_rng(number).bytes(RECORD_BYTES)})
    found = ShardCollection(tmp_path)
    path = Path(found.paths[0])
    places = [found.where(one) for one in (position, (position + 20) % NUM_RECORDS)]
    contents = bytearray(path.read_bytes())
    for place in places:
        contents[place.offset + 5000] ^= 1
    path.write_bytes(contents)
    found = ShardCollection(tmp_path, schema=found.schema)
    order = [one for one in range(NUM_RECORDS) if one not in (position, places[1].record)]
    order.insert(25, position)
    order.append(places[1].record)
    with pytest.raises(rm.ChecksumError) as caught:
        found.__getitems__(order)
    assert (caught.value.shard, caught.value.record, caught.value.offset) == places[0]
    assert len(found.__getitems__([one for one in order if one not in (position, places[1].record)])) == len(order) - 2
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("recordmill-read")]
