"""The open file of a shard: opened again in another process, and where it was let go, as what it was."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from recordmill.shards.held import hold, opened
from recordmill.shards.identity import Identity, Marks, located, marks_of, open_known, working_folder
from recordmill.shards.opening import OpenShard


class Handle:
    """A shard that is open while it is needed.

    Safe to pickle, to use after fork, and to use in several threads.

    Parameters
    ----------
    paths : sequence of str
        One file, or several that make one stream of bytes.
    options : mapping
        Of `open_shard`.
    """

    def __init__(self, paths: Sequence[str], options: Mapping[str, Any]) -> None:
        self.paths = tuple(paths)
        self.known: Identity | None = None
        self.seek_points: bytes | None = None
        self._options = dict(options)
        self._folder = working_folder()
        self._marks: Marks | None = None
        self._open: OpenShard | None = None
        self._process = os.getpid()
        self._closed = False
        shard = self.shard
        self._options |= {"format": shard.format.name, "compression": shard.compression}

    @property
    def format(self) -> str:
        """Name of the format."""
        return str(self._options["format"])

    @property
    def shard(self) -> OpenShard:
        """The open shard."""
        if self._closed:
            raise ValueError(f"the reader of {self.paths[0]!r} is closed")
        shard = self._open
        if shard is None or self._process != os.getpid():
            shard = opened(self._opened, self.paths[0])
            self._open, self._process = shard, os.getpid()
            hold(self)
        return shard

    def _opened(self) -> OpenShard:
        paths = located(self.paths, self._folder)
        shard = open_known(paths, self._options, self.known)
        self._marks = marks_of(paths, self._marks if self._process == os.getpid() else None)
        if self.seek_points is not None:
            shard.source.restore_seek_points(self.seek_points)
        return shard

    def let_go(self) -> None:
        """Close the file until it is needed again."""
        self._open = None

    def close(self) -> None:
        """Close the file for good."""
        self._open, self._closed = None, True

    def __getstate__(self) -> dict[str, Any]:
        """State without what belongs to this process."""
        return self.__dict__ | {"_open": None, "_marks": None, "seek_points": None}
