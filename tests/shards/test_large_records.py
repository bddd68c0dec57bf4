"""Examples of large records and long byte strings: the same values and errors as by columns."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import recordmill as rm
from recordmill.schema import Feature
from recordmill.shards.collection import ShardCollection
from recordmill.testing import image_header
from recordmill.testing.messages import encode_example, encode_features, encode_ofrecord
from recordmill.testing.protobuf_wire import encode_bytes_field
from recordmill.testing.unusual_messages import encode_unusual_example, encode_unusual_ofrecord
from tests.shards.helpers import write_shard

NUM_RECORDS = 48
RECORD_BYTES = 300_000


def make_data(number: int) -> bytes:
    """Return the data of one record; some are empty, the others are all different."""
    return b"" if number % 11 == 5 else np.random.default_rng(number).bytes(RECORD_BYTES + number)


def make_example(number: int) -> dict[str, Any]:
    """Return a record with a feature of each kind of shape."""
    parts = [b"part %d" % part for part in range(number // 3 % 3)]
    return {"data": make_data(number), "id": number, "pair": [make_data(number)[:5], b"two"], "parts": parts}


@pytest.fixture(params=["tfrecord", "ofrecord", "tfrecord.gz"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Write large records to three shards."""
    name, _, compression = request.param.partition(".")
    options: dict[str, Any] = {"compression": "gzip"} if compression else {}
    with rm.ShardWriter(tmp_path / "large", format=name, shards=3, **options) as writer:
        for number in range(NUM_RECORDS):
            writer.write(make_example(number))
    return tmp_path


def check_example(found: dict[str, Any], number: int) -> None:
    """Compare one example with the written one."""
    expected = make_example(number)
    assert found["data"] == expected["data"] and type(found["data"]) is bytes
    assert int(found["id"]) == number
    assert [*found["pair"]] == expected["pair"] and [*found["parts"]] == expected["parts"]


def read_ids(dataset: Any) -> list[int]:
    """Return the id of the record at each position; the writer distributes records over the shards."""
    return np.concatenate([part["id"].reshape(-1) for part in [dataset.to_numpy()]]).tolist()


def test_fetch_returns_large_records_by_position(folder: Path) -> None:
    dataset = rm.open(folder)
    numbers = read_ids(dataset)
    assert sorted(numbers) == list(range(NUM_RECORDS))
    order = [*range(NUM_RECORDS - 1, -1, -2), *range(0, NUM_RECORDS, 2), -1, 7, 7]
    found = dataset.fetch(order)
    assert len(found) == len(order)
    for position, one in zip(order, found, strict=True):
        check_example(one, numbers[position])
    for position in (0, 5, -3):
        check_example(dataset[position], numbers[position])
    assert dataset.fetch([]) == []
    with pytest.raises(IndexError):
        dataset.fetch([*range(NUM_RECORDS), NUM_RECORDS])


def test_fetch_returns_row_for_feature_of_shape_one(folder: Path) -> None:
    dataset = rm.open(folder, schema={"data": Feature("bytes", (1,)), "id": Feature("int64", (1,))})
    one = dataset.fetch(range(NUM_RECORDS))[3]
    assert [*one["data"]] == [make_data(int(one["id"][0]))] and one["id"].shape == (1,)


def test_fetch_is_thread_safe(folder: Path) -> None:
    dataset = rm.open(folder)
    numbers, wrong = read_ids(dataset), []

    def fetch(seed: int) -> None:
        order = np.random.default_rng(seed).permutation(NUM_RECORDS).tolist()
        for position, one in zip(order, dataset.fetch(order), strict=True):
            if one["data"] != make_data(numbers[position]):
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


SCHEMA = {"image": Feature("bytes", ()), "label": Feature("int64", ()), "name": Feature("bytes", ())}
SIZES = (16_383, 16_384, 16_385, 40_000, 2_097_151 - 40, 2_097_152, 70_000, 15, 0)


