"""Reads the payloads of one file one after another, from any frame on, without an index."""

from __future__ import annotations

import os
from collections import deque
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from recordmill import _core
from recordmill.errors import RecordmillError
from recordmill.shards.opening import OpenShard, open_shard
from recordmill.shards.translate import to_error, translated

# Records and bytes that are read ahead at most; after a seek it begins with one record.
_MOST_RECORDS = 256
_MOST_BYTES = 4 << 20
# Records of so many bytes are read one by one, each to its own place; shorter ones together.
_LONG_BYTES = 8 << 10


class PayloadReader:
    """Reads payloads from a place in one file that moves on, and can be set to any frame.

    For programs that read until there is nothing more, or hold offsets themselves; `ShardReader` finds records by
    position. Copies made by pickle or by fork go on from where the original was. It belongs to one thread.

    Parameters
    ----------
    path : path
    format : {"tfrecord", "ofrecord", "recordio"}, optional
        What content says by default.
    compression : {"auto", "gzip", "zlib"} or None
        What content says by default.
    verify : bool
        Whether every checksum that the format has is computed.

    Raises
    ------
    FormatError
        The content is of no known format, or not what was declared.
    OSError
        The file cannot be opened.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        format: str | None = None,  # noqa: A002
        compression: str | None = "auto",
        verify: bool = True,
    ) -> None:
        self.path, self._format, self._compression, self._verify = os.fspath(path), format, compression, verify
        self._shard: OpenShard | None = open_shard([self.path], format, compression)
        self._ready: deque[tuple[int, bytes]] = deque()
        self._damage: RecordmillError | None = None
        self._next, self._ahead = 0, _MOST_RECORDS

    def read(self) -> bytes | None:
        """Take the next payload.

        Returns
        -------
        bytes or None
            None at the end of the file; `seek` leads back from there.

        Raises
        ------
        DamageError
            No whole frame stands there; raised again by the next call.
        """
        if not self._ready:
            if self._damage is None:
                self._fill()
            if not self._ready:
                if self._damage is not None:
                    raise self._damage
                return None
        return self._ready.popleft()[1]

    def seek(self, offset: int) -> None:
        """Go on with the frame that begins at an offset, in bytes of the uncompressed file."""
        if offset < 0:
            raise ValueError(f"an offset is not negative, not {offset}")
        self._ready.clear()
        self._next, self._ahead, self._damage = offset, 1, None

    def tell(self) -> int:
        """Offset of the frame that is read next."""
        return self._ready[0][0] if self._ready else self._next

    def _fill(self) -> None:
        shard = self._opened()
        size = shard.source.num_bytes
        if size is not None and self._next >= size:
            return
        ahead, self._ahead = self._ahead, min(2 * self._ahead, _MOST_RECORDS)
        with translated(shard.name):
            if not self._take_singly(shard, ahead):
                self._take_together(shard, ahead)

    def _take_singly(self, shard: OpenShard, ahead: int) -> bool:
        """Read the record that was sought, or long ones that follow one another; False if there is none."""
        kind, shortest = shard.format.framing.kind, 0 if ahead == 1 else _LONG_BYTES
        ready, self._next = _core.read_singles(
            shard.source, kind, self._next, ahead, shortest=shortest, verify=self._verify
        )
        self._ready.extend(ready)
        return bool(ready)

    def _take_together(self, shard: OpenShard, ahead: int) -> None:
        """Find frames and fetch them, up to the first that is damaged."""
        found = _core.scan(shard.source, shard.format.framing.kind, start=self._next, max_records=ahead)
        offsets, lengths, fault = np.asarray(found[0]), np.asarray(found[1]), found[3]
        count = max(int(np.searchsorted(np.cumsum(lengths), _MOST_BYTES)), 1)
        if fault is not None and count >= len(offsets):
            self._damage = to_error((fault[0], None, *fault[2:]), shard.name)
        offsets, lengths = offsets[:count], lengths[:count]
        if len(offsets):
            self._take(shard, offsets, lengths)

    def _take(self, shard: OpenShard, offsets: NDArray[np.int64], lengths: NDArray[np.int64]) -> None:
        """Fetch frames; those in front of a damaged payload are good."""
        kind = shard.format.framing.kind
        try:
            data, splits = _core.fetch(shard.source, kind, offsets, lengths, verify=self._verify)
        except _core.CoreFault as error:
            self._damage = to_error((error.args[0], None, *error.args[2:]), shard.name)
            count = int(error.args[1] or 0)
            offsets, lengths = offsets[:count], lengths[:count]
            data, splits = _core.fetch(shard.source, kind, offsets, lengths, verify=self._verify)
        self._ready.extend(zip(offsets.tolist(), _core.split(data, splits), strict=True))
        if len(offsets):
            self._next = int(offsets[-1] + lengths[-1])

    def _opened(self) -> OpenShard:
        if self._shard is None:
            raise ValueError(f"the reader of {self.path!r} is closed")
        return self._shard

    def close(self) -> None:
        """Let go of the file; the reader cannot be used afterwards."""
        self._shard = None
        self._ready.clear()

    def __enter__(self) -> Self:
        """Return the reader itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close."""
        self.close()

    def __getstate__(self) -> dict[str, Any]:
        """State without the open file and what was read ahead."""
        state = self.__dict__ | {"_shard": self._shard is not None, "_ready": deque(), "_next": self.tell()}
        return state | {"_damage": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Open the file again."""
        self.__dict__.update(state)
        self._shard = open_shard([self.path], self._format, self._compression) if state["_shard"] else None
