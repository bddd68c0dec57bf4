"""`ShardWriter`: round trips, shard names and sizes, inferred kinds, and no incomplete file under a final name."""

from __future__ import annotations

import errno
import gzip
import os
import signal
import subprocess
import sys
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordmill as rm
from recordmill.testing import ofrecord, recordio, tfrecord
from tests.shards.helpers import FORMATS

RECORDS = {"tfrecord": tfrecord.iter_records, "recordio": recordio.iter_records, "ofrecord": ofrecord.iter_records}


def example(family: str, number: int) -> dict[str, Any]:
    if family == "recordio":
        return {"image": b"x" * number, "label": float(number)}
    return {"id": number, "image": b"x" * number, "weights": np.arange(number, dtype=np.float32)}


def visible_files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))


def all_files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


@pytest.mark.parametrize("family", FORMATS)
@pytest.mark.parametrize("shards", [1, 3])
def test_writer_distributes_examples_evenly_and_reader_returns_them(tmp_path: Path, family: str, shards: int) -> None:
    with rm.ShardWriter(tmp_path / "part", format=family, shards=shards) as writer:
        for number in range(700):
            writer.write(example(family, number % 50))
    assert writer.num_records == 700
    counts = [len(rm.ShardReader(path)) for path in writer.paths]
    assert max(counts) - min(counts) <= 1
    assert sum(counts) == 700
    dataset = rm.open(writer.paths)
    order = [number for first in range(shards) for number in range(first, 700, shards)]
    for position in (0, 255, 256, 511, 699):
        row, expected = dataset[position], example(family, order[position] % 50)
        assert all(np.array_equal(row[name], expected[name]) for name in expected)
    assert rm.verify(writer.paths).ok
    assert rm.verify(writer.paths).num_records == 700


def test_shard_names_follow_convention_of_format(tmp_path: Path) -> None:
    expected = {
        "tfrecord": ["part-00000-of-00002.tfrecord", "part-00001-of-00002.tfrecord"],
        "ofrecord": ["part-0", "part-1"],
        "recordio": [f"part-0000{n}-of-00002.{suffix}" for n in (0, 1) for suffix in ("idx", "rec")],
    }
    for family, names in expected.items():
        with rm.ShardWriter(f"{tmp_path}/{family}/", format=family, shards=2, payload="raw") as writer:
            writer.write(b"a")
            writer.write(b"b")
        assert visible_files(tmp_path / family) == names


@pytest.mark.parametrize("family", FORMATS)
def test_writer_stores_raw_payloads_unchanged(tmp_path: Path, family: str) -> None:
    payloads = [b"a" * size for size in range(1, 600)]
    with rm.ShardWriter(tmp_path / "part", format=family, payload="raw") as writer:
        for payload in payloads:
            writer.write(payload)
    assert [found for _, found in RECORDS[family](Path(writer.paths[0]).read_bytes())] == payloads


@pytest.mark.parametrize("family", FORMATS)
def test_rolling_writer_fills_shards_in_order(tmp_path: Path, family: str) -> None:
    payloads = [bytes([1 + number % 255]) * 100 for number in range(95)]
    with rm.ShardWriter(tmp_path / "part", format=family, max_shard_bytes=1500, payload="raw") as writer:
        for payload in payloads:
            writer.write(payload)
    sizes = [os.path.getsize(path) for path in writer.paths]
    assert len(sizes) > 5
    assert all(1500 - 120 < size <= 1500 for size in sizes[:-1])
    assert [row for path in writer.paths for row in rm.ShardReader(path)] == payloads
    assert [example["payload"] for example in rm.open(writer.paths, payload="raw")] == payloads
    assert not [name for name in all_files(tmp_path) if "tmp" in name]


def test_rolling_writer_gives_oversized_record_its_own_shard(tmp_path: Path) -> None:
    payloads = [b"a", b"b" * 5000, b"c"]
    with rm.ShardWriter(tmp_path / "part", max_shard_bytes=100, payload="raw") as writer:
        for payload in payloads:
            writer.write(payload)
    assert [list(rm.ShardReader(path)) for path in writer.paths] == [[b"a"], [b"b" * 5000], [b"c"]]


@pytest.mark.parametrize("level", [-1, 0, 1, 9])
@pytest.mark.parametrize("compression", ["gzip", "zlib"])
def test_compressed_shard_is_readable_by_standard_library(tmp_path: Path, compression: str, level: int) -> None:
    payloads = [b"payload %d" % number for number in range(1000)]
    with rm.ShardWriter(tmp_path / "part", compression=compression, compression_level=level, payload="raw") as writer:
        for payload in payloads:
            writer.write(payload)
    (path,) = writer.paths
    data = Path(path).read_bytes()
    assert path.endswith({"gzip": ".tfrecord.gz", "zlib": ".tfrecord.zlib"}[compression])
    plain = gzip.decompress(data) if compression == "gzip" else zlib.decompress(data)
    assert plain == b"".join(map(tfrecord.frame, payloads))
    if compression == "gzip":
        assert data[:8] == bytes.fromhex("1f8b080000000000")
        assert data[9] == 3
    assert rm.ShardReader(path)[-1] == payloads[-1]


