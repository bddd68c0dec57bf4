"""Record files by TensorFlow's names: when they appear, what flushing and forgetting do, options, damage."""

from __future__ import annotations

import gc
import json
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import recordmill as rm
import recordmill.compat.tensorflow as tf

RECORDINGS = Path(__file__).parents[2] / "recordings" / "tensorflow"


@pytest.mark.parametrize("name", ["sizes.tfrecord", "many.tfrecord", "only_empty_records.tfrecord", "empty.tfrecord"])
def test_file_when_written_then_has_tensorflows_bytes(name: str, tmp_path: Path) -> None:
    source = RECORDINGS / "framing" / name
    with tf.io.TFRecordWriter(str(tmp_path / name)) as writer:
        for record in tf.compat.v1.io.tf_record_iterator(str(source)):
            writer.write(record)
    assert (tmp_path / name).read_bytes() == source.read_bytes()


@pytest.mark.parametrize("name, kind", [("sizes.tfrecord.gz", "GZIP"), ("sizes.tfrecord.zlib", "ZLIB")])
def test_compressed_file_when_read_then_has_the_records_of_the_plain_one(name: str, kind: str, tmp_path: Path) -> None:
    read = tf.python_io.tf_record_iterator
    plain = list(read(str(RECORDINGS / "framing" / "sizes.tfrecord")))
    assert list(read(str(RECORDINGS / "framing" / name), tf.io.TFRecordOptions(kind))) == plain
    with tf.python_io.TFRecordWriter(tmp_path / "x", options=kind) as writer:
        for record in plain:
            writer.write(record)
    assert list(read(tmp_path / "x", kind)) == plain


def test_file_when_written_then_appears_when_it_is_closed(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"before")
    writer = tf.io.TFRecordWriter(os.fsencode(path))
    writer.write("text")
    writer.flush()
    assert path.read_bytes() == b"before"
    writer.close()
    assert list(tf.io.tf_record_iterator(path)) == [b"text"]
    with pytest.raises(tf.errors.FailedPreconditionError, match="Writer is closed"):
        writer.write(b"a")


def test_file_when_the_block_fails_then_stays_as_it_was(tmp_path: Path) -> None:
    def fail() -> None:
        with tf.io.TFRecordWriter(str(tmp_path / "x")) as writer:
            writer.write(b"a")
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert os.listdir(tmp_path) == []


def test_writer_when_forgotten_then_is_closed(tmp_path: Path) -> None:
    writer = tf.io.TFRecordWriter(str(tmp_path / "x"))
    writer.write(b"a")
    del writer
    gc.collect()
    assert list(tf.io.tf_record_iterator(tmp_path / "x")) == [b"a"]


def test_writer_when_the_program_ends_then_is_closed(tmp_path: Path) -> None:
    program = f"""
import recordmill.compat.tensorflow as tf
writer = tf.python_io.TFRecordWriter({str(tmp_path / "x")!r})
writer.write(b"a")
"""
    subprocess.run([sys.executable, "-c", program], check=True)
    assert list(tf.io.tf_record_iterator(tmp_path / "x")) == [b"a"]


def test_writer_when_the_process_forks_then_belongs_to_the_first(tmp_path: Path) -> None:
    writer = tf.io.TFRecordWriter(str(tmp_path / "x"))
    writer.write(b"a")
    child = os.fork()
    if not child:
        writer.close()
        os._exit(0)
    os.waitpid(child, 0)
    writer.write(b"b")
    writer.close()
    assert list(tf.io.tf_record_iterator(tmp_path / "x")) == [b"a", b"b"]


@pytest.mark.parametrize(
    "options", [{"flush_mode": 2}, {"window_bits": 9}, {"mem_level": 1}, {"compression_strategy": 3}]
)
def test_option_of_zlib_when_not_supported_then_is_refused_by_name(options: dict[str, int]) -> None:
    with pytest.raises(NotImplementedError, match=next(iter(options))):
        tf.io.TFRecordOptions("GZIP", **options)


# Zeros behind a gzip member are padding.
SOUND = ("missing.tfrecord", "gzip_zeros_after.tfrecord")
CASES = json.loads((RECORDINGS / "damage" / "expected.json").read_text("utf-8"))["cases"]
DAMAGED = [row for row in CASES if row.get("error") and row["path"] not in SOUND]


@pytest.mark.parametrize("row", DAMAGED, ids=lambda row: row["path"])
def test_damaged_file_when_read_then_tells_what_tensorflow_tells_and_where(row: dict[str, Any]) -> None:
    found: list[str] = []
    with pytest.raises(tf.errors.DataLossError) as caught:
        found.extend(
            record.hex() for record in tf.io.tf_record_iterator(RECORDINGS / "damage" / row["path"], row["compression"])
        )
    if not row["compression"] and row["error"]["class"] == "DataLossError" and "record at" in row["error"]["message"]:
        assert found == row["records"] and caught.value.message == row["error"]["message"]
    assert caught.value.shard is not None and caught.value.shard.endswith(row["path"])
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.message, again.offset) == (caught.value.message, caught.value.offset)


def test_names_of_old_versions_when_used_then_are_those_of_today() -> None:
    assert tf.compat.v1.python_io.TFRecordWriter is tf.io.TFRecordWriter is tf.python_io.TFRecordWriter
    assert tf.compat.v1.io.parse_tensor is tf.io.parse_tensor and tf.compat.v1.train.Example is tf.train.Example
    assert tf.VarLenFeature is tf.io.VarLenFeature and tf.compat.v1.int64 is tf.int64
    data = tf.train.Example(features={"feature": {"a": {"int64_list": {"value": [3]}}}}).SerializeToString()
    spec = {"a": tf.FixedLenFeature([], tf.int64)}
    assert int(tf.parse_single_example(data, spec)["a"]) == 3
    with pytest.raises(tf.errors.InvalidArgumentError, match="example first: feature 'b'"):
        tf.compat.v1.parse_example([data], {"b": spec["a"]}, None, ["first"])


def test_index_beside_a_shard_when_folders_are_listed_then_is_not_seen(tmp_path: Path) -> None:
    with rm.ShardWriter(tmp_path / "x.tfrecord") as writer:
        writer.write({"a": 1})
    assert len(os.listdir(tmp_path)) == 2
    assert tf.io.gfile.listdir(str(tmp_path)) == ["x.tfrecord"] == tf.gfile.ListDirectory(str(tmp_path))
    assert tf.io.gfile.glob(f"{tmp_path}/*") == [f"{tmp_path}/x.tfrecord"]
    tf.gfile.Remove(f"{tmp_path}/x.tfrecord")
    assert os.listdir(tmp_path) == []


def test_experimental_writer_writes_the_records_of_a_dataset(tmp_path: Path) -> None:
    records = [b"one", b"", b"three"]
    tf.data.experimental.TFRecordWriter(str(tmp_path / "out")).write(tf.data.Dataset.from_tensor_slices(records))
    assert [item.numpy() for item in tf.data.TFRecordDataset(str(tmp_path / "out"))] == records


def test_experimental_writer_refuses_elements_that_are_not_serialized_records(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="must be scalar strings"):
        tf.data.experimental.TFRecordWriter(str(tmp_path / "out")).write(tf.data.Dataset.range(2))
