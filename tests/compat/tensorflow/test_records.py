"""TensorFlow's record readers and writers: when files appear, unclosed writers, options, damaged files."""

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
from tests.compat.tensorflow.program_helpers import list_elements

RECORDINGS = Path(__file__).parents[2] / "recordings" / "tensorflow"


@pytest.mark.parametrize("name", ["sizes.tfrecord", "many.tfrecord", "only_empty_records.tfrecord", "empty.tfrecord"])
def test_written_file_equals_that_of_tensorflow(name: str, tmp_path: Path) -> None:
    source = RECORDINGS / "framing" / name
    with tf.io.TFRecordWriter(str(tmp_path / name)) as writer:
        for record in tf.compat.v1.io.tf_record_iterator(str(source)):
            writer.write(record)
    assert (tmp_path / name).read_bytes() == source.read_bytes()


@pytest.mark.parametrize("name, kind", [("sizes.tfrecord.gz", "GZIP"), ("sizes.tfrecord.zlib", "ZLIB")])
def test_compressed_files_are_read_and_written(name: str, kind: str, tmp_path: Path) -> None:
    read = tf.python_io.tf_record_iterator
    plain = list(read(str(RECORDINGS / "framing" / "sizes.tfrecord")))
    assert list(read(str(RECORDINGS / "framing" / name), tf.io.TFRecordOptions(kind))) == plain
    with tf.python_io.TFRecordWriter(tmp_path / "x", options=kind) as writer:
        for record in plain:
            writer.write(record)
    assert list(read(tmp_path / "x", kind)) == plain


def test_written_file_replaces_old_one_on_close(tmp_path: Path) -> None:
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


def test_writer_leaves_no_file_if_its_block_raises(tmp_path: Path) -> None:
    def fail() -> None:
        with tf.io.TFRecordWriter(str(tmp_path / "x")) as writer:
            writer.write(b"a")
            raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert os.listdir(tmp_path) == []


def test_unclosed_writer_is_closed_when_deleted(tmp_path: Path) -> None:
    writer = tf.io.TFRecordWriter(str(tmp_path / "x"))
    writer.write(b"a")
    del writer
    gc.collect()
    assert list(tf.io.tf_record_iterator(tmp_path / "x")) == [b"a"]


def test_unclosed_writer_is_closed_at_exit(tmp_path: Path) -> None:
    program = f"""
import recordmill.compat.tensorflow as tf
writer = tf.python_io.TFRecordWriter({str(tmp_path / "x")!r})
writer.write(b"a")
"""
    subprocess.run([sys.executable, "-c", program], check=True)
    assert list(tf.io.tf_record_iterator(tmp_path / "x")) == [b"a"]


def test_forked_process_does_not_close_writer(tmp_path: Path) -> None:
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
def test_unsupported_zlib_option_is_named(options: dict[str, int]) -> None:
    with pytest.raises(NotImplementedError, match=next(iter(options))):
        tf.io.TFRecordOptions("GZIP", **options)


# Zeros after a gzip member are padding.
READABLE = ("missing.tfrecord", "gzip_zeros_after.tfrecord")
CASES = json.loads((RECORDINGS / "damage" / "expected.json").read_text("utf-8"))["cases"]
DAMAGED = [row for row in CASES if row.get("error") and row["path"] not in READABLE]


@pytest.mark.parametrize("row", DAMAGED, ids=lambda row: row["path"])
def test_damaged_file_error_equals_tensorflow_and_names_offset(row: dict[str, Any]) -> None:
    found: list[str] = []
    with pytest.raises(tf.errors.DataLossError) as caught:
        found.extend(
            record.hex() for record in tf.io.tf_record_iterator(RECORDINGS / "damage" / row["path"], row["compression"])
        )
    if not row["compression"] and row["error"]["class"] == "DataLossError" and "record at" in row["error"]["message"]:
        assert found == row["records"] and caught.value.message == row["error"]["message"]
    assert caught.value.shard is not None and caught.value.shard.endswith(row["path"])
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (copy.message, copy.offset) == (caught.value.message, caught.value.offset)


def test_tensorflow_1_names_are_aliases() -> None:
    assert tf.compat.v1.python_io.TFRecordWriter is tf.io.TFRecordWriter is tf.python_io.TFRecordWriter
    assert tf.compat.v1.io.parse_tensor is tf.io.parse_tensor and tf.compat.v1.train.Example is tf.train.Example
    assert tf.VarLenFeature is tf.io.VarLenFeature and tf.compat.v1.int64 is tf.int64
    data = tf.train.Example(features={"feature": {"a": {"int64_list": {"value": [3]}}}}).SerializeToString()
    spec = {"a": tf.FixedLenFeature([], tf.int64)}
    assert int(tf.parse_single_example(data, spec)["a"]) == 3
    with pytest.raises(tf.errors.InvalidArgumentError, match="example first: feature 'b'"):
        tf.compat.v1.parse_example([data], {"b": spec["a"]}, None, ["first"])


def test_gfile_listing_hides_index_files(tmp_path: Path) -> None:
    with rm.ShardWriter(tmp_path / "x.tfrecord") as writer:
        writer.write({"a": 1})
    assert len(os.listdir(tmp_path)) == 3
    assert tf.io.gfile.listdir(str(tmp_path)) == ["x.tfrecord"] == tf.gfile.ListDirectory(str(tmp_path))
    assert tf.io.gfile.glob(f"{tmp_path}/*") == [f"{tmp_path}/x.tfrecord"]
    tf.gfile.Remove(f"{tmp_path}/x.tfrecord")
    assert os.listdir(tmp_path) == []


def test_experimental_writer_writes_the_records_of_a_dataset(tmp_path: Path) -> None:
    records = [b"one", b"", b"three"]
    tf.data.experimental.TFRecordWriter(str(tmp_path / "out")).write(tf.data.Dataset.from_tensor_slices(records))
    assert [item.numpy() for item in tf.data.TFRecordDataset(str(tmp_path / "out"))] == records


def test_experimental_writer_rejects_elements_that_are_not_strings(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="must be scalar strings"):
        tf.data.experimental.TFRecordWriter(str(tmp_path / "out")).write(tf.data.Dataset.range(2))


def test_index_file_is_read_as_dataset_without_records(tmp_path: Path) -> None:
    with tf.io.TFRecordWriter(str(tmp_path / "a.tfrecord")) as writer:
        writer.write(b"one")
    assert [one.name for one in tmp_path.iterdir()] == ["a.tfrecord"]
    rm.open(tmp_path / "a.tfrecord")
    names = [str(one) for one in tmp_path.iterdir()]
    assert len(names) == 2 and list_elements(tf.data.TFRecordDataset(names).batch(2)) == list_elements(
        tf.data.Dataset.from_tensors([b"one"])
    )
    (tmp_path / "a.tfrecord").unlink()
    with pytest.raises(tf.errors.NotFoundError):
        list(tf.data.TFRecordDataset(str(tmp_path / "a.tfrecord")))
