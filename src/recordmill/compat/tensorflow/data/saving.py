"""``Dataset.save``: elements in shards of record files, and one small file that tells what they are.

The files are this package's. Shards appear under names of their own; a reader sees them when the file that names them
takes the place of the one before, so that a program which is killed leaves what was there.
"""

from __future__ import annotations

import contextlib
import json
import os
import uuid
from typing import Any

from recordmill.compat.tensorflow.core.errors import (
    DataLossError,
    InvalidArgumentError,
    NotFoundError,
    UnimplementedError,
)
from recordmill.compat.tensorflow.data.packed import form_of, packed, spec_in
from recordmill.compat.tensorflow.files.errors import translate_errors
from recordmill.compat.tensorflow.io.records import TFRecordWriter

CONTENTS = "recordmill-dataset.json"
VERSION = 1
_SUFFIX = ".tfrecord"
# What TensorFlow puts into such folders.
_THEIRS = ("dataset_spec.pb", "snapshot.metadata")
_COMPRESSIONS = {None: "", "": "", "NONE": "", "AUTO": "", "GZIP": "GZIP", "ZLIB": "ZLIB"}


class Saving:
    """Writes elements to the shards of a folder."""

    def __init__(self, folder: str, compression: str | None) -> None:
        if compression not in _COMPRESSIONS:
            raise UnimplementedError(f"compression={compression!r} is not supported: use 'GZIP', or none")
        self._folder, self._compression = folder, _COMPRESSIONS[compression]
        self._run = uuid.uuid4().hex[:12]
        self._writers: dict[int, TFRecordWriter] = {}
        self._counts: dict[int, int] = {}

    def write(self, value: Any, shard: int = 0) -> None:
        """Add an element to a shard; InvalidArgumentError for a negative number of a shard."""
        if shard < 0:
            raise InvalidArgumentError(f"shard_func returned {shard}; shards are numbered from 0")
        if shard not in self._writers:
            with translate_errors(self._folder):
                os.makedirs(self._folder, exist_ok=True)
            self._writers[shard] = TFRecordWriter(os.path.join(self._folder, self._name(shard)), self._compression)
            self._counts[shard] = 0
        self._writers[shard].write(packed(value))
        self._counts[shard] += 1

    def _name(self, shard: int) -> str:
        return f"{self._run}-{shard:05d}{_SUFFIX}"

    def finish(self, spec: Any) -> None:
        """Let readers see what was written, in the place of what was there."""
        shards = sorted(self._writers)
        contents = {
            "version": VERSION,
            "form": form_of(spec),
            "compression": self._compression,
            "shards": [{"name": self._name(one), "elements": self._counts[one]} for one in shards],
        }
        for shard in shards:
            self._writers[shard].close()
        before = _names_in(self._folder)
        with translate_errors(self._folder):
            os.makedirs(self._folder, exist_ok=True)
            _put(os.path.join(self._folder, CONTENTS), json.dumps(contents, indent=1))
        for name in before:
            with contextlib.suppress(OSError):
                os.unlink(os.path.join(self._folder, name))

    def discard(self) -> None:
        """Leave what was there, and nothing else."""
        for writer in self._writers.values():
            writer.__exit__(InterruptedError, None, None)


def _put(path: str, text: str) -> None:
    """Write a file whole."""
    aside = f"{path}.{uuid.uuid4().hex[:12]}"
    try:
        with open(aside, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(aside, path)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(aside)


def _names_in(folder: str) -> list[str]:
    try:
        return [name for name, _ in read_contents(folder)[2]]
    except (NotFoundError, UnimplementedError, DataLossError):
        return []


def _plain(name: str) -> str:
    """Name of a file in the folder itself: others are not to be read, let alone removed."""
    if os.path.basename(name) != name or not name.endswith(_SUFFIX):
        raise ValueError(f"{name!r} is no name of a shard")
    return name


def is_saved(folder: str) -> bool:
    """Whether a folder holds a data set that this package saved."""
    return os.path.exists(os.path.join(folder, CONTENTS))


def read_contents(folder: str) -> tuple[Any, str, list[tuple[str, int]]]:
    """Read what a folder holds."""
    path = os.path.join(folder, CONTENTS)
    if not os.path.exists(path):
        if any(os.path.exists(os.path.join(folder, name)) for name in _THEIRS):
            raise UnimplementedError(
                f"{folder} was saved by TensorFlow, whose files of saved data sets are not read: write its elements to "
                "TFRecord files with TensorFlow once"
            )
        raise NotFoundError(f"{folder} holds no saved data set: there is no {path}", shard=path)
    try:
        with translate_errors(path), open(path, encoding="utf-8") as file:
            told = json.load(file)
        if told["version"] > VERSION:
            raise UnimplementedError(f"{path} is of version {told['version']}, this package reads up to {VERSION}")
        shards = [(_plain(one["name"]), int(one["elements"])) for one in told["shards"]]
        return spec_in(told["form"]), _COMPRESSIONS[told["compression"]], shards
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        hint = "save the data set again"
        raise DataLossError(f"it does not tell what the shards hold ({error})", shard=path, hint=hint) from None
