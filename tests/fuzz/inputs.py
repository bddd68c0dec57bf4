"""Decode the bytes of a fuzz input to numbers, choices and byte strings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")

# Powers of two, where sizes and offsets overflow, and their neighbors.
BOUNDARIES = [
    near
    for power in (0, 3, 6, 8, 12, 16, 31, 32, 33, 40, 62, 63, 64)
    for near in (2**power - 1, 2**power, 2**power + 1, -(2**power))
]


class Input:
    """Reads values from a fuzz input, one after the other. After its end, every byte is 0.

    A byte of 0 means the usual value, so that short inputs are valid ones.
    """

    def __init__(self, data: bytes) -> None:
        self._data, self._offset = data, 0

    @property
    def is_empty(self) -> bool:
        """True if all bytes have been read."""
        return self._offset >= len(self._data)

    def take(self, count: int) -> bytes:
        """Return the next bytes, at most `count`."""
        start = self._offset
        self._offset += count
        return self._data[start : self._offset]

    def byte(self) -> int:
        return self.take(1)[0] if not self.is_empty else 0

    def below(self, count: int) -> int:
        """Return a number from 0 to `count` - 1; `count` must be positive."""
        return (self.byte() if count <= 256 else int.from_bytes(self.take(4), "little")) % count

    def choose(self, options: Sequence[T]) -> T:
        return options[self.below(len(options))]

    def flag(self) -> bool:
        return self.byte() % 2 == 1

    def rarely(self) -> bool:
        """Return True for one of eight values of a byte."""
        return self.byte() >= 224

    def blob(self) -> bytes:
        """Return a byte string that is preceded by its length."""
        return self.take(self.byte())

    def integer(self) -> int:
        """Return a small number, a number near a power of two, or any number of 64 bits."""
        kind = self.below(4)
        if kind < 2:
            return self.below(64) - 4 * kind
        return self.choose(BOUNDARIES) if kind == 2 else int.from_bytes(self.take(8), "little", signed=True)

    def edited(self, data: bytes) -> bytes:
        """Return a copy of `data` with up to four edits."""
        content = bytearray(data)
        for _ in range(1 + self.below(4)):
            offset = self.below(len(content) + 1)
            kind = self.below(5)
            if kind == 0:
                content[offset : offset + 1] = bytes([self.byte()])
            elif kind == 1:
                content[offset : offset + 8] = (self.integer() % 2**64).to_bytes(8, "little")
            elif kind == 2:
                content[offset:offset] = self.blob()
            elif kind == 3:
                del content[offset : offset + 1 + self.byte()]
            else:
                del content[offset:]
        return bytes(content)
