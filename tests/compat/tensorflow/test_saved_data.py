"""Saved data sets: what is there stays until something whole takes its place, and what is damaged is told by name."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

import recordmill.compat.tensorflow as tf
from recordmill.compat.tensorflow.data.saving import CONTENTS
from tests.golden import RECORDINGS

D = tf.data.Dataset


def listed(data: Any) -> list[Any]:
    return [one.tolist() for one in data.as_numpy_iterator()]


def failing(count: int) -> Any:
    def numbers() -> Any:
        yield from range(count)
        raise RuntimeError("the source broke")

    return D.from_generator(numbers, tf.int64, [])


def test_data_set_when_saving_fails_then_leaves_what_was_there(tmp_path: Path) -> None:
    folder = tmp_path / "kept"
    D.range(3).save(str(folder))
    before = sorted(os.listdir(folder))
    with pytest.raises(tf.errors.UnknownError, match="the source broke"):
        failing(2).save(str(folder))
    assert sorted(os.listdir(folder)) == before and listed(D.load(str(folder))) == [0, 1, 2]


def test_data_set_when_saved_again_then_replaces_the_shards(tmp_path: Path) -> None:
    D.range(9).save(str(tmp_path), shard_func=lambda x: x % 3)
    old = D.load(str(tmp_path))
    D.range(2).save(str(tmp_path))
    assert len(os.listdir(tmp_path)) == 2 and listed(D.load(str(tmp_path))) == [0, 1]
    with pytest.raises(tf.errors.NotFoundError, match=r"saved again(.|\n)*load it again"):
        listed(old)


def test_snapshot_when_a_pass_does_not_end_then_is_not_kept(tmp_path: Path) -> None:
    made = []

    def noted(x: Any) -> Any:
        made.append(int(x))
        return x

    data = D.range(4).map(lambda x: tf.py_function(noted, [x], tf.int64)).snapshot(str(tmp_path / "shot"))
    assert len(list(data.take(2))) == 2 and not (tmp_path / "shot" / CONTENTS).exists()
    assert listed(data) == [0, 1, 2, 3] and (tmp_path / "shot" / CONTENTS).exists()
    made.clear()
    assert listed(data) == [0, 1, 2, 3] and data.element_spec == tf.TensorSpec([], tf.int64) and made == []


def test_snapshot_when_an_element_fails_then_is_not_kept(tmp_path: Path) -> None:
    data = failing(2).snapshot(str(tmp_path / "shot"))
    assert listed(data.ignore_errors()) == [0, 1] and not (tmp_path / "shot" / CONTENTS).exists()


def test_saved_files_when_damaged_or_of_others_then_are_refused_by_name(tmp_path: Path) -> None:
    folder = str(tmp_path)
    with pytest.raises(tf.errors.NotFoundError, match="holds no saved data set"):
        D.load(folder)
    (tmp_path / "dataset_spec.pb").write_bytes(b"")
    with pytest.raises(tf.errors.UnimplementedError, match="was saved by TensorFlow"):
        D.load(folder)
    (tmp_path / "snapshot.metadata").write_bytes(b"")
    with pytest.raises(tf.errors.UnimplementedError, match="something else than dense tensors"):
        D.load(folder)
    D.range(3).save(folder)
    contents = json.loads((tmp_path / CONTENTS).read_text())
    shard = tmp_path / contents["shards"][0]["name"]
    shard.write_bytes(shard.read_bytes()[:-5])
    with pytest.raises(tf.errors.DataLossError, match="truncated record"):
        listed(D.load(folder))
    (tmp_path / CONTENTS).write_text(json.dumps(contents | {"version": 2}))
    with pytest.raises(tf.errors.UnimplementedError, match="is of version 2"):
        D.load(folder)
    (tmp_path / CONTENTS).write_text('{"version": 1}')
    with pytest.raises(tf.errors.DataLossError, match="does not tell what the shards hold"):
        D.load(folder)


@pytest.mark.parametrize("name", ["../outside.tfrecord", "/outside.tfrecord", "inner/one.tfrecord", "notes.txt", ""])
def test_folder_when_its_contents_name_files_elsewhere_then_they_are_neither_read_nor_removed(
    name: str, tmp_path: Path
) -> None:
    folder, outside = tmp_path / "saved", tmp_path / "outside.tfrecord"
    D.range(3).save(str(folder))
    told = json.loads((folder / CONTENTS).read_text())
    (folder / told["shards"][0]["name"]).rename(outside)
    (folder / "notes.txt").write_text("mine")
    told["shards"][0]["name"] = name.replace("/outside", f"{tmp_path}/outside") if name.startswith("/") else name
    (folder / CONTENTS).write_text(json.dumps(told))
    with pytest.raises(tf.errors.DataLossError, match="no name of a shard"):
        D.load(str(folder))
    D.range(2).save(str(folder))
    assert outside.exists() and (folder / "notes.txt").exists() and listed(D.load(str(folder))) == [0, 1]


@pytest.mark.parametrize("damaged", [b"\x12\xff", b"\x12\x02\xff\xfe", b"\x0b\x01"])
def test_data_set_of_tensorflow_when_the_file_that_names_the_run_is_damaged_then_is_told(
    damaged: bytes, tmp_path: Path
) -> None:
    shutil.copytree(RECORDINGS / "compat/tensorflow/saved/packed", tmp_path, dirs_exist_ok=True)
    (tmp_path / "snapshot.metadata").write_bytes(damaged)
    with pytest.raises(tf.errors.DataLossError, match="where the elements are"):
        D.load(str(tmp_path))


ODD = [None, 1, -1, "x", [], {}, {"tuple": []}, {"dict": [[1, {"dtype": "int32", "shape": []}]]}, {"dtype": "zz"}]


@given(st.data())
def test_folder_when_its_contents_are_anything_then_is_read_or_named(data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        D.range(3).map(lambda x: {"a": x, "b": (x, x)}).save(folder)
        told = json.loads(Path(folder, CONTENTS).read_text())
        inner, key = told, "form"
        while data.draw(st.booleans()) and isinstance(inner[key], dict | list) and inner[key]:
            inner = inner[key]
            key = data.draw(st.sampled_from(sorted(inner) if isinstance(inner, dict) else range(len(inner))))
        if data.draw(st.integers(0, 3)) == 0:
            inner, key = told, data.draw(st.sampled_from(sorted(told)))
        inner[key] = data.draw(st.sampled_from(ODD))
        Path(folder, CONTENTS).write_text(json.dumps(told))
        with contextlib.suppress(tf.errors.DataLossError, tf.errors.UnimplementedError):
            D.load(folder).cardinality()
            list(D.load(folder))


def test_record_when_it_is_no_saved_element_then_is_told_with_its_number(tmp_path: Path) -> None:
    D.range(3).save(str(tmp_path))
    D.zip((D.range(2), D.range(2))).save(str(tmp_path / "other"))
    shard, other = (next(folder.glob("*.tfrecord")) for folder in (tmp_path, tmp_path / "other"))
    shard.write_bytes(shard.read_bytes() + other.read_bytes())
    kept = []
    with pytest.raises(tf.errors.DataLossError, match="a record holds 2 tensors, not 1") as caught:
        kept.extend(D.load(str(tmp_path)))
    assert (caught.value.shard, caught.value.record) == (str(shard), 3)


def test_options_when_not_supported_then_are_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(NotImplementedError, match="checkpoint_args"):
        D.range(1).save(str(tmp_path), checkpoint_args={})
    with pytest.raises(tf.errors.UnimplementedError, match="compression='ZIP'"):
        D.range(1).snapshot(str(tmp_path), compression="ZIP")
    with pytest.raises(NotImplementedError, match="wait=True"):
        D.load(str(tmp_path), wait=True)
    with pytest.raises(tf.errors.UnimplementedError, match="hold a Dataset are not kept"):
        D.range(4).window(2).save(str(tmp_path))


def test_data_set_without_elements_when_saved_then_has_none(tmp_path: Path) -> None:
    D.range(3).filter(lambda x: x > 5).map(lambda x: tf.py_function(abs, [x], tf.int64)).save(str(tmp_path))
    assert listed(D.load(str(tmp_path))) == []


def test_data_set_when_tensorflow_saved_it_then_is_read(tmp_path: Path) -> None:
    given = RECORDINGS / "compat/tensorflow/saved"
    data = D.load(str(given / "mixed"))
    assert data.element_spec == {
        "a": tf.TensorSpec([], tf.int64),
        "b": (tf.TensorSpec([None], tf.float32), tf.TensorSpec([2], tf.string)),
    }
    rows = [(int(x["a"]), x["b"][0].numpy().tolist(), x["b"][1].numpy().tolist()) for x in data]
    assert rows == [(n, [n / 2] * n, [b"%d" % n, b"x" * (n * 100)]) for n in range(3)]
    with pytest.raises(tf.errors.UnimplementedError, match="without a reader_func"):
        D.load(str(given / "mixed"), reader_func=lambda shards: shards)
    with pytest.raises(tf.errors.UnimplementedError, match="something else than dense tensors"):
        D.load(str(given / "ragged"))
    assert listed(D.load(str(given / "packed"), compression="GZIP")) == [0, 1, 2, 3]
    copied = tmp_path / "cut"
    shutil.copytree(given / "mixed", copied)
    (shard,) = copied.rglob("*.snapshot")
    shard.write_bytes(shard.read_bytes()[:-3])
    with pytest.raises(tf.errors.DataLossError, match="truncated record"):
        list(D.load(str(copied)))
    spec, whole = copied / "dataset_spec.pb", (given / "mixed" / "dataset_spec.pb").read_bytes()
    for place in range(len(whole)):
        for damaged in (whole[:place], whole[:place] + b"\x08" + whole[place + 1 :]):
            spec.write_bytes(damaged)
            with contextlib.suppress(tf.errors.DataLossError, tf.errors.UnimplementedError):
                D.load(str(copied))
    spec.write_bytes(whole[:-3])
    with pytest.raises(tf.errors.DataLossError, match="does not tell the elements' form"):
        D.load(str(copied))


@pytest.mark.parametrize("given", [{"target_dist": [-1.0, 2.0]}, {"target_dist": [1.0], "initial_dist": [0.5, 0.5]}])
def test_resampling_when_shares_cannot_be_then_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="target_dist"):
        D.range(3).rejection_resample(lambda x: tf.cast(x, tf.int32), **given)


def test_resampling_when_classes_cannot_be_then_fails_there_and_goes_on() -> None:
    data = D.range(4).rejection_resample(lambda x: tf.cast(x, tf.int32), [0.5, 0.5], [0.5, 0.5])
    with pytest.raises(ValueError, match="returned 2; target_dist has 2 classes"):
        list(data)
    assert [int(one) for one, _ in data.ignore_errors()] == [0, 1]
    with pytest.raises(TypeError, match="one whole number"):
        list(D.range(2).rejection_resample(lambda x: tf.cast(x, tf.float32), [1.0]))
    first, again = ([int(x) for _, x in D.range(99).rejection_resample(_odd, [0.9, 0.1], seed=4)] for _ in range(2))
    assert first == again


def _odd(x: Any) -> Any:
    return x % 2