def features(number: int, size: int) -> dict[str, Any]:
    """Return the features of one record; the long string differs between records."""
    image = bytes([number % 251, 7]) * (size // 2) + b"!" * (size % 2)
    return {
        "name": ("bytes", [b"name %d" % number]),
        "image": ("bytes", [image]),
        "label": ("int64", [number * 1000]),
        "other": ("bytes", [b"o" * (number % 300)]),
    }


def result_or_error(call: Any) -> Any:
    """Return the result of a call, or its error."""
    try:
        return call()
    except rm.RecordmillError as error:
        return type(error), error.parts()


def read_by_columns(dataset: ShardCollection, positions: list[int]) -> list[dict[str, Any]]:
    """Read the records by columns, which always uses the parser."""
    columns = [dataset.columns(range(position, position + 1)) for position in positions]
    return [{name: one[name][0] for name in one} for one in columns]


def check_against_columns(path: Path, count: int) -> None:
    """Compare examples with columns, one by one and all together."""
    dataset = ShardCollection(path, schema=SCHEMA)
    positions = [*range(count)][::-1]
    expected = [result_or_error(lambda at=at: read_by_columns(dataset, [at])) for at in positions]
    assert [result_or_error(lambda at=at: dataset.__getitems__([at])) for at in positions] == expected
    faults = [one for one in expected if isinstance(one, tuple)]
    together = result_or_error(lambda: dataset.__getitems__(positions))
    assert together == (faults[0] if faults else [row for rows in expected for row in rows])


@pytest.mark.parametrize("format_name", ["tfrecord", "ofrecord"])
def test_fetch_returns_strings_of_boundary_lengths(tmp_path: Path, format_name: str) -> None:
    encode = encode_ofrecord if format_name == "ofrecord" else encode_example
    rows = [features(number, size + extra) for number, size in enumerate(SIZES) for extra in (0, 1)]
    orders = [
        dict(sorted(row.items(), key=lambda item, turn=turn: hash((turn, item[0])))) for turn, row in enumerate(rows)
    ]
    path = write_shard(tmp_path, format_name, [encode(row) for row in orders])
    check_against_columns(path, len(rows))
    found = ShardCollection(path, schema=SCHEMA).__getitems__(range(len(rows)))
    assert [one["image"] for one in found] == [row["image"][1][0] for row in rows]


@pytest.mark.parametrize("format_name", ["tfrecord", "ofrecord"])
@pytest.mark.parametrize("seed", range(4))
def test_fetch_parses_unusual_encodings_like_columns(tmp_path: Path, format_name: str, seed: int) -> None:
    rng, odd = Random(seed), encode_unusual_ofrecord if format_name == "ofrecord" else encode_unusual_example
    rows = [odd(features(number, rng.choice((20_000, 40_000))), rng) for number in range(60)]
    check_against_columns(write_shard(tmp_path, format_name, rows), len(rows))


def entry(key: bytes, *pieces: bytes) -> bytes:
    """Encode an entry of the map of features."""
    return encode_bytes_field(1, encode_bytes_field(1, key) + b"".join(pieces))


def strings(*values: bytes) -> bytes:
    """Encode the value of an entry: a list of byte strings."""
    return encode_bytes_field(2, encode_bytes_field(1, b"".join(encode_bytes_field(1, value) for value in values)))


LONG = bytes(range(256)) * 100
FIRST = LONG[:16]
REST = entry(b"label", encode_bytes_field(2, encode_bytes_field(3, encode_bytes_field(1, b"\x05")))) + entry(
    b"name", strings(b"n")
)


@pytest.mark.parametrize(
    "entries",
    [
        entry(b"image", strings(LONG)) + entry(b"image", strings(b"later")),
        entry(b"image", strings(b"sooner")) + entry(b"image", strings(LONG)),
        entry(b"image", strings(FIRST)) + entry(b"image", strings(LONG), encode_bytes_field(1, b"other")),
        entry(b"image", strings(FIRST)) + entry(b"image", strings(LONG), b"\x78\x01"),
        entry(b"image", strings(LONG), strings(b"two")),
        entry(b"image", strings(b"one"), strings(LONG)),
        entry(b"image", strings(LONG, b"two")),
        entry(b"image", strings(LONG), encode_bytes_field(2, encode_bytes_field(3, encode_bytes_field(1, b"\x05")))),
        entry(b"image", encode_bytes_field(2, encode_bytes_field(2, encode_bytes_field(1, LONG)))),
        entry(b"other", strings(LONG)) + entry(b"image", strings(LONG)),
        entry(b"other", strings(LONG)) + entry(b"image", strings(b"short")),
        encode_bytes_field(1, strings(LONG) + encode_bytes_field(1, b"image")),
        encode_bytes_field(1, strings(LONG)),
        encode_bytes_field(9, LONG) + entry(b"image", strings(b"short")),
        entry(b"image\xff", strings(LONG)),
    ],
)
def test_fetch_parses_ambiguous_entries_like_columns(tmp_path: Path, entries: bytes) -> None:
    payloads = [encode_bytes_field(1, order) for order in (entries + REST, REST + entries)]
    check_against_columns(write_shard(tmp_path, "tfrecord", [*payloads, *payloads]), 4)


def test_fetch_returns_default_of_missing_feature(tmp_path: Path) -> None:
    odd = encode_bytes_field(1, entry(b"image", strings(LONG), b"\x78\x01") + REST)
    schema = SCHEMA | {"image": Feature("bytes", (), default=FIRST)}
    dataset = ShardCollection(write_shard(tmp_path, "tfrecord", [odd] * 3), schema=schema)
    assert [one["image"] for one in dataset.__getitems__([0, 1, 2])] == [FIRST] * 3


@pytest.mark.parametrize("labels", [1.5, [1.0, 2.0, 3.0]])
def test_fetch_returns_mxnet_images(tmp_path: Path, labels: Any) -> None:
    images = [bytes([number]) * (20_000 + number) for number in range(5)]
    images.append(b"\x0a\x23\xd7\xce" * 9000)  # RecordIO splits payloads at its magic word.
    path = write_shard(tmp_path, "recordio", [image_header.pack(labels, 7, 0, image) for image in images])
    dataset = rm.open(path)
    found = dataset.fetch(range(len(images)))
    assert [one["image"] for one in found] == images
    assert all((one["label"] == labels).all() if isinstance(labels, list) else one["label"] == labels for one in found)


@pytest.mark.parametrize("place", [0, 9, 13, 30, 300, 5_000, 30_000, -30, -5, -1])
def test_fetch_of_damaged_record_raises_same_error_as_columns(tmp_path: Path, place: int) -> None:
    rows = [encode_example(features(number, 40_000)) for number in range(6)]
    path = write_shard(tmp_path, "tfrecord", rows)
    ShardCollection(path, schema=SCHEMA)
    start = sum(len(row) + 16 for row in rows[:3])
    with path.open("r+b") as file:
        file.seek(start + place % (len(rows[3]) + 16))
        byte = file.read(1)[0]
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte ^ 16]))
    dataset = ShardCollection(path, schema=SCHEMA)
    with pytest.raises(rm.DamageError) as caught:
        dataset.__getitems__([5, 3, 1])
    assert (caught.value.record, caught.value.offset) == (3, start)
    assert dataset.__getitems__([5, 1])[1]["label"] == 1000


