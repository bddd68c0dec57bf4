"""The text index of ``tfrecord2idx``: a line ``offset length`` per record. The length is that of the whole frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from recordmill.errors import FormatError
from recordmill.types import FrameIndex


@dataclass(frozen=True, slots=True)
class TfIndexCodec:
    """Codec of ``.tfindex`` files."""

    suffix: str = ".tfindex"

    def serialize(self, index: FrameIndex, keys: Sequence[int | str]) -> bytes:
        """Return the content of an index file: one line per record, with the offset and length of its frame.

        Parameters
        ----------
        index : FrameIndex
        keys : sequence
            Not used.

        Returns
        -------
        bytes
        """
        del keys
        rows = zip(index.offsets.tolist(), index.lengths.tolist(), strict=True)
        return "".join(f"{offset} {length}\n" for offset, length in rows).encode()

    def parse(self, data: bytes) -> tuple[list[str], list[int]]:
        """Parse an index file; return keys and offsets. The keys are record numbers from 0, as the file stores no keys.

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
            If a line is not two integers.
        """
        offsets = []
        for number, line in enumerate(data.decode("utf-8", "replace").splitlines()):
            fields = line.split()
            if len(fields) != 2 or not all(field.isdecimal() for field in fields):
                raise FormatError(
                    f"line {number + 1} of the index must be an offset and a length",
                    expected="offset length",
                    found=repr(line[:80]),
                    hint="rebuild the index: recordmill index --foreign SHARD",
                )
            offsets.append(int(fields[0]))
        return [str(position) for position in range(len(offsets))], offsets


INDEX = TfIndexCodec()
