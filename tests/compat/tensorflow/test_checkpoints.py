"""Files that ModelCheckpoint writes, and the newest of them, without Keras."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import recordmill.compat.tensorflow as tf
from recordmill.compat.tensorflow.keras.callbacks import AtomicModel, complete_file_name


def write(folder: Path, *names: str) -> None:
    """Make files, each a second younger than the one before."""
    for age, name in enumerate(names):
        (folder / name).write_bytes(b"weights")
        os.utime(folder / name, (1_700_000_000 + age, 1_700_000_000 + age))


def test_latest_checkpoint_when_there_are_several_then_is_the_youngest(tmp_path) -> None:
    write(tmp_path, "b.weights.h5", "z.keras", "ckpt-loss0.52acc0.900.weights.h5", "notes.txt", ".partial-c.weights.h5")
    found = tf.train.latest_checkpoint(tmp_path)
    assert found == str(tmp_path / "ckpt-loss0.52acc0.900.weights.h5") and isinstance(found, str)
    assert tf.train.latest_checkpoint(os.fsencode(tmp_path)) == found


def test_latest_checkpoint_when_as_old_then_is_the_last_by_name(tmp_path) -> None:
    write(tmp_path, "2.weights.h5", "1.weights.h5")
    os.utime(tmp_path / "2.weights.h5", (1_700_000_001, 1_700_000_001))
    assert tf.train.latest_checkpoint(str(tmp_path)) == str(tmp_path / "2.weights.h5")


def test_latest_checkpoint_when_the_folder_is_relative_then_stays_relative(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ckpt1").mkdir()
    write(tmp_path / "ckpt1", "a.weights.h5")
    assert tf.train.latest_checkpoint("./ckpt1") == "./ckpt1/a.weights.h5"


@pytest.mark.parametrize("names", [(), ("checkpoint", "events.out", ".partial-1.weights.h5")])
def test_latest_checkpoint_when_there_is_none_then_is_none(tmp_path, names) -> None:
    write(tmp_path, *names)
    assert tf.train.latest_checkpoint(tmp_path) is None
    assert tf.train.latest_checkpoint(tmp_path / "missing") is None


def test_latest_checkpoint_when_tensorflow_wrote_it_then_is_refused_by_name(tmp_path) -> None:
    write(tmp_path, "checkpoint", "ckpt-3.data-00000-of-00001", "ckpt-3.index")
    with pytest.raises(NotImplementedError, match=r"'ckpt-3'.*TensorFlow's own format"):
        tf.train.latest_checkpoint(tmp_path)
    with pytest.raises(tf.errors.UnimplementedError, match="latest_filename"):
        tf.train.latest_checkpoint(tmp_path, latest_filename="list")


@pytest.mark.parametrize(
    "given, weights_only, expected",
    [
        ("ckpt-loss{loss:.2f}a{acc:.3f}", True, "ckpt-loss{loss:.2f}a{acc:.3f}.weights.h5"),
        ("a.weights.h5", True, "a.weights.h5"),
        ("a.h5", True, "a.weights.h5"),
        ("a.ckpt", True, "a.ckpt.weights.h5"),
        ("a", False, "a.keras"),
        ("a.h5", False, "a.h5"),
        ("a.keras", False, "a.keras"),
    ],
)
def test_complete_file_name_appends_suffix_of_keras(given, weights_only, expected) -> None:
    assert complete_file_name(given, weights_only=weights_only) == expected


class Model:
    """Model that fails after it has written a part of a file, or succeeds."""

    name = "model"

    def __init__(self, fails: bool) -> None:
        self.fails = fails

    def save_weights(self, path, overwrite=True) -> None:
        Path(path).write_bytes(b"half")
        if self.fails:
            raise OSError("disk full")
        Path(path).write_bytes(b"complete")

    save = save_weights


@pytest.mark.parametrize("method", ["save", "save_weights"])
def test_atomic_model_keeps_old_file_if_saving_fails(tmp_path, method) -> None:
    path = tmp_path / "a.weights.h5"
    path.write_bytes(b"old")
    with pytest.raises(OSError, match="disk full"):
        getattr(AtomicModel(Model(fails=True)), method)(str(path), overwrite=True)
    assert path.read_bytes() == b"old" and os.listdir(tmp_path) == ["a.weights.h5"]
    getattr(AtomicModel(Model(fails=False)), method)(str(path))
    assert path.read_bytes() == b"complete" and os.listdir(tmp_path) == ["a.weights.h5"]
    assert AtomicModel(Model(fails=False)).name == "model"
