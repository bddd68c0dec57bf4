"""Writes payloads to one file of exactly the name given, and tells where each begins."""

from __future__ import annotations

import os
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from recordmill.formats.registry import get_format
from recordmill.shards.framed import frame_payloads
from recordmill.shards.index import Keep
from recordmill.shards.output import ShardOutput, commit_all
from recordmill.storage import compression as compressions

# Payloads that are framed in one call, and bytes after which it is called anyway.
_CHUNK_RECORDS = 256
_CHUNK_BYTES = 4 << 20


class PayloadWriter:
    """Writes payloads to one file, under the very name given and without the index file of the format's own tools.

    For programs that name files and keep index files by themselves; `ShardWriter` does both. A file of that name is
    replaced when the writer is closed; until then, and after `discard`, it stays as it was.

    Parameters
    ----------
    path : path
        Any name; nothing is put behind it.
    format : {"tfrecord", "ofrecord", "recordio"}
    compression : {"gzip", "zlib"}, optional
        Whole-file compression (TFRecord only).
    compression_level : int
        0 to 9, -1 for the usual one.
    index : {"auto", "never"}
        Whether the index that `open` uses is put beside the file; without it, the first to open the file makes it.

    Raises
    ------
    WriteError
        The folder cannot be written to, or the disk is full.

    Examples
    --------
    >>> with PayloadWriter("out/my.bin", format="recordio") as writer:  # doctest: +SKIP
    ...     writer.write(b"some bytes")
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        format: str,  # noqa: A002
        compression: str | None = None,
        compression_level: int = -1,
        index: Keep = "auto",
    ) -> None:
        found = get_format(format)
        wanted = compressions.check(compression)
        if wanted is not None and not found.compressible:
            raise ValueError(f"{format} is not compressed: its readers could not read it")
        self.path, self._format = os.fspath(path), replace(found, index=None, index_on_write=False)
        self._pending: list[bytes] = []
        self._pending_bytes = 0
        self._closed = False
        self.num_records = 0
        options = {"compression": wanted, "level": compression_level, "overwrite": True, "index": index}
        self._output = ShardOutput(self.path, self._format, **options)  # type: ignore[arg-type]

    def write(self, payload: Any) -> None:
        """Add one record.

        Parameters
        ----------
        payload : buffer

        Raises
        ------
        FramingError
            A payload that is larger than the format stores; it is left out, and others may follow.
        """
        if self._closed:
            raise ValueError(f"the writer of {self.path!r} is closed")
        data = bytes(payload)
        if len(data) >= _CHUNK_BYTES:
            self.flush()
            self._append([data])
        else:
            self._pending.append(data)
            self._pending_bytes += len(data)
        self.num_records += 1
        if len(self._pending) >= _CHUNK_RECORDS or self._pending_bytes >= _CHUNK_BYTES:
            self.flush()

    def flush(self) -> None:
        """Frame what was written so far and hand it to the system, still under a temporary name."""
        if self._pending:
            payloads, self._pending, self._pending_bytes = self._pending, [], 0
            self._append(payloads)

    def _append(self, payloads: list[bytes]) -> None:
        self._output.append(frame_payloads(self._format, payloads))

    def tell(self) -> int:
        """Bytes that all records so far take, uncompressed: where the next one begins."""
        self.flush()
        return self._output.num_bytes

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Where each record begins, in bytes of the uncompressed file; shape (num_records,)."""
        self.flush()
        return self._output.index.offsets

    def close(self) -> None:
        """Put the file under its name; a second call does nothing."""
        if self._closed:
            return
        try:
            self.flush()
            self._closed = True
            self._output.finish()
            commit_all([self._output], None, None)
        except BaseException:
            self.discard()
            raise

    def discard(self) -> None:
        """Forget everything that was written, unless the writer was closed."""
        self._closed = True
        self._output.discard()

    def __enter__(self) -> Self:
        """Return the writer itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close, or discard everything if the block failed."""
        if kind is None:
            self.close()
        else:
            self.discard()
