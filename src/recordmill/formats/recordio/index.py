"""MXNet's ``.idx``: a line ``key<TAB>offset`` per record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from recordmill.errors import FormatError
from recordmill.types import FrameIndex


@dataclass(frozen=True, slots=True)
class IdxCodec:
    """Codec of ``.idx`` files. Keys are read as str, in the order of the file, and duplicate keys are kept."""

    suffix: str = ".idx"

    def serialize(self, index: FrameIndex, keys: Sequence[int | str]) -> bytes:
        """Return the content of an ``.idx`` file: one line per record, with its key and offset.

        Parameters
        ----------
        index : FrameIndex
        keys : sequence of int or str
            One per record.

        Returns
        -------
        bytes
        """
        rows = zip(keys, index.offsets.tolist(), strict=True)
        return "".join(f"{key}\t{offset}\n" for key, offset in rows).encode()

    def parse(self, data: bytes) -> tuple[list[str], list[int]]:
        """Parse an ``.idx`` file; return keys and offsets in the order of the file.

        Like MXNet, accept carriage returns, a missing last newline and additional columns, but neither blank lines nor
        spaces instead of the tab.

        Parameters
        ----------
        data : bytes

        Returns
        -------
        keys : list of str
        offsets : list of int

        Raises
        ------
        FormatError
            If a line is not a key and an offset with a tab between them.
        """
        keys: list[str] = []
        offsets: list[int] = []
        lines = data.decode("utf-8", "surrogateescape").split("\n")
        for number, line in enumerate(lines[:-1] if lines[-1] == "" else lines):
            fields = line.strip().split("\t")
            try:
                offsets.append(int(fields[1]))
            except (IndexError, ValueError):
                raise FormatError(
                    f"line {number + 1} of the .idx must be a key and an offset",
                    expected="key<TAB>offset",
                    found=repr(line[:80]),
                    hint="rebuild the index: recordmill index --idx SHARD",
                ) from None
            keys.append(fields[0])
        return keys, offsets


INDEX = IdxCodec()
