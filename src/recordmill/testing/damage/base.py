"""A row of a damage table, the intact shard that it damages, and the damage that every format shares."""

from __future__ import annotations

import gzip
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate

SAMPLE_PAYLOADS = (
    b"\x0a\x08first one",
    b"\x01\x02",
    b"\x0a\x1ethe middle one is damaged here",
    b"\x0a\x04next",
    b"\x0a\x0cand the last",
)
"""Five payloads that suit every table; they are not serialized messages."""

HTML = b"<!DOCTYPE html>\n<html><head><title>404 Not Found</title></head></html>\n"


@dataclass(frozen=True)
class Damage:
    """A damaged shard and what a reader must return and report for it.

    Attributes
    ----------
    name : str
        Unique within the format.
    data : bytes
        The damaged shard.
    payloads_before : list of bytes
        Payloads that a reader returns before the fault; all payloads if `kind` is None.
    kind : str or None
        The fault, one of `faults.FAULT_KINDS`; None if the format cannot detect the damage.
    offset : int or None
        Reported byte offset of the fault, as defined by `faults.OracleError`; None without a fault.
    position : int or None
        Ordinal of the damaged record; None without a fault.
    verify_only : bool
        Whether only verification reports the fault and readers ignore it; `payloads_before` then holds all payloads.
    """

    name: str
    data: bytes = field(repr=False)
    payloads_before: list[bytes] = field(repr=False)
    kind: str | None = None
    offset: int | None = None
    position: int | None = None
    verify_only: bool = False

    def __str__(self) -> str:
        """Return the name, which pytest uses as the id of the test."""
        return self.name


@dataclass(frozen=True)
class Sound:
    """A shard before it is damaged.

    Attributes
    ----------
    payloads : list of bytes
        At least four, none empty, none with RecordIO's magic word. The middle one, `victim`, has 16 bytes or
        more and no zero among the first 16; the last has two bytes or more.
    frames : list of bytes
        Their frames; the shard is these joined.
    """

    payloads: list[bytes]
    frames: list[bytes]

    @classmethod
    def of(cls, payloads: Sequence[bytes], frame: Callable[[bytes], bytes]) -> Sound:
        """Check payloads and frame them."""
        sound = cls(list(payloads), [frame(payload) for payload in payloads])
        if len(payloads) < 4 or not all(payloads) or len(payloads[-1]) < 2:
            raise ValueError("four payloads or more are needed, none empty, the last of two bytes or more")
        if len(sound.payloads[sound.victim]) < 16 or 0 in sound.payloads[sound.victim][:16]:
            raise ValueError("the middle payload needs 16 bytes or more, none of the first 16 zero")
        if b"\x0a\x23\xd7\xce" in b"".join(payloads):
            raise ValueError("the payloads must not hold the RecordIO magic word")
        return sound

    @property
    def victim(self) -> int:
        """Position of the damaged record, for damage that needs intact records on both sides."""
        return len(self.payloads) // 2

    @property
    def last(self) -> int:
        """Position of the last record."""
        return len(self.payloads) - 1

    @property
    def data(self) -> bytes:
        """The whole shard."""
        return b"".join(self.frames)

    def offset(self, position: int) -> int:
        """Return where a record begins; with the number of records, where the shard ends."""
        return [0, *accumulate(len(frame) for frame in self.frames)][position]

    def replaced(self, position: int, frame: bytes) -> bytes:
        """Return the shard with other bytes in place of one frame."""
        return b"".join([*self.frames[:position], frame, *self.frames[position + 1 :]])

    def fault(self, name: str, data: bytes, kind: str, position: int, at: int = 0) -> Damage:
        """Return a row for a fault `at` bytes after the start of a record, with all records before it intact."""
        return Damage(name, data, self.payloads[:position], kind, self.offset(position) + at, position)


Maker = Callable[[Sound], Iterator[Damage]]


def damaged_shards(
    frame: Callable[[bytes], bytes], table: Sequence[Maker], payloads: Sequence[bytes] = SAMPLE_PAYLOADS
) -> list[Damage]:
    """Return all damaged shards of a format.

    Parameters
    ----------
    frame : callable
        Oracle that frames one payload: bytes to bytes.
    table : sequence of callable
        Makers of damaged shards.
    payloads : sequence of bytes
        Contents of the shard before it is damaged; `Sound` states the requirements.

    Returns
    -------
    list of Damage
        Their names are unique, so ``pytest.mark.parametrize("damage", damaged_shards(...), ids=str)`` works.
    """
    sound = Sound.of(payloads, frame)
    return [damage for maker in table for damage in maker(sound)]


def flip(data: bytes, bit: int) -> bytes:
    """Return `data` with one bit changed; bit 0 is the lowest of the first byte."""
    changed = bytearray(data)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


def zeroed(data: bytes, start: int, end: int) -> bytes:
    """Return `data` with zeros from `start` to `end`."""
    return data[:start] + bytes(end - start) + data[end:]


def empty_file(_: Sound) -> Iterator[Damage]:
    """Make an empty file, which is an intact shard without records in every format."""
    yield Damage("empty_file", b"", [])


def cut_between_records(sound: Sound) -> Iterator[Damage]:
    """Cut the file between two records, which no format can detect without an index."""
    yield Damage("cut_between_records", sound.data[: sound.offset(sound.last)], sound.payloads[:-1])


def not_this_format(kinds: dict[str, str]) -> Maker:
    """Return a maker of files in other formats; `kinds` maps "html" and "gzip" to the expected fault."""

    def make(sound: Sound) -> Iterator[Damage]:
        yield sound.fault("html_page", HTML, kinds["html"], 0)
        yield sound.fault("gzip_read_as_plain", gzip.compress(sound.data, mtime=0), kinds["gzip"], 0)

    return make
