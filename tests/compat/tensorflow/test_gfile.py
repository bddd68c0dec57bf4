"""`tf.io.gfile` and TensorFlow 1's names for it: create, read, write, move and remove files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import recordmill.compat.tensorflow as tf


def test_tensorflow_1_names_create_move_and_remove_files(tmp_path: Path) -> None:
    gfile, root = tf.gfile, str(tmp_path)
    gfile.MkDir(f"{root}/a")
    gfile.MakeDirs(f"{root}/b/c")
    with gfile.Open(f"{root}/b/x.txt", "w") as file:
        file.write("hello")
    gfile.Copy(f"{root}/b/x.txt", f"{root}/b/c/y.txt")
    gfile.Rename(f"{root}/b/x.txt", f"{root}/a/x.txt")
    assert gfile.Exists(f"{root}/a/x.txt") and not gfile.Exists(f"{root}/b/x.txt")
    assert gfile.IsDirectory(f"{root}/b/c") and not gfile.IsDirectory(f"{root}/a/x.txt")
    assert gfile.ListDirectory(root) == tf.io.gfile.listdir(root) and sorted(gfile.ListDirectory(root)) == ["a", "b"]
    assert gfile.Glob(f"{root}/*/x.txt") == [f"{root}/a/x.txt"]
    assert gfile.Stat(f"{root}/a/x.txt").length == 5
    assert [folder for folder, _, _ in gfile.Walk(root)] == [folder for folder, _, _ in tf.io.gfile.walk(root)]
    assert gfile.FastGFile(f"{root}/b/c/y.txt").read() == "hello"
    gfile.Remove(f"{root}/a/x.txt")
    gfile.DeleteRecursively(f"{root}/b")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a"]
    with pytest.raises(tf.errors.NotFoundError):
        gfile.Remove(f"{root}/a/x.txt")


@pytest.mark.parametrize(
    "mode, content, expected", [("r+", "old", "newold"), ("w+", "", "new"), ("a+", "old", "oldnew")]
)
def test_gfile_reads_and_writes_like_file_of_python(tmp_path: Path, mode: str, content: str, expected: str) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    with tf.io.gfile.GFile(path, mode) as file:
        file.seek(0)
        assert file.read() == content
        if mode == "r+":
            file.seek(0)
        file.write("new")
        assert file.size() == len("new" if mode == "r+" else expected)
        if mode == "r+":
            file.write("old")
        file.seek(0)
        assert file.read() == expected
    assert path.read_text() == expected


def test_file_errors_have_classes_of_python_and_tensorflow(tmp_path: Path) -> None:
    target = tmp_path / "x"
    target.write_bytes(b"1")
    for act in (lambda: tf.io.gfile.mkdir(target / "y"), lambda: tf.io.read_file(str(target / "y"))):
        with pytest.raises(OSError, match="Not a directory") as caught:
            act()
        assert isinstance(caught.value, tf.errors.OpError)
    with pytest.raises(tf.errors.AlreadyExistsError):
        tf.io.gfile.copy(target, target)


def test_unclosed_file_is_closed_when_deleted(tmp_path: Path) -> None:
    tf.io.gfile.GFile(tmp_path / "x", "w").write("text")
    assert (tmp_path / "x").read_text() == "text"
    assert os.listdir(tmp_path) == ["x"]
