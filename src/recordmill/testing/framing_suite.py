"""Conformance tests for framings, as a base class whose subclasses set the format, its oracle and its damage table.

::

    class TestTfrecordFraming(FramingTests):
        format = TFRECORD
        frame = staticmethod(oracle.frame)
        iter_records = staticmethod(oracle.iter_records)
        damage_table = damage.tfrecord.TABLE
        literals = (((b"",), "00000000000000002903980700000000d8ea82a2"),)

pytest collects the class; importing this module needs Hypothesis, but not pytest.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any, ClassVar

import numpy as np
from hypothesis import HealthCheck, given, settings, strategies as st

from recordmill import _core
from recordmill.formats.base import Format
from recordmill.testing import strategies
from recordmill.testing.damage.base import Damage, DamageFunction, apply_damage_table
from recordmill.testing.faults import read_until_fault
from recordmill.types import Ragged

# Hypothesis warns if several classes inherit a test method. These classes inherit test methods on purpose.
inherited = settings(suppress_health_check=[HealthCheck.differing_executors, HealthCheck.too_slow])

# The payloads before the first fault, and this fault as (kind, offset, record number); None if there is no fault.
Outcome = tuple[list[bytes], tuple[str, int, int] | None]
COMPRESSORS: dict[str | None, Callable[[bytes], bytes]] = {
    None: bytes,
    "gzip": lambda data: gzip.compress(data[: len(data) // 2]) + gzip.compress(data[len(data) // 2 :]),
    "zlib": zlib.compress,
}


def pack_payloads(payloads: Sequence[bytes]) -> Ragged:
    """Pack any number of payloads into one `Ragged` array, with one payload per row."""
    return Ragged(
        np.frombuffer(b"".join(payloads), np.uint8),
        np.cumsum([0, *map(len, payloads)], dtype=np.int64),
    )


class FramingTests:
    """Base class of tests that compare a framing with its oracle and its specification, on intact and damaged shards.

    Attributes
    ----------
    format : Format
        The format under test.
    frame : callable
        Oracle that frames one payload: bytes to bytes.
    iter_records : callable
        Oracle that yields ``(offset, payload)`` of each record of a shard; it raises `OracleError` at the first fault.
    damage_table : sequence of callable
        Functions that yield damaged shards; see `recordmill.testing.damage`.
    literals : tuple of (payloads, str)
        Payloads and the hexadecimal bytes of their shard, from the specification.
    """

    format: ClassVar[Format]
    damage_table: ClassVar[Sequence[DamageFunction]]
    frame: ClassVar[Callable[[bytes], bytes]]
    iter_records: ClassVar[Callable[[bytes], Iterator[tuple[int, bytes]]]]
    literals: ClassVar[tuple[tuple[tuple[bytes, ...], str], ...]]

    @classmethod
    def pytest_generate_tests(cls, metafunc: Any) -> None:
        """Parametrize tests over damaged shards, the examples from the specification, and thread counts."""
        if "row" in metafunc.fixturenames:
            metafunc.parametrize("row", apply_damage_table(cls.frame, cls.damage_table), ids=str)
        if "literal" in metafunc.fixturenames:
            metafunc.parametrize("literal", cls.literals, ids=lambda literal: literal[1][:16])
        if "num_threads" in metafunc.fixturenames:
            metafunc.parametrize("num_threads", [0, 1, 2])

    @property
    def native_framing(self) -> Any:
        """The `FrameKind` of the format, which native functions take as an argument."""
        return self.format.framing.kind

    def draw_payloads(self, data: st.DataObject) -> list[bytes]:
        """Draw payloads that the format can store."""
        least = self.format.framing.min_payload_bytes
        return data.draw(strategies.payload_lists(min_payload_bytes=least))

    def open_source(self, shard: bytes, compression: str | None = None) -> _core.Source:
        """Open the bytes of a shard, with a seek point every 64 KiB."""
        stored = COMPRESSORS[compression](shard)
        return _core.Source.from_bytes(stored, compression=compression, spacing=1 << 16)

    def read_stream(self, source: _core.Source, num_records: int, threads: int) -> Outcome:
        """Read payloads in batches until the end of the source or its first fault."""
        found: list[bytes] = []
        stream = _core.BatchStream(source, self.native_framing, num_records, verify=True, threads=threads)
        try:
            for data, splits in stream:
                rows = _core.split(data, splits)
                assert 0 < len(rows) <= num_records
                found += rows
        except _core.CoreFault as error:
            kind, record, offset = error.args[:3]
            return found, (kind, offset, record)
        return found, None

    def read_with_oracle(self, shard: bytes) -> Outcome:
        """Read payloads with the oracle until the end of the shard or its first fault."""
        found, error = read_until_fault(type(self).iter_records(shard))
        payloads = [payload for _, payload in found]
        if error is None:
            return payloads, None
        assert error.position is not None
        return payloads, (error.kind, error.offset, error.position)

    def test_frame_writes_bytes_of_specification(self, literal: tuple[tuple[bytes, ...], str]) -> None:
        payloads, text = literal
        packed = pack_payloads(payloads)
        data, lengths, _ = _core.frame(packed.data, packed.row_splits, self.native_framing)
        assert bytes(memoryview(data)).hex() == text.replace(" ", "")
        assert sum(np.asarray(lengths).tolist()) == len(data)

    def test_stream_reads_bytes_of_specification(self, literal: tuple[tuple[bytes, ...], str]) -> None:
        payloads, text = literal
        assert self.read_stream(self.open_source(bytes.fromhex(text)), 256, 0) == (list(payloads), None)

    @inherited
    @given(st.data())
    def test_frame_agrees_with_oracle(self, data: st.DataObject) -> None:
        payloads = self.draw_payloads(data)
        packed = pack_payloads(payloads)
        framed, lengths, _ = _core.frame(packed.data, packed.row_splits, self.native_framing)
        frames = [type(self).frame(payload) for payload in payloads]
        assert bytes(memoryview(framed)) == b"".join(frames)
        assert np.asarray(lengths).tolist() == [len(frame) for frame in frames]

    @inherited
    @given(st.data(), st.sampled_from(sorted(COMPRESSORS, key=str)))
    def test_scan_finds_frames_of_oracle(self, data: st.DataObject, compression: str | None) -> None:
        payloads = self.draw_payloads(data)
        frames = [type(self).frame(payload) for payload in payloads]
        shard = b"".join(frames)
        offsets, lengths, end, faults = _core.scan(
            self.open_source(shard, compression), self.native_framing, verify=True
        )
        assert not faults
        assert end == len(shard)
        assert np.asarray(offsets).tolist() == [offset for offset, _ in type(self).iter_records(shard)]
        assert np.asarray(lengths).tolist() == [len(frame) for frame in frames]

    @inherited
    @given(st.data(), st.sampled_from(sorted(COMPRESSORS, key=str)))
    def test_fetch_returns_payloads_in_requested_order(self, data: st.DataObject, compression: str | None) -> None:
        payloads = self.draw_payloads(data)
        source = self.open_source(b"".join(map(type(self).frame, payloads)), compression)
        offsets, lengths = (np.asarray(part) for part in _core.scan(source, self.native_framing)[:2])
        positions = st.integers(0, max(len(payloads) - 1, 0))
        rows = np.array(data.draw(st.lists(positions, max_size=20 * bool(payloads))), np.int64)
        found = _core.split(*_core.fetch(source, self.native_framing, offsets[rows], lengths[rows]))
        assert found == [payloads[row] for row in rows]

    @inherited
    @given(st.data(), st.integers(1, 5), st.integers(0, 2), st.sampled_from(sorted(COMPRESSORS, key=str)))
    def test_stream_returns_all_payloads_for_any_batch_size_and_threads(
        self, data: st.DataObject, num_records: int, threads: int, compression: str | None
    ) -> None:
        payloads = self.draw_payloads(data)
        source = self.open_source(b"".join(map(type(self).frame, payloads)), compression)
        assert self.read_stream(source, num_records, threads) == (payloads, None)

    @inherited
    @given(st.data(), st.integers(1, 5), st.integers(0, 2))
    def test_stream_of_mutated_shard_agrees_with_oracle(
        self, data: st.DataObject, num_records: int, threads: int
    ) -> None:
        shard = b"".join(map(type(self).frame, self.draw_payloads(data)))
        mutated = data.draw(strategies.mutations(shard))
        assert self.read_stream(self.open_source(mutated), num_records, threads) == self.read_with_oracle(mutated)

    @inherited
    @given(st.data())
    def test_verify_of_mutated_shard_reports_first_fault_of_oracle(self, data: st.DataObject) -> None:
        shard = b"".join(map(type(self).frame, self.draw_payloads(data)))
        mutated = data.draw(strategies.mutations(shard))
        payloads, fault = self.read_with_oracle(mutated)
        num_records, faults, num_faults, *_ = _core.verify(self.open_source(mutated), self.native_framing)
        # Only `verify` reports bad padding. Readers ignore padding.
        unreadable = [entry for entry in faults if entry[0] != "bad_padding"]
        assert num_faults == len(faults)
        if fault is None:
            assert unreadable == []
            assert num_records + num_faults == len(payloads)
        else:
            assert (unreadable[0][0], unreadable[0][2], unreadable[0][1]) == fault

    @inherited
    @given(st.data())
    def test_verify_of_intact_shard_counts_records_without_faults(self, data: st.DataObject) -> None:
        payloads = self.draw_payloads(data)
        shard = b"".join(map(type(self).frame, payloads))
        num_records, faults, num_faults, end, offsets, _ = _core.verify(self.open_source(shard), self.native_framing)
        assert (num_records, faults, num_faults, end) == (len(payloads), [], 0, len(shard))
        assert np.asarray(offsets).tolist() == [offset for offset, _ in type(self).iter_records(shard)]

    def test_verify_of_damaged_shard_reports_kind_offset_and_record(self, row: Damage) -> None:
        _, faults, num_faults, *_ = _core.verify(self.open_source(row.data), self.native_framing)
        if row.kind is None:
            assert faults == []
        else:
            assert faults[0][:3] == (row.kind, row.position, row.offset)
            assert num_faults == len(faults)

    def test_stream_of_damaged_shard_returns_payloads_before_damage(self, row: Damage, num_threads: int) -> None:
        fault = None if row.verify_only or row.kind is None else (row.kind, row.offset, row.position)
        for num_records in (1, 2, 256):
            assert self.read_stream(self.open_source(row.data), num_records, num_threads) == (
                row.payloads_before,
                fault,
            )

    def test_stream_across_chunks_returns_all_payloads_in_order(self) -> None:
        rng = Random(7)
        sizes = [rng.choice((1, 5, 400, 40_000)) for _ in range(120)]
        payloads = [rng.randbytes(size) for size in sizes]
        shard = bytes(memoryview(_frame_payloads(payloads, self.native_framing)))
        for compression in (None, "gzip", "zlib"):
            for threads in (0, 2):
                source = self.open_source(shard, compression)
                assert self.read_stream(source, 64, threads) == (payloads, None)


def _frame_payloads(payloads: Sequence[bytes], kind: Any) -> _core.Block:
    packed = pack_payloads(payloads)
    return _core.frame(packed.data, packed.row_splits, kind)[0]
