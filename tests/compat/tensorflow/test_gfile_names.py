"""TensorFlow 1's names for files and folders: the same deeds as those of `tf.io.gfile`."""

from __future__ import annotations

from pathlib import Path

import pytest

import recordmill.compat.tensorflow as tf


def test_files_when_handled_by_their_old_names_then_are_made_moved_and_removed(tmp_path: Path) -> None:
    names, root = tf.gfile, str(tmp_path)
    names.MkDir(f"{root}/a")
    names.MakeDirs(f"{root}/b/c")
    with names.Open(f"{root}/b/x.txt", "w") as file:
        file.write("hello")
    names.Copy(f"{root}/b/x.txt", f"{root}/b/c/y.txt")
    names.Rename(f"{root}/b/x.txt", f"{root}/a/x.txt")
    assert names.Exists(f"{root}/a/x.txt") and not names.Exists(f"{root}/b/x.txt")
    assert names.IsDirectory(f"{root}/b/c") and not names.IsDirectory(f"{root}/a/x.txt")
    assert names.ListDirectory(root) == tf.io.gfile.listdir(root) and sorted(names.ListDirectory(root)) == ["a", "b"]
    assert names.Glob(f"{root}/*/x.txt") == [f"{root}/a/x.txt"]
    assert names.Stat(f"{root}/a/x.txt").length == 5
    assert [folder for folder, _, _ in names.Walk(root)] == [folder for folder, _, _ in tf.io.gfile.walk(root)]
    assert names.FastGFile(f"{root}/b/c/y.txt").read() == "hello"
    names.Remove(f"{root}/a/x.txt")
    names.DeleteRecursively(f"{root}/b")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["a"]
    with pytest.raises(tf.errors.NotFoundError):
        names.Remove(f"{root}/a/x.txt")