@pytest.mark.parametrize("family", ["ofrecord", "recordio"])
def test_writer_rejects_compression_if_format_has_none(tmp_path: Path, family: str) -> None:
    with pytest.raises(ValueError, match=f"compression is not supported for {family}"):
        rm.ShardWriter(tmp_path / "part", format=family, compression="gzip")
    assert all_files(tmp_path) == []


@pytest.mark.parametrize("family", FORMATS)
def test_writer_leaves_no_files_if_block_raises(tmp_path: Path, family: str) -> None:
    writer = rm.ShardWriter(tmp_path / "part", format=family, shards=2)

    def fail() -> None:
        with writer:
            for _ in range(300):
                writer.write(example(family, 5))
            raise RuntimeError("somewhere else")

    with pytest.raises(RuntimeError):
        fail()
    assert all_files(tmp_path) == []
    with pytest.raises(ValueError, match="closed"):
        writer.write(example(family, 1))


def test_writer_leaves_no_files_if_example_cannot_be_stored(tmp_path: Path) -> None:
    with pytest.raises(rm.FeatureError), rm.ShardWriter(tmp_path / "part") as writer:
        writer.write({"a": object()})
    assert all_files(tmp_path) == []


def test_ofrecord_writer_rejects_empty_payload_and_leaves_no_files(tmp_path: Path) -> None:
    for row in (b"", {}):
        with pytest.raises(rm.FramingError), rm.ShardWriter(tmp_path / "part", format="ofrecord") as writer:
            writer.write(row)
        assert all_files(tmp_path) == []


KILLED = """
import sys, recordmill as rm
with rm.ShardWriter(sys.argv[1] + "/part", shards=2) as writer:
    for number in range(10**9):
        writer.write({"a": bytes(100_000)})
        if number == 200: print("started", flush=True)
"""


def test_killed_process_leaves_no_file_under_final_name(tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-c", KILLED, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "started\n"
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=60)
    process.stdout.close()
    assert visible_files(tmp_path) == []
    with pytest.raises(FileNotFoundError):
        rm.open(tmp_path)


@pytest.mark.parametrize("family", FORMATS)
def test_writer_refuses_existing_output_without_overwrite(tmp_path: Path, family: str) -> None:
    def write(number: int, **options: Any) -> None:
        with rm.ShardWriter(tmp_path / "part", format=family, **options) as writer:
            writer.write(example(family, number))

    write(3)
    before = {name: (tmp_path / name).read_bytes() for name in all_files(tmp_path)}
    with pytest.raises(rm.OutputExistsError) as caught:
        write(4)
    assert caught.value.hint
    assert isinstance(caught.value, FileExistsError)
    assert {name: (tmp_path / name).read_bytes() for name in all_files(tmp_path)} == before
    write(4, overwrite=True)
    assert rm.open(tmp_path)[0]["image"] == b"xxxx"


def test_writer_refuses_existing_foreign_index(tmp_path: Path) -> None:
    (tmp_path / "train.idx").write_text("0\t0\n")
    with pytest.raises(rm.OutputExistsError) as caught:
        rm.ShardWriter(tmp_path / "train.rec", format="recordio")
    assert (caught.value.shard or "").endswith("train.idx")
    assert all_files(tmp_path) == ["train.idx"]


def test_writer_keeps_file_that_appears_while_it_runs(tmp_path: Path) -> None:
    writer = rm.ShardWriter(tmp_path / "a.tfrecord")
    writer.write({"a": 1})
    (tmp_path / "a.tfrecord").write_bytes(b"somebody else's")
    with pytest.raises(rm.OutputExistsError):
        writer.close()
    assert (tmp_path / "a.tfrecord").read_bytes() == b"somebody else's"
    assert all_files(tmp_path) == ["a.tfrecord"]


def test_recordio_index_stores_example_ids_as_keys(tmp_path: Path) -> None:
    with rm.ShardWriter(tmp_path / "train.rec", format="recordio") as writer:
        for number in (7, 3, 11):
            writer.write({"image": b"%d" % number, "label": 0, "id": number})
    reader = rm.ShardReader(tmp_path / "train.rec")
    assert reader.keys == ["7", "3", "11"]
    assert reader[reader.position_of(3)].endswith(b"3")


