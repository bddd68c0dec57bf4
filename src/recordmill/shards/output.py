"""One shard being written: payloads framed, compressed, counted; index and schema are put beside it at the end."""

from __future__ import annotations

import contextlib
from array import array
from collections.abc import Sequence
from typing import get_args

import numpy as np

from recordmill.errors import OutputExistsError, WriteError
from recordmill.formats.base import Format, IndexCodec
from recordmill.schema import Schema
from recordmill.shards.foreign import foreign_path
from recordmill.shards.framed import Framed
from recordmill.shards.index import (
    ENTRY_SUFFIX,
    SUFFIX,
    Keep,
    cache_path,
    describe_shard,
    load_index,
    sidecar_path,
)
from recordmill.shards.opening import open_shard
from recordmill.shards.sidecar import to_bytes
from recordmill.storage.base import OutputFile
from recordmill.storage.compression import Compression, Compressor
from recordmill.storage.local import LOCAL
from recordmill.storage.whole import prepared
from recordmill.types import FrameIndex


class ShardOutput:
    """A shard that nobody sees before it is whole.

    Parameters
    ----------
    path : str
        Final name.
    format_ : Format
    compression : {"gzip", "zlib"}, optional
    level : int
        Of the compression.
    overwrite : bool
        Whether a file of that name may be replaced.
    index : {"auto", "never"}
        Whether the sidecar is put beside it.
    """

    def __init__(
        self,
        path: str,
        format_: Format,
        *,
        compression: Compression | None = None,
        level: int = -1,
        overwrite: bool = False,
        index: Keep = "auto",
    ) -> None:
        if index not in get_args(Keep):
            raise ValueError(f"index is 'auto' or 'never', not {index!r}")
        self.path, self.format, self._keep = path, format_, index
        self._compression = compression
        self._compressor = None if compression is None else Compressor(compression, level)
        self._overwrite = overwrite
        self._file = LOCAL.create(path, overwrite=overwrite)
        self._beside: list[OutputFile] = []
        self._committed: list[str] = []
        try:
            self.refuse_existing()
        except BaseException:
            self.discard()
            raise
        self._lengths, self._checksums = array("q"), array("I")
        self._keys: list[int | str] = []
        self.num_records = 0
        self.num_bytes = 0

    def append(self, framed: Framed, keys: Sequence[int | str] | None = None) -> None:
        """Write records behind those that are there.

        Parameters
        ----------
        framed : Framed
        keys : sequence of int or str, optional
            For the index file of the format's own tools; positions by default.
        """
        count = len(framed.lengths)
        self._file.write(framed.data if self._compressor is None else self._compressor.compress(framed.data))
        self._lengths.frombytes(framed.lengths.tobytes())
        if framed.checksums is not None:
            self._checksums.frombytes(framed.checksums.tobytes())
        if self._own_index is not None:
            self._keys.extend(range(self.num_records, self.num_records + count) if keys is None else keys)
        self.num_records += count
        self.num_bytes += int(framed.lengths.sum())

    @property
    def index(self) -> FrameIndex:
        """Where the records written so far are."""
        lengths = np.array(self._lengths)
        return FrameIndex(np.cumsum(lengths) - lengths, lengths)

    @property
    def _own_index(self) -> IndexCodec | None:
        """Index of the format's own tools, if it is written with every shard."""
        return self.format.index if self.format.index_on_write else None

    def rename(self, path: str) -> None:
        """Give the shard another final name."""
        self.path = self._file.path = path

    def finish(self) -> None:
        """Bring everything to the disk, still under the temporary name."""
        if self._compressor is not None:
            self._file.write(self._compressor.finish())
            self._compressor = None
        self._file.finish()

    def prepare(self, schema: Schema | None, payload: str | None) -> None:
        """Write what stands beside the finished shard, under temporary names too, so that `commit` only renames.

        Parameters
        ----------
        schema : Schema or None
            Kept in the sidecar.
        payload : str or None
            Name of the payload codec, kept in the sidecar.
        """
        index = self.index
        if self._keep == "auto":
            self._prepare_sidecar(index, self.num_bytes, (schema, payload))
        if self._own_index is not None:
            text = self._own_index.write(index, self._keys)
            path = foreign_path(self.path, self._own_index.suffix)
            self._beside.append(prepared(path, text, overwrite=self._overwrite))

    def _prepare_sidecar(self, index: FrameIndex, end: int, known: tuple[Schema | None, str | None]) -> None:
        shard = open_shard([self._file.temporary], self.format.name, self._compression, end + 1)
        # Seek points of a compressed shard are found by a pass through it.
        is_plain = self._compression is None
        sidecar = describe_shard(shard, index, end) if is_plain else load_index(shard, "never")[0]
        sidecar.schema, sidecar.payload = known
        sidecar.checksums = np.array(self._checksums) if self._checksums else None
        data = to_bytes(sidecar)
        for place in (sidecar_path(self.path), cache_path(self.path)):
            with contextlib.suppress(OSError):
                self._beside.append(prepared(place, data))
                break

    def commit(self) -> None:
        """Put the shard under its final name.

        What was kept of a shard that is replaced goes first: if this ends in between, an index is missing, not wrong.
        """
        if self._overwrite:
            self._remove_kept()
        self._commit(self._file)
        if not self._overwrite:  # only now is it certain that no other writer has the name
            self._remove_kept()

    def commit_beside(self) -> None:
        """Put what was prepared beside the shard."""
        for file in self._beside:
            self._commit(file)

    def _commit(self, file: OutputFile) -> None:
        file.commit()
        self._committed.append(file.path)

    def _remove_kept(self) -> None:
        names = [sidecar_path(self.path, suffix) for suffix in (SUFFIX, ENTRY_SUFFIX)]
        if self._overwrite and self.format.index is not None:
            names.append(foreign_path(self.path, self.format.index.suffix))
        for name in names:
            LOCAL.remove(name)
        for suffix in (SUFFIX, ENTRY_SUFFIX):
            with contextlib.suppress(WriteError):  # somebody else's cache: the shard does not fit it
                LOCAL.remove(cache_path(self.path, suffix))

    def withdraw(self) -> None:
        """Remove what was committed, unless it may have replaced other files."""
        if not self._overwrite:
            for path in self._committed:
                with contextlib.suppress(WriteError):
                    LOCAL.remove(path)

    def discard(self) -> None:
        """Remove what was written, unless it was committed."""
        for file in (self._file, *self._beside):
            file.discard()

    def refuse_existing(self) -> None:
        """Raise OutputExistsError if a file that `commit` writes is there and may not be replaced."""
        names = [self.path]
        if self._own_index is not None:
            names.append(foreign_path(self.path, self._own_index.suffix))
        for name in names:
            if not self._overwrite and LOCAL.exists(name):
                hint = "choose another name, or overwrite=True"
                raise OutputExistsError("the output is already there", shard=name, hint=hint)


def commit_all(outputs: Sequence[ShardOutput], schema: Schema | None, payload: str | None) -> None:
    """Put finished shards under their final names, if none of these is taken: all, or none of them.

    Only if shards that were there are replaced, some may be new and some old when the renaming fails in between.

    Parameters
    ----------
    outputs : sequence of ShardOutput
    schema, payload
        As for `ShardOutput.prepare`.

    Raises
    ------
    OutputExistsError
        A file of one of the names, or an index file that would be written beside it, is there.
    WriteError
        There is no room for the index files, or a file cannot be renamed.
    """
    for output in outputs:
        output.refuse_existing()
    for output in outputs:
        output.prepare(schema, payload)
    try:
        for output in outputs:
            output.commit()
        for output in outputs:
            output.commit_beside()
    except BaseException:
        for output in outputs:
            output.withdraw()
        raise
