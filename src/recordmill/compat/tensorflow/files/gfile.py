"""``tf.io.gfile``: files and folders by name."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Any

from recordmill.compat.tensorflow.core.absent import missing
from recordmill.compat.tensorflow.core.errors import (
    AlreadyExistsError,
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
)
from recordmill.compat.tensorflow.files.faults import path_of, translated
from recordmill.compat.tensorflow.files.file import GFile
from recordmill.compat.tensorflow.files.matching import entries, matches, sidecars
from recordmill.dataclass import dataclass

__all__ = [
    "GFile",
    "copy",
    "exists",
    "glob",
    "isdir",
    "join",
    "listdir",
    "makedirs",
    "mkdir",
    "remove",
    "rename",
    "rmtree",
    "stat",
    "walk",
]
__getattr__ = missing(__name__, "io.gfile")


@dataclass(frozen=True, slots=True)
class FileStatistics:
    """What the system knows of a file."""

    length: int
    mtime_nsec: int
    is_directory: bool


def exists(path: Any) -> bool:
    """Whether there is a file or folder."""
    return os.path.exists(path_of(path))


def isdir(path: Any) -> bool:
    """Whether there is a folder of that name."""
    return os.path.isdir(path_of(path))


def listdir(path: Any) -> list[str]:
    """Names in a folder, in order, without the index files that are kept beside shards."""
    name = path_of(path)
    if not os.path.isdir(name):
        raise NotFoundError(f"Could not find directory {name}", shard=name)
    with translated(name):
        return entries(name)


def glob(pattern: Any) -> list[str]:
    """Paths that match a pattern, or one of several, in order."""
    patterns = pattern if isinstance(pattern, list | tuple) else [pattern]
    return [found for one in patterns for found in matches(path_of(one))]


def mkdir(path: Any) -> None:
    """Make a folder; one that is there already may be."""
    name = path_of(path)
    if not os.path.isdir(name):
        with translated(name):
            os.mkdir(name)


def makedirs(path: Any) -> None:
    """Make a folder and those that it lies in."""
    name = path_of(path)
    with translated(name):
        os.makedirs(name, exist_ok=True)


def remove(path: Any) -> None:
    """Remove a file, and the index that may be kept beside it."""
    name = path_of(path)
    if os.path.isdir(name):
        raise FailedPreconditionError(f"{name}; Is a directory", shard=name)
    with translated(name):
        os.remove(name)
    _forget(name)


def rename(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Give a file or folder another name; what has that name is replaced only if `overwrite` says so."""
    source, target = path_of(src), path_of(dst)
    if os.path.exists(target) and not overwrite:
        raise AlreadyExistsError("file already exists", shard=target)
    with translated(source):
        os.replace(source, target)
    _forget(source)
    _forget(target)


def copy(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Copy the content of a file; what has the name is replaced only if `overwrite` says so."""
    source, target = path_of(src), path_of(dst)
    if os.path.exists(target) and not overwrite:
        raise AlreadyExistsError("file already exists", shard=target)
    if os.path.isdir(source):
        raise InvalidArgumentError(f"{target}; Invalid argument", shard=source)
    with translated(source if not os.path.exists(source) else target):
        shutil.copyfile(source, target)
    _forget(target)


def rmtree(path: Any) -> None:
    """Remove a folder with all that is in it, or a file."""
    name = path_of(path)
    if not os.path.lexists(name):
        raise NotFoundError(f"{name} not found", shard=name)
    if not os.path.isdir(name) or os.path.islink(name):
        remove(name)
        return
    with translated(name):
        shutil.rmtree(name)


def stat(path: Any) -> FileStatistics:
    """Size, time of the last change, and whether it is a folder."""
    name = path_of(path)
    with translated(name):
        found = os.stat(name)
    return FileStatistics(found.st_size, found.st_mtime_ns, os.path.isdir(name))


def walk(top: Any, topdown: bool = True, onerror: Any = None) -> Iterator[tuple[str, list[str], list[str]]]:
    """Folders below a folder, each with the names of folders and files in it; nothing if it is none."""
    name = path_of(top)
    try:
        found = listdir(name)
    except (NotFoundError, OSError) as error:
        if onerror is not None:
            onerror(error)
        return
    folders = [one for one in found if os.path.isdir(os.path.join(name, one))]
    files = [one for one in found if one not in {*folders}]
    if topdown:
        yield name, folders, files
    for folder in folders:
        yield from walk(os.path.join(name, folder), topdown, onerror)
    if not topdown:
        yield name, folders, files


def join(path: Any, *paths: Any) -> str:
    """Path made of parts."""
    return os.path.join(path_of(path), *map(path_of, paths))


def _forget(path: str) -> None:
    """Remove the index of a shard that has gone."""
    for name in sidecars(path):
        if os.path.exists(name):
            os.remove(name)