def test_writer_without_records_creates_empty_shard(tmp_path: Path) -> None:
    with rm.ShardWriter(tmp_path / "a.tfrecord"):
        pass
    assert (tmp_path / "a.tfrecord").read_bytes() == b""
    assert len(rm.open(tmp_path / "a.tfrecord")) == 0


def test_full_disk_raises_write_error_and_leaves_no_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(fd: int, data: Any) -> int:
        raise OSError(28, "No space left on device")

    writer = rm.ShardWriter(tmp_path / "part")
    writer.write({"a": 1})
    monkeypatch.setattr(os, "write", full)
    with pytest.raises(rm.WriteError) as caught:
        writer.close()
    monkeypatch.undo()
    assert caught.value.hint
    assert "No space" in str(caught.value)
    assert all_files(tmp_path) == []


@pytest.mark.parametrize("values", [[b"a", b"bc"], [0.5], [7]])
@pytest.mark.parametrize("numbers", [range(300), range(0, 300, 299), range(299, 300)])
def test_writer_infers_kind_of_empty_lists_from_later_values(tmp_path: Path, values: list[Any], numbers: range) -> None:
    rows = [values if number in numbers else [] for number in range(900)]
    with rm.ShardWriter(tmp_path / "part", format="tfrecord") as writer:
        for row in rows:
            writer.write({"image": bytes(20_000), "list": row})
    found = [[*example["list"]] for example in rm.open(tmp_path)]
    assert found == rows


MIXED: list[tuple[list[Any], int, str]] = [
    # values of one feature, position of the record that the error names, value that it shows
    ([123456789, 0.5], 1, "0.5"),
    ([0.5, 123456789], 1, "123456789"),
    ([3, 4, [1, 2, 0.25]], 2, "0.25"),
    ([[0.5, 7]], 0, "7"),
    ([[[0.5, 1.5], [2, 0.5]]], 0, "2"),
    ([[np.float32(0.5), np.int8(7)]], 0, "7"),
    ([True, 0.5], 1, "0.5"),
    ([0.5, False], 1, "False"),
    ([np.arange(3), np.ones(3)], 1, "1.0"),
    ([np.ones(3, np.float32), np.arange(3, dtype=np.uint8)], 1, "0"),
    ([[0.5], [], np.arange(3)], 2, "0"),
    ([rm.FeatureList([[0.5], [1]])], 0, "1"),
    ([0.5] * 700 + [1], 700, "1"),
    ([1] * 256 + [0.5], 256, "0.5"),
]


@pytest.mark.parametrize("values, record, found", MIXED, ids=range(len(MIXED)))
def test_writer_rejects_integers_and_floats_in_one_feature(
    tmp_path: Path, values: list[Any], record: int, found: str
) -> None:
    for write in (write_with_pack, write_with_writer):
        with pytest.raises(rm.FeatureError, match="feature 'value' cannot be stored") as caught:
            write(tmp_path / "part", [{"other": 1, "value": value} for value in values])
        assert (caught.value.record, caught.value.feature, caught.value.found) == (record, "value", found)
        assert "schema=" in (caught.value.hint or "")
        assert all_files(tmp_path) == []


def write_with_writer(path: Path, examples: list[Any], **options: Any) -> list[str]:
    sequence = any(isinstance(value, rm.FeatureList) for example in examples for value in example.values())
    payload = "sequence_example" if sequence else None
    with rm.ShardWriter(path, format="tfrecord", payload=payload, **options) as writer:
        for example in examples:
            writer.write(example)
    return writer.paths


def write_with_pack(path: Path, examples: list[Any], **options: Any) -> list[str]:
    sequence = any(isinstance(value, rm.FeatureList) for example in examples for value in example.values())
    payload = "sequence_example" if sequence else None
    return rm.pack(examples, path, format="tfrecord", payload=payload, **options).paths


@pytest.mark.parametrize("format_name", ["tfrecord", "ofrecord"])
def test_writer_stores_exact_integers_in_feature_declared_as_float32(tmp_path: Path, format_name: str) -> None:
    schema = {"value": rm.Feature("float32", (2,))}
    rows: list[Any] = [[1, 0.5], [2**24, -(2**24)], [2**100, True], np.array([5, 6]), np.array([2**31, 0], np.uint32)]
    with rm.ShardWriter(tmp_path / "part", format=format_name, schema=schema) as writer:
        for row in rows:
            writer.write({"value": row})
    found = [example["value"].tolist() for example in rm.open(tmp_path)]
    assert found == [[float(value) for value in row] for row in rows]


