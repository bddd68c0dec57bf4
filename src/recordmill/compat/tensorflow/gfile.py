"""``tf.gfile``: TensorFlow 1's names for files and folders."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from recordmill.compat.tensorflow.core.absent import missing
from recordmill.compat.tensorflow.files import gfile
from recordmill.compat.tensorflow.files.file import GFile

__getattr__ = missing(__name__)

Open = FastGFile = GFile


def Exists(filename: Any) -> bool:
    """Whether there is a file or folder."""
    return gfile.exists(filename)


def IsDirectory(dirname: Any) -> bool:
    """Whether there is a folder of that name."""
    return gfile.isdir(dirname)


def ListDirectory(dirname: Any) -> list[str]:
    """Names in a folder."""
    return gfile.listdir(dirname)


def Glob(filename: Any) -> list[str]:
    """Paths that match a pattern, or one of several."""
    return gfile.glob(filename)


def MkDir(dirname: Any) -> None:
    """Make a folder."""
    gfile.mkdir(dirname)


def MakeDirs(dirname: Any) -> None:
    """Make a folder and those that it lies in."""
    gfile.makedirs(dirname)


def Remove(filename: Any) -> None:
    """Remove a file."""
    gfile.remove(filename)


def DeleteRecursively(dirname: Any) -> None:
    """Remove a folder with all that is in it."""
    gfile.rmtree(dirname)


def Rename(oldname: Any, newname: Any, overwrite: bool = False) -> None:
    """Give a file or folder another name."""
    gfile.rename(oldname, newname, overwrite)


def Copy(oldpath: Any, newpath: Any, overwrite: bool = False) -> None:
    """Copy the content of a file."""
    gfile.copy(oldpath, newpath, overwrite)


def Stat(filename: Any) -> gfile.FileStatistics:
    """Size, time of the last change, and whether it is a folder."""
    return gfile.stat(filename)


def Walk(top: Any, in_order: bool = True) -> Iterator[tuple[str, list[str], list[str]]]:
    """Folders below a folder, each with the names of folders and files in it."""
    return gfile.walk(top, in_order)
