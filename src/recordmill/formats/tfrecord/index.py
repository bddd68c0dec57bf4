"""The text index that ``tfrecord2idx`` makes: a line ``offset length`` per record, framing bytes included."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from recordmill.errors import FormatError
from recordmill.types import FrameIndex


@dataclass(frozen=True, slots=True)
class TextIndex:
    """Reads and writes ``.tfindex`` files."""

    suffix: str = ".tfindex"

    def write(self, index: FrameIndex, keys: Sequence[int | str]) -> bytes:
        """Text of an index; TFRecord has no keys.

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

    def read(self, data: bytes) -> tuple[list[str], list[int]]:
        """Keys (none are stored: positions stand in) and offsets in file order.

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
            A line that is not two whole numbers.
        """
        offsets = []
        for number, line in enumerate(data.decode("utf-8", "replace").splitlines()):
            fields = line.split()
            if len(fields) != 2 or not all(field.isdecimal() for field in fields):
                raise FormatError(
                    f"line {number + 1} of the index is no offset and length",
                    expected="offset length",
                    found=repr(line[:80]),
                    hint="build the index anew: recordmill index --foreign SHARD",
                )
            offsets.append(int(fields[0]))
        return [str(position) for position in range(len(offsets))], offsets


INDEX = TextIndex()
