"""Where frames go: into one shard, into several in turn, or into shards that follow one another when they are full."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from recordmill.shards.framed import Framed, dealt
from recordmill.shards.output import ShardOutput

Open = Callable[[str], ShardOutput]


class Sink(Protocol):
    """Takes frames in their order."""

    outputs: list[ShardOutput]

    def append(self, framed: Framed, keys: list[int | str]) -> None:
        """Write frames."""
        ...

    def finish(self) -> None:
        """Bring everything to the disk, still under temporary names."""
        ...


class OneShard:
    """One shard, begun when it is first written to.

    Parameters
    ----------
    path : str
        Final name.
    begin : callable
        Makes the output of a name.
    """

    def __init__(self, path: str, begin: Open) -> None:
        self._path, self._begin = path, begin
        self.outputs: list[ShardOutput] = []

    def append(self, framed: Framed, keys: list[int | str]) -> None:
        """Write frames."""
        self._only().append(framed, keys)

    def finish(self) -> None:
        """Bring the shard to the disk; an empty one too."""
        self._only().finish()

    def _only(self) -> ShardOutput:
        if not self.outputs:
            self.outputs.append(self._begin(self._path))
        return self.outputs[0]


class DealtShards:
    """Shards that get frames in turn: frame ``i`` goes to shard ``i`` modulo their number.

    Parameters
    ----------
    paths : sequence of str
        Final names.
    begin : callable
        Makes the output of a name.
    """

    def __init__(self, paths: Sequence[str], begin: Open) -> None:
        self.outputs = [begin(path) for path in paths]
        self._next = 0

    def append(self, framed: Framed, keys: list[int | str]) -> None:
        """Write frames."""
        count, step = len(framed.lengths), len(self.outputs)
        first, self._next = self._next, (self._next + count) % step
        for start, part in enumerate(dealt(framed, step)):
            self.outputs[(first + start) % step].append(part, keys[start::step])

    def finish(self) -> None:
        """Bring all shards to the disk."""
        for output in self.outputs:
            output.finish()


class RollingShards:
    """Shards that end when the next frame would make them larger than a limit.

    Parameters
    ----------
    prefix : str
        Beginning of the names until the number of shards is known.
    max_bytes : int
        Uncompressed bytes of a shard; a frame that is larger makes a shard of its own.
    begin : callable
        Makes the output of a name.
    """

    def __init__(self, prefix: str, max_bytes: int, begin: Open) -> None:
        self._prefix, self._max_bytes, self._begin = prefix, max_bytes, begin
        self.outputs: list[ShardOutput] = []

    def append(self, framed: Framed, keys: list[int | str]) -> None:
        """Write frames, to new shards where they are full."""
        lengths = framed.lengths.tolist()
        first = first_byte = end_byte = 0
        free = self._max_bytes - self.outputs[-1].num_bytes if self.outputs else -1
        for row, length in enumerate(lengths):
            if end_byte + length - first_byte > free:
                if row > first:
                    self._write(framed, keys, (first, row), (first_byte, end_byte))
                if not self.outputs or self.outputs[-1].num_records:
                    self._roll()
                first, first_byte, free = row, end_byte, max(self._max_bytes, length)
            end_byte += length
        if len(lengths) > first:
            self._write(framed, keys, (first, len(lengths)), (first_byte, end_byte))

    def _roll(self) -> None:
        if self.outputs:
            self.outputs[-1].finish()
        self.outputs.append(self._begin(f"{self._prefix}-{len(self.outputs)}"))

    def _write(self, framed: Framed, keys: list[int | str], rows: tuple[int, int], span: tuple[int, int]) -> None:
        checksums = None if framed.checksums is None else framed.checksums[slice(*rows)]
        part = Framed(framed.data[slice(*span)], framed.lengths[slice(*rows)], checksums)
        self.outputs[-1].append(part, keys[slice(*rows)])

    def finish(self) -> None:
        """Bring the last shard to the disk; there is one at least."""
        if not self.outputs:
            self._roll()
        self.outputs[-1].finish()