def test_fetch_raises_shard_changed_after_change(tmp_path: Path) -> None:
    path = write_shard(tmp_path, "tfrecord", [encode_example(features(number, 40_000)) for number in range(6)])
    dataset = ShardCollection(path, schema=SCHEMA)
    assert len(dataset.__getitems__([1, 4])) == 2
    os.truncate(path, path.stat().st_size - 20_000)
    for positions in ([5], [0, 5], [0]):
        with pytest.raises(rm.ShardChangedError, match="bytes when it was opened"):
            dataset.__getitems__(positions)


def test_fetch_returns_record_of_spanning_files(tmp_path: Path) -> None:
    rows = [encode_ofrecord(features(number, 40_000)) for number in range(6)]
    whole = write_shard(tmp_path, "ofrecord", rows).read_bytes()
    (tmp_path / "parts").mkdir()
    for number, start in enumerate(range(0, len(whole), 90_000)):
        (tmp_path / "parts" / f"part-{number}").write_bytes(whole[start : start + 90_000])
    found = rm.open(tmp_path / "parts", schema=SCHEMA).fetch([4, 0, 2, 5, 1, 3])
    assert [one["image"] for one in found] == [features(number, 40_000)["image"][1][0] for number in (4, 0, 2, 5, 1, 3)]


def test_encode_features_equals_encoded_entries() -> None:
    assert encode_features({"image": ("bytes", [b"x"])}) == entry(b"image", strings(b"x"))
