"""ShardCollection: where a record is, reads in any order, equality, fingerprints, changes of open shards."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import recordmill as rm
from recordmill.errors import RecordmillError
from recordmill.shards.collection import ShardCollection
from tests.shards.helpers import FORMATS, FRAMES, encode_message, write_shard


@pytest.fixture(params=FORMATS)
def shards(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, list[Path]]:
    """Write three shards of 5, 0 and 7 records."""
    format_name = request.param
    first, last = ([encode_message(format_name, number) for number in numbers] for numbers in (range(5), range(5, 12)))
    return format_name, [
        write_shard(tmp_path, format_name, rows, name) for name, rows in (("a", first), ("b", []), ("c", last))
    ]


def test_where_returns_shard_record_and_offset(shards: Any) -> None:
    format_name, paths = shards
    found = ShardCollection(paths)
    expected, position = [], 0
    for path, numbers in ((paths[0], range(5)), (paths[2], range(5, 12))):
        ends = np.cumsum([0, *(len(FRAMES[format_name](encode_message(format_name, number))) for number in numbers)])
        expected += [(str(path), record, ends[record]) for record in range(len(numbers))]
    for position, place in enumerate(expected):
        assert found.where(position) == place == found.where(position - len(expected))
    for outside in (-13, 12):
        with pytest.raises(IndexError):
            found.where(outside)


def test_where_agrees_with_error_of_damaged_record(tmp_path: Path) -> None:
    paths = [write_shard(tmp_path, "tfrecord", [encode_message("tfrecord", 3)] * 4, name) for name in "ab"]
    data = bytearray(paths[1].read_bytes())
    data[len(data) // 2 + 13] ^= 4
    paths[1].write_bytes(data)
    found = ShardCollection(paths)
    with pytest.raises(rm.ChecksumError) as caught:
        found.columns(range(8))
    assert found.where(6) == (caught.value.shard, caught.value.record, caught.value.offset)


def test_where_names_both_files_of_spanning_shard(tmp_path: Path) -> None:
    data = b"".join(FRAMES["ofrecord"](encode_message("ofrecord", number)) for number in range(9))
    for number, part in enumerate((data[:100], data[100:])):
        (tmp_path / f"part-{number}").write_bytes(part)
    place = ShardCollection(tmp_path).where(8)
    assert (place.record, place.shard) == (8, f"{tmp_path}/part-0 … part-1")
    assert place.offset == len(data) - len(FRAMES["ofrecord"](encode_message("ofrecord", 8)))


def test_collections_of_same_files_and_options_are_equal(shards: Any) -> None:
    _, paths = shards
    first = ShardCollection(paths)
    for other in (
        ShardCollection([str(path) for path in paths]),
        ShardCollection(paths, format=first.readers[0].format),
    ):
        assert first == other and hash(first) == hash(other)
    copy = pickle.loads(pickle.dumps(first))
    assert copy == first and hash(copy) == hash(first) and copy.fingerprint() == first.fingerprint()


@pytest.mark.parametrize(
    "change",
    [
        lambda paths: ShardCollection(paths[:1]),
        lambda paths: ShardCollection(paths[::-1]),
        lambda paths: ShardCollection(paths, verify=False),
        lambda paths: ShardCollection(paths, max_decompressed_bytes=10**9),
        lambda paths: ShardCollection(paths, schema={"id": rm.Feature("int64")}),
        lambda paths: ShardCollection(paths, schema={"id": rm.Feature("int64", (1,), default=[2])}),
        lambda paths: 3,
    ],
)
def test_collections_with_different_files_or_options_are_not_equal(
    shards: Any, change: Callable[[Any], object]
) -> None:
    assert ShardCollection(shards[1]) != change(shards[1])


def test_collections_with_different_payload_codecs_are_not_equal(tmp_path: Path) -> None:
    path = write_shard(tmp_path, "tfrecord", [b""] * 3)
    sets = [
        ShardCollection(path, payload=payload, schema={}) for payload in ("example", "sequence_example", "ofrecord")
    ]
    assert len(set(sets)) == 3


def test_fingerprint_is_independent_of_paths(shards: Any, tmp_path: Path) -> None:
    format_name, paths = shards
    before = ShardCollection(paths).fingerprint()
    assert before.startswith(f"{format_name}-12-") and len(before) < 40
    (tmp_path / "other").mkdir()
    moved = [Path(shutil.copy(path, tmp_path / "other" / f"renamed-{path.name}")) for path in paths]
    assert ShardCollection(moved).fingerprint() == before == ShardCollection(moved).fingerprint()


def test_fingerprint_depends_on_content_and_order(shards: Any, tmp_path: Path) -> None:
    format_name, paths = shards
    other = write_shard(tmp_path, format_name, [encode_message(format_name, 40 + number) for number in range(5)], "x")
    sets = [paths, paths[::-1], paths[:1], [other, *paths[1:]]]
    assert len({ShardCollection(chosen).fingerprint() for chosen in sets}) == len(sets)


def replace(path: Path) -> None:
    other = path.with_name("other")
    other.write_bytes(path.read_bytes())
    other.rename(path)


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[20] ^= 1
    path.write_bytes(data)
    os.utime(path, ns=(1, 1))


CHANGES: dict[str, Callable[[Path], None]] = {
    "cut": lambda path: os.truncate(path, path.stat().st_size // 2),
    "emptied": lambda path: os.truncate(path, 0),
    "longer": lambda path: path.write_bytes(path.read_bytes() * 2),
    "removed": Path.unlink,
    "replaced": replace,
    "touched": flip,
}


def read_all(found: ShardCollection) -> RecordmillError | None:
    try:
        found.columns(range(len(found)))
    except RecordmillError as error:
        return error
    return None


@pytest.mark.parametrize("compression", ["", "gzip"])
@pytest.mark.parametrize("change", CHANGES)
def test_collection_raises_shard_changed_after_change_of_open_shard(
    tmp_path: Path, change: str, compression: str
) -> None:
    rows = [encode_message("tfrecord", number) for number in range(200)]
    path = write_shard(tmp_path, "tfrecord", rows, compression=compression)
    found = ShardCollection(path)
    assert read_all(found) is None
    CHANGES[change](path)
    error = read_all(found)
    assert isinstance(error, rm.ShardChangedError) and error.shard == str(path) and error.hint


@pytest.mark.parametrize("format_name", FORMATS)
@pytest.mark.parametrize("change", [*CHANGES, "other records", "no records"])
def test_collection_raises_shard_changed_in_another_process(tmp_path: Path, format_name: str, change: str) -> None:
    path = write_shard(tmp_path, format_name, [encode_message(format_name, number) for number in range(50)])
    found = ShardCollection(path)
    data = pickle.dumps(found)
    if change == "other records":
        path.write_bytes(
            b"".join(FRAMES[format_name](encode_message(format_name, number)) for number in range(70, 130))
        )
    elif change == "no records":
        path.write_bytes(b"<!DOCTYPE html><html><body>404 not found</body></html>")
    else:
        CHANGES[change](path)
    if change == "replaced":
        assert read_all(pickle.loads(data)) is None
        return
    error = read_all(pickle.loads(data))
    assert isinstance(error, rm.ShardChangedError) and error.shard == str(path) and error.hint
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert isinstance(pool.apply(read_all, (found,)), rm.ShardChangedError)


def test_collection_repr_opens_no_shard(tmp_path: Path) -> None:
    paths = [
        write_shard(tmp_path, "tfrecord", [encode_message("tfrecord", number)], f"part-{number}") for number in range(3)
    ]
    copied = pickle.dumps(ShardCollection(paths))
    for path in paths:
        path.unlink()
    assert repr(pickle.loads(copied)).startswith(f"open({str(paths[0])!r} and 2 more: 3 x (")


SIZES = (40, 0, 300, 1, 90)
# Size of the header of a frame.
HEADS = {"tfrecord": 12, "ofrecord": 8, "recordio": 8}
PAYLOADS = {"tfrecord": "example", "ofrecord": "ofrecord", "recordio": "example"}


@pytest.fixture(scope="module", params=FORMATS)
def scattered(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, list[Path]]:
    """Write shards of different lengths, one of them empty."""
    folder, first, paths = tmp_path_factory.mktemp("scattered"), 0, []
    for number, size in enumerate(SIZES):
        paths.append(
            write_shard(
                folder, request.param, [encode_message(request.param, first + row) for row in range(size)], f"s{number}"
            )
        )
        first += size
    return request.param, paths


def ids_of(columns: dict[str, Any]) -> list[int]:
    """Return the ids of the records, which equal their positions."""
    return np.asarray(columns["id"]).reshape(-1).tolist()


@given(st.lists(st.integers(0, sum(SIZES) - 1), max_size=700), st.integers(1, 4))
@settings(max_examples=25, deadline=None)
def test_columns_match_positions_in_any_order(scattered: tuple[str, list[Path]], order: list[int], times: int) -> None:
    found = ShardCollection(scattered[1], payload=PAYLOADS[scattered[0]])
    for _ in range(times):
        columns = found.columns(np.array(order, np.int64))
        assert ids_of(columns) == order
        assert [*columns["text"]] == [b"x" * (number % 7) for number in order]
    assert ids_of(found.columns(np.arange(len(found))[::-1])) == list(range(len(found)))[::-1]
    assert ids_of(found.columns(range(39, 120))) == list(range(39, 120))


@pytest.mark.parametrize("positions", [[0, -1], [431], [2**40]])
def test_columns_reject_position_out_of_range(scattered: tuple[str, list[Path]], positions: list[int]) -> None:
    with pytest.raises(IndexError, match=rf"position {positions[-1]} .* 431 records"):
        ShardCollection(scattered[1], payload=PAYLOADS[scattered[0]]).columns(np.array(positions, np.int64))


@pytest.mark.parametrize("cached", [False, True])
def test_columns_name_first_damaged_record(scattered: tuple[str, list[Path]], tmp_path: Path, cached: bool) -> None:
    format_name, paths = scattered
    payloads = [encode_message(format_name, number) for number in range(300)]
    path = write_shard(tmp_path, format_name, payloads, "damaged")
    ends = np.cumsum([0, *(len(FRAMES[format_name](payload)) for payload in payloads)])
    found = ShardCollection([paths[0], path], payload=PAYLOADS[format_name])
    schema = found.schema
    order = np.random.default_rng(1).permutation(len(found))
    good, bad = order[order != 40 + 200][:150], 40 + 200
    contents = bytearray(path.read_bytes())
    contents[ends[200] + HEADS[format_name]] ^= 0x17
    path.write_bytes(contents)
    found = ShardCollection([paths[0], path], payload=PAYLOADS[format_name], schema=schema)
    if cached:
        for _ in range(5):
            found.columns(good)
    with pytest.raises(rm.DamageError) as caught:
        found.columns(np.array([*good, bad, bad, *good]))
    assert (caught.value.shard, caught.value.record, caught.value.offset) == (str(path), 200, ends[200])
    assert ids_of(found.columns(good)) == [position if position < 40 else position - 40 for position in good]
