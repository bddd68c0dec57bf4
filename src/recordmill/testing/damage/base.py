"""Classes for intact and damaged shards, and the damage functions that work for every format."""

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
"""Five payloads that every table accepts. They are not serialized messages."""

HTML = b"<!DOCTYPE html>\n<html><head><title>404 Not Found</title></head></html>\n"


@dataclass(frozen=True)
class Damage:
    """A damaged shard, with the records that a reader must return and the fault that the reader must report.

    Attributes
    ----------
    name : str
        Unique within the format.
    data : bytes
        The damaged shard.
    payloads_before : list of bytes
        Payloads that a reader returns before the fault; all payloads if `kind` is None.
    kind : str or None
        Kind of the fault, from `faults.FAULT_KINDS`; None if the format cannot detect the damage.
    offset : int or None
        Reported byte offset of the fault, as defined by `faults.OracleError`; None without a fault.
    position : int or None
        Ordinal of the damaged record; None without a fault.
    verify_only : bool
        Whether readers ignore the fault, so that only verification reports it. `payloads_before` then holds all
        payloads.
    """

    name: str
    data: bytes = field(repr=False)
    payloads_before: list[bytes] = field(repr=False)
    kind: str | None = None
    offset: int | None = None
    position: int | None = None
    verify_only: bool = False

    def __str__(self) -> str:
        """Return the name of the damage, which pytest uses as the id of the test."""
        return self.name


@dataclass(frozen=True)
class IntactShard:
    """The records of a shard before it is damaged.

    Attributes
    ----------
    payloads : list of bytes
        At least four payloads. None is empty or contains the magic word of RecordIO. The middle payload has at least 16
        bytes, and none of its first 16 bytes is zero. The last payload has at least two bytes.
    frames : list of bytes
        The frame of each payload. The shard is their concatenation.
    """

    payloads: list[bytes]
    frames: list[bytes]

    @classmethod
    def from_payloads(cls, payloads: Sequence[bytes], frame: Callable[[bytes], bytes]) -> IntactShard:
        """Create a shard from payloads; raise ValueError if they do not meet the requirements of this class."""
        shard = cls(list(payloads), [frame(payload) for payload in payloads])
        if len(payloads) < 4 or not all(payloads) or len(payloads[-1]) < 2:
            raise ValueError("a shard needs at least 4 non-empty payloads, and the last one needs at least 2 bytes")
        if len(shard.payloads[shard.middle]) < 16 or 0 in shard.payloads[shard.middle][:16]:
            raise ValueError("the middle payload must have at least 16 bytes, with no zero byte among the first 16")
        if b"\x0a\x23\xd7\xce" in b"".join(payloads):
            raise ValueError("payloads must not contain the RecordIO magic word")
        return shard

    @property
    def middle(self) -> int:
        """Position of the middle record, which has other records on both sides."""
        return len(self.payloads) // 2

    @property
    def last(self) -> int:
        """Position of the last record."""
        return len(self.payloads) - 1

    @property
    def data(self) -> bytes:
        """The bytes of the whole shard."""
        return b"".join(self.frames)

    def offset(self, position: int) -> int:
        """Return the byte offset of a record; for the position after the last record, return the shard length."""
        return [0, *accumulate(len(frame) for frame in self.frames)][position]

    def replace_frame(self, position: int, frame: bytes) -> bytes:
        """Return the bytes of the shard with one frame replaced."""
        return b"".join([*self.frames[:position], frame, *self.frames[position + 1 :]])

    def damage_at(self, name: str, data: bytes, kind: str, position: int, at: int = 0) -> Damage:
        """Return a damaged shard with a fault in the record at `position`. Readers must return all earlier records.

        The reported offset of the fault is `at` bytes after the start of the record.
        """
        return Damage(name, data, self.payloads[:position], kind, self.offset(position) + at, position)


DamageFunction = Callable[[IntactShard], Iterator[Damage]]


def apply_damage_table(
    frame: Callable[[bytes], bytes], table: Sequence[DamageFunction], payloads: Sequence[bytes] = SAMPLE_PAYLOADS
) -> list[Damage]:
    """Apply all damage functions of a table to one shard, and return the damaged shards.

    Parameters
    ----------
    frame : callable
        Oracle that frames one payload: bytes to bytes.
    table : sequence of callable
        Functions that yield damaged shards.
    payloads : sequence of bytes
        Contents of the shard before it is damaged. See `IntactShard` for the requirements.

    Returns
    -------
    list of Damage
        Their names are unique, so ``pytest.mark.parametrize("damage", apply_damage_table(...), ids=str)`` works.
    """
    shard = IntactShard.from_payloads(payloads, frame)
    return [damage for maker in table for damage in maker(shard)]


def flip_bit(data: bytes, bit: int) -> bytes:
    """Return `data` with one bit flipped; bit 0 is the least significant bit of the first byte."""
    flipped = bytearray(data)
    flipped[bit // 8] ^= 1 << bit % 8
    return bytes(flipped)


def zero_range(data: bytes, start: int, end: int) -> bytes:
    """Return `data` with the bytes from `start` to `end` set to zero."""
    return data[:start] + bytes(end - start) + data[end:]


def empty_file(_: IntactShard) -> Iterator[Damage]:
    """Yield an empty file, which in every format is a valid shard without records."""
    yield Damage("empty_file", b"", [])


def cut_between_records(shard: IntactShard) -> Iterator[Damage]:
    """Truncate the file between two records. No format can detect this without an index."""
    yield Damage("cut_between_records", shard.data[: shard.offset(shard.last)], shard.payloads[:-1])


def files_of_other_formats(kinds: dict[str, str]) -> DamageFunction:
    """Return a damage function that replaces the shard by files of other formats: an HTML page and a gzip file.

    ``kinds["html"]`` and ``kinds["gzip"]`` are the kinds of fault that a reader of these files must report.
    """

    def yield_foreign_files(shard: IntactShard) -> Iterator[Damage]:
        yield shard.damage_at("html_page", HTML, kinds["html"], 0)
        yield shard.damage_at("gzip_read_as_plain", gzip.compress(shard.data, mtime=0), kinds["gzip"], 0)

    return yield_foreign_files
