"""`latest_checkpoint`, and the files that ModelCheckpoint writes; these tests need no Keras."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import recordmill.compat.tensorflow as tf
from recordmill.compat.tensorflow.keras.callbacks import AtomicModel, add_required_suffix


def write(folder: Path, *names: str) -> None:
    """Create files whose modification times are one second apart."""
    for age, name in enumerate(names):
        (folder / name).write_bytes(b"weights")
        os.utime(folder / name, (1_700_000_000 + age, 1_700_000_000 + age))


def test_latest_checkpoint_returns_newest_file(tmp_path) -> None:
    write(tmp_path, "b.weights.h5", "z.keras", "ckpt-loss0.52acc0.900.weights.h5", "notes.txt", ".partial-c.weights.h5")
    found = tf.train.latest_checkpoint(tmp_path)
    assert found == str(tmp_path / "ckpt-loss0.52acc0.900.weights.h5") and isinstance(found, str)
    assert tf.train.latest_checkpoint(os.fsencode(tmp_path)) == found


def test_latest_checkpoint_orders_files_of_equal_age_by_name(tmp_path) -> None:
    write(tmp_path, "2.weights.h5", "1.weights.h5")
    os.utime(tmp_path / "2.weights.h5", (1_700_000_001, 1_700_000_001))
    assert tf.train.latest_checkpoint(str(tmp_path)) == str(tmp_path / "2.weights.h5")


def test_latest_checkpoint_keeps_relative_path(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ckpt1").mkdir()
    write(tmp_path / "ckpt1", "a.weights.h5")
    assert tf.train.latest_checkpoint("./ckpt1") == "./ckpt1/a.weights.h5"


@pytest.mark.parametrize("names", [(), ("checkpoint", "events.out", ".partial-1.weights.h5")])
def test_latest_checkpoint_without_files_returns_none(tmp_path, names) -> None:
    write(tmp_path, *names)
    assert tf.train.latest_checkpoint(tmp_path) is None
    assert tf.train.latest_checkpoint(tmp_path / "missing") is None


def test_latest_checkpoint_rejects_format_of_tensorflow(tmp_path) -> None:
    write(tmp_path, "checkpoint", "ckpt-3.data-00000-of-00001", "ckpt-3.index")
    with pytest.raises(NotImplementedError, match=r"'ckpt-3'.*TensorFlow's own format"):
        tf.train.latest_checkpoint(tmp_path)
    with pytest.raises(tf.errors.UnimplementedError, match="latest_filename"):
        tf.train.latest_checkpoint(tmp_path, latest_filename="list")


@pytest.mark.parametrize(
    "name, weights_only, expected",
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
def test_complete_file_name_appends_suffix_of_keras(name, weights_only, expected) -> None:
    assert add_required_suffix(name, weights_only=weights_only) == expected


class Model:
    """A model whose saving succeeds, or fails after writing part of a file."""

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
