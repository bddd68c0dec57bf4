"""OFRecordReader: part names, record order, epochs, ranks, damaged files, prefetching and options."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, strategies as st

import recordmill.compat.oneflow as flow
from recordmill.compat.oneflow.reader import assign_parts
from recordmill.compat.oneflow.shuffle import (
    SlotGenerator,
    draw_uniform_int,
    generate_seed_words,
    shuffle_like_libstdcxx,
)
from recordmill.concurrency.forks import ForkCounter
from recordmill.errors import FeatureError, FormatError, FramingError, PayloadError, TruncatedError
from tests.compat.oneflow.parts import frame, labels_of, message, recorded_readers, take_labels, write_labels
from tests.recorded import RECORDINGS, load_recording


@pytest.mark.parametrize("row", recorded_readers(), ids=lambda row: "-".join(map(str, row.values()))[:60])
def test_reader_order_equals_recorded_order_of_oneflow(row: dict[str, Any], tmp_path: Path) -> None:
    options = {name: value for name, value in row.items() if name not in ("counts", "labels")}
    write_labels(tmp_path, row["counts"])
    reader = flow.nn.OFRecordReader(str(tmp_path), data_part_num=len(row["counts"]), **options)
    assert take_labels(reader, len(row["labels"])) == row["labels"]


@pytest.mark.parametrize("batch_size", [2, 7, 64])
def test_reader_order_does_not_depend_on_batch_size(batch_size: int, tmp_path: Path) -> None:
    options = {"random_shuffle": True, "random_seed": 7, "shuffle_buffer_size": 4}
    expected = next(row for row in recorded_readers() if options.items() <= row.items())
    write_labels(tmp_path, expected["counts"])
    reader = flow.nn.OFRecordReader(str(tmp_path), batch_size, len(expected["counts"]), **options)  # type: ignore[arg-type]
    assert take_labels(reader, 64) == expected["labels"]


def test_generated_seed_words_equal_those_of_libstdcxx() -> None:
    assert generate_seed_words(0) == [2963817213, 69796629, 1973464570, 532167439]
    assert generate_seed_words(123456789) == [1063706903, 298048648, 2436626464, 827485493]
    assert generate_seed_words(2**32 - 1) == [3258260622, 2976084991, 227751652, 537413182]


@given(st.lists(st.integers(), max_size=9), st.integers(0, 2**40))
def test_shuffle_keeps_all_items_and_repeats_for_a_seed(items: list[int], seed: int) -> None:
    first, second = list(items), list(items)
    shuffle_like_libstdcxx(first, seed)
    shuffle_like_libstdcxx(second, seed)
    assert first == second and sorted(first) == sorted(items)


@given(st.integers(1, 1000), st.integers(0, 2**32))
def test_slot_generator_returns_slots_of_the_buffer(count: int, seed: int) -> None:
    slots = SlotGenerator(seed, count)
    assert all(0 <= slots.next_slot() < count for _ in range(20))


def test_draw_uniform_rejects_values_of_the_incomplete_bucket() -> None:
    draws = iter([9, 10, 5])
    assert draw_uniform_int(lambda: next(draws), 10, 3) == 1


@pytest.mark.parametrize("row", load_recording("oneflow/parts/expected.json")["sets"], ids=lambda row: row["directory"])
def test_reader_and_decoders_return_recorded_messages_and_values(row: dict[str, Any]) -> None:
    names = ("part_name_prefix", "part_name_suffix_length")
    options = {name: row[name] for name in names if name in row}
    folder = str(RECORDINGS / "oneflow" / "parts" / row["directory"])
    reader = flow.nn.OFRecordReader(folder, len(row["records"]), row["num_parts"], **options)
    batch = reader()
    assert [payload.hex() for payload in batch.payloads] == row["records"]
    for name, field in row["fields"].items():
        if field["decoder"] == "bytes":
            found = flow.nn.OFRecordBytesDecoder(name)(batch).numpy()
        else:
            shape = tuple(field["shape"])
            found = list(flow.nn.OFRecordRawDecoder(name, shape=shape, dtype=field["dtype"])(batch).numpy())
        assert [value.tobytes().hex() for value in found] == field["values"]


def test_reader_fills_a_batch_from_several_epochs(tmp_path: Path) -> None:
    write_labels(tmp_path, [2, 1])
    batch = flow.nn.OFRecordReader(str(tmp_path), batch_size=8, data_part_num=2)()
    assert labels_of(batch) == [0, 1, 2, 0, 1, 2, 0, 1]
    assert batch.shape == (8,) and len(batch) == 8


@pytest.mark.parametrize("cut", range(1, 40))
def test_reader_joins_records_that_continue_in_the_next_part(cut: int, tmp_path: Path) -> None:
    stream = b"".join(write_labels(tmp_path, [3]))
    (tmp_path / "part-0").write_bytes(stream[:cut])
    (tmp_path / "part-1").write_bytes(stream[cut:])
    assert take_labels(flow.nn.OFRecordReader(str(tmp_path), data_part_num=2), 7) == [0, 1, 2, 0, 1, 2, 0]


def test_reader_skips_empty_parts(tmp_path: Path) -> None:
    write_labels(tmp_path, [0, 2, 0, 1, 0])
    assert take_labels(flow.nn.OFRecordReader(str(tmp_path), data_part_num=5), 6) == [0, 1, 2, 0, 1, 2]


def test_reader_raises_for_parts_without_records(tmp_path: Path) -> None:
    write_labels(tmp_path, [0, 0])
    reader = flow.nn.OFRecordReader(str(tmp_path), data_part_num=2)
    for _ in range(2):
        with pytest.raises(FormatError, match="contain no records"):
            reader()


@pytest.mark.parametrize(
    "damage, kind",
    [
        (lambda stream: stream[:-3], TruncatedError),
        (lambda stream: stream + b"\1\0\0", TruncatedError),
        (lambda stream: stream + bytes(8), FramingError),
        (lambda stream: stream + b"\xff" * 8 + b"x", FramingError),
    ],
)
def test_reader_raises_framing_error_after_intact_batches(damage: Any, kind: type[Exception], tmp_path: Path) -> None:
    parts = write_labels(tmp_path, [3, 4])
    (tmp_path / "part-1").write_bytes(damage(parts[1]))
    sound = 6 if len(damage(parts[1])) < len(parts[1]) else 7
    reader = flow.nn.OFRecordReader(str(tmp_path), data_part_num=2)
    assert take_labels(reader, sound) == list(range(sound))
    for _ in range(2):
        with pytest.raises(kind) as caught:
            reader()
    error: Any = pickle.loads(pickle.dumps(caught.value))
    size = len(frame(message(labels=0)))
    assert (error.shard, error.record, error.offset) == (str(tmp_path / "part-1"), sound - 3, (sound - 3) * size)


def test_decoder_error_names_record_that_does_not_parse(tmp_path: Path) -> None:
    parts = write_labels(tmp_path, [3])
    (tmp_path / "part-0").write_bytes(parts[0] + frame(b"\x0a\x7f"))
    batch = flow.nn.OFRecordReader(str(tmp_path), batch_size=4)()
    with pytest.raises(PayloadError) as caught:
        labels_of(batch)
    assert (caught.value.shard, caught.value.record, caught.value.offset) == (
        str(tmp_path / "part-0"),
        3,
        len(parts[0]),
    )


@pytest.mark.parametrize(
    "options, names",
    [({}, "part-{}"), ({"part_name_suffix_length": 5}, "part-{:05d}"), ({"part_name_prefix": "a"}, "a{}")],
)
def test_reader_raises_for_missing_part_when_created(options: dict[str, Any], names: str, tmp_path: Path) -> None:
    write_labels(tmp_path, [2] * 12, names)
    reader = flow.nn.OFRecordReader(str(tmp_path), data_part_num=12, **options)
    assert take_labels(reader, 25) == [*range(24), 0]
    (tmp_path / names.format(11)).unlink()
    with pytest.raises(FileNotFoundError) as caught:
        flow.nn.OFRecordReader(str(tmp_path), data_part_num=12, **options)
    assert caught.value.filename == str(tmp_path / names.format(11))


@pytest.mark.parametrize("num_parts, world_size", [(5, 2), (5, 3), (6, 3), (5, 5)])
def test_readers_of_all_ranks_divide_the_parts(
    num_parts: int, world_size: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_labels(tmp_path, [1] * num_parts)
    monkeypatch.setenv("WORLD_SIZE", str(world_size))
    found = []
    for rank in range(world_size):
        monkeypatch.setenv("RANK", str(rank))
        assert (flow.env.get_rank(), flow.env.get_world_size()) == (rank, world_size)
        assigned = assign_parts(num_parts, rank, world_size)
        found += take_labels(flow.nn.OFRecordReader(str(tmp_path), data_part_num=num_parts), len(assigned))
        assert len(assigned) == num_parts // world_size + (rank < num_parts % world_size)
    assert found == list(range(num_parts))


def test_reader_raises_for_more_ranks_than_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_labels(tmp_path, [1])
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(ValueError, match="data_part_num must be at least"):
        flow.nn.OFRecordReader(str(tmp_path))


def test_readers_without_seed_use_different_orders(tmp_path: Path) -> None:
    write_labels(tmp_path, [64])
    runs = [take_labels(flow.nn.OFRecordReader(str(tmp_path), random_shuffle=True), 64) for _ in range(2)]
    assert runs[0] != runs[1]


@pytest.mark.parametrize(
    "options, kind, text",
    [
        ({"data_part_num": 0}, ValueError, "data_part_num"),
        ({"batch_size": 0}, ValueError, "batch_size"),
        ({"shuffle_buffer_size": 0, "random_shuffle": True}, ValueError, "shuffle_buffer_size"),
        ({"device": "cuda"}, NotImplementedError, "device='cuda'"),
        ({"placement": 3}, NotImplementedError, "placement=3"),
        ({"sbp": 3}, NotImplementedError, "sbp=3"),
        ({"ofrecord_dir": 3}, TypeError, "ofrecord_dir"),
        ({"unheard_of": 3}, TypeError, "unheard_of"),
    ],
)
def test_reader_error_names_unsupported_option(
    options: dict[str, Any], kind: type[Exception], text: str, tmp_path: Path
) -> None:
    write_labels(tmp_path, [1])
    with pytest.raises(kind, match=text):
        flow.nn.OfrecordReader(**{"ofrecord_dir": str(tmp_path), **options})


def test_batch_can_be_decoded_several_times(tmp_path: Path) -> None:
    write_labels(tmp_path, [4])
    first, second = (flow.nn.OFRecordReader(str(tmp_path), batch_size=3, device="cpu") for _ in range(2))
    batch = first()
    assert labels_of(batch) == labels_of(batch) == labels_of(second()) == [0, 1, 2]
    wide = flow.nn.OfrecordRawDecoder("labels", shape=(1,), dtype=flow.double)(batch)
    assert wide.shape == (3, 1) and wide.dtype == flow.double and type(wide.numpy()) is np.ndarray


def write_large_part(folder: Path, count: int) -> list[bytes]:
    """Write a part that is large enough to be prefetched; return its frames."""
    frames = [frame(message(labels=label, text=bytes(50_000), images=bytes([label % 256]))) for label in range(count)]
    (folder / "part-0").write_bytes(b"".join(frames))
    return frames


@pytest.mark.parametrize("options", [{}, {"random_shuffle": True, "random_seed": 7, "shuffle_buffer_size": 9}])
def test_prefetched_batches_hold_the_features_of_their_own_records(options: dict[str, Any], tmp_path: Path) -> None:
    write_large_part(tmp_path, 60)
    reader = flow.nn.OFRecordReader(str(tmp_path), 7, **options)
    label = flow.nn.OFRecordRawDecoder("labels", shape=(), dtype=np.int32)
    images, text = flow.nn.OFRecordBytesDecoder("images"), flow.nn.OFRecordBytesDecoder("text")
    again = flow.nn.OFRecordRawDecoder("images", shape=(1,), dtype=np.uint8)
    found: list[int] = []
    for _ in range(20):
        batch = reader()
        labels = label(batch).tolist()
        assert [int(row[0]) for row in images(batch).numpy()] == labels == again(batch)[:, 0].tolist()
        assert [location.record for location in batch.locations] == labels and text(batch).numpy()[0].nbytes == 50_000
        found += labels
    if options:
        assert found != sorted(found) and set(found) == set(range(60))
    else:
        assert found == [number % 60 for number in range(140)]


def test_prefetching_reader_raises_after_intact_batches(tmp_path: Path) -> None:
    frames = write_large_part(tmp_path, 30)
    (tmp_path / "part-0").write_bytes(b"".join(frames)[:-1])
    reader = flow.nn.OFRecordReader(str(tmp_path), 5)
    assert take_labels(reader, 25) == list(range(25))
    for _ in range(2):
        with pytest.raises(TruncatedError) as caught:
            reader()
        assert (caught.value.record, caught.value.offset) == (29, sum(map(len, frames[:29])))


def test_decoder_error_names_record_without_the_feature(tmp_path: Path) -> None:
    frames = [*write_large_part(tmp_path, 24), frame(message(other=1))]
    (tmp_path / "part-0").write_bytes(b"".join(frames))
    reader = flow.nn.OFRecordReader(str(tmp_path), 5)
    assert take_labels(reader, 20) == list(range(20))
    with pytest.raises(FeatureError, match="Field labels not found") as caught:
        labels_of(reader())
    assert caught.value.record == 24


def test_prefetching_reader_raises_in_forked_process(tmp_path: Path) -> None:
    write_large_part(tmp_path, 30)
    reader = flow.nn.OFRecordReader(str(tmp_path), 5)
    reader()
    with pytest.raises(RuntimeError, match="fork"), patch.object(ForkCounter, "depth", -1):
        reader()
    assert labels_of(reader()) == [5, 6, 7, 8, 9]


@pytest.mark.parametrize("option", ["batch_size", "data_part_num", "shuffle_buffer_size"])
@pytest.mark.parametrize("value", [2.5, "2", True, None])
def test_reader_error_names_count_that_is_not_an_integer(option, value, tmp_path: Path) -> None:
    with pytest.raises(TypeError, match=f"{option} must be an integer"):
        flow.nn.OFRecordReader(str(tmp_path), **{option: value})


def test_decoder_raises_for_input_that_is_not_a_record_batch() -> None:
    for decoder in (flow.nn.OFRecordRawDecoder("a", (1,), flow.int32), flow.nn.OFRecordBytesDecoder("a")):
        with pytest.raises(TypeError, match="result of a reader, got str"):
            decoder("records")