INEXACT: list[tuple[Any, str]] = [
    (2**24 + 1, "16777217"),
    (-(2**24) - 1, "-16777217"),
    (123456789, "123456789"),
    (2**200, str(2**200)[:20]),
    (np.int32(2**24 + 1), "16777217"),
    (np.uint64(2**64 - 1), "18446744073709551615"),
    ([0.5, 2**24 + 1], "16777217"),
    (np.array([1, 2**53 + 1]), "9007199254740993"),
]


@pytest.mark.parametrize("value, found", INEXACT, ids=range(len(INEXACT)))
def test_writer_rejects_integer_that_declared_float32_cannot_represent(tmp_path: Path, value: Any, found: str) -> None:
    rows = [{"value": 0.5}] * 300 + [{"value": value}]
    with pytest.raises(rm.FeatureError, match="feature 'value' cannot be stored") as caught:
        write_with_writer(tmp_path / "part", rows, schema={"value": rm.Feature("float32", (None,))})
    assert (caught.value.record, caught.value.feature) == (300, "value")
    assert (caught.value.found or "").startswith(found)
    assert all_files(tmp_path) == []


@pytest.mark.parametrize("values", [[2**63, -1], [[2**63, -1]], [np.uint64(2**63), np.int64(-1)]], ids=range(3))
def test_writer_rejects_integers_beyond_int64_instead_of_storing_floats(tmp_path: Path, values: list[Any]) -> None:
    with pytest.raises(rm.FeatureError) as caught:
        write_with_writer(tmp_path / "part", [{"value": value} for value in values])
    assert (caught.value.record, caught.value.found) == (0, str(2**63))


def test_image_record_rejects_label_that_float32_cannot_represent(tmp_path: Path) -> None:
    with pytest.raises(rm.FeatureError, match="feature 'label' cannot be stored") as caught:
        rm.pack([{"image": b"x", "label": label} for label in (1, 0.5, 123456789)], tmp_path / "a.rec")
    assert (caught.value.record, caught.value.found) == (2, "123456789")


def test_writer_rejects_change_of_kind_and_suggests_schema(tmp_path: Path) -> None:
    writer = rm.ShardWriter(tmp_path / "part", format="tfrecord")
    for number in range(512):
        writer.write({"box": [number]})
    writer.write({"box": [b"x"]})
    with pytest.raises(rm.FeatureError, match="schema=") as caught:
        writer.close()
    assert (caught.value.expected, caught.value.found, caught.value.record) == ("int64", "[b'x']", 512)
    assert not list(tmp_path.iterdir())


def test_writer_works_without_hard_links(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def link(old: str, new: str) -> None:
        raise PermissionError(errno.EPERM, "Operation not permitted", old)

    monkeypatch.setattr(os, "link", link)
    with rm.ShardWriter(tmp_path / "a.rec", format="recordio") as writer:
        for number in range(30):
            writer.write({"label": number, "image": b"x"})
    assert len(rm.open(writer.paths)) == 30
    assert all_files(tmp_path) == [".a.rec.manifest.json", ".a.rec.rmx", "a.idx", "a.rec"]


@pytest.mark.parametrize(
    "arguments, message",
    [
        ({"shards": 0}, "shards must be a positive integer, got 0"),
        ({"shards": 2, "max_shard_bytes": 9}, "shards= and max_shard_bytes= cannot be combined"),
        ({"index": "always"}, "index must be 'auto' or 'never', got 'always'"),
        ({"compression": "gzip", "compression_level": 10}, "compression level must be between -1 and 9"),
    ],
)
def test_writer_rejects_invalid_arguments(tmp_path: Path, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rm.ShardWriter(tmp_path / "part", **arguments)
    assert all_files(tmp_path) == []


def test_writer_accepts_schema_as_dict(tmp_path: Path) -> None:
    with rm.ShardWriter(tmp_path / "a", format="tfrecord", shards=1, schema={"id": rm.Feature("int64", ())}) as writer:
        writer.write({"id": 7})
    assert rm.open(tmp_path / "a-*").schema == rm.Schema({"id": rm.Feature("int64", ())})


@pytest.mark.parametrize("read", [rm.open, rm.verify, rm.info, rm.build_index])
def test_readers_reject_empty_list_of_paths(read: Any) -> None:
    with pytest.raises(FileNotFoundError, match="expected at least one shard"):
        read([])


@pytest.mark.parametrize("schema", [None, {"image": rm.Feature("int64")}])
def test_feature_error_shows_unsupported_value(tmp_path: Path, schema: Any) -> None:
    with (
        pytest.raises(rm.FeatureError, match=r"feature 'image' cannot be stored .* found .*cat\.jpg"),
        rm.ShardWriter(tmp_path / "train", schema=schema) as writer,
    ):
        writer.write({"image": Path("photos/cat.jpg")})
