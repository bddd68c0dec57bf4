"""Tests that every framing passes: inherit `FramingTests`, name the format and its oracle, and collect the class.

::

    class TestTfrecordFraming(FramingTests):
        format = TFRECORD
        family = "tfrecord"
        frame = staticmethod(oracle.frame)
        records = staticmethod(oracle.records)
        literals = (((b"",), "00000000000000002903980700000000d8ea82a2"),)
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterator, Sequence
from random import Random
from typing import Any, ClassVar

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from recordmill import _core
from recordmill.formats.base import Format
from recordmill.testing import strategies
from recordmill.testing.damage import Damage, damages
from recordmill.testing.faults import OracleError, until_fault
from recordmill.types import Ragged

# One class of tests runs for many formats, on purpose.
inherited = settings(suppress_health_check=[HealthCheck.differing_executors, HealthCheck.too_slow])

Outcome = tuple[list[bytes], tuple[str, int, int] | None]
COMPRESSORS: dict[str | None, Callable[[bytes], bytes]] = {
    None: bytes,
    "gzip": lambda data: gzip.compress(data[: len(data) // 2]) + gzip.compress(data[len(data) // 2 :]),
    "zlib": zlib.compress,
}


def splits_of(payloads: Sequence[bytes]) -> Ragged:
    """Payloads in one buffer with row splits, also if there are none."""
    return Ragged(
        np.frombuffer(b"".join(payloads), np.uint8),
        np.cumsum([0, *map(len, payloads)], dtype=np.int64),
    )


class FramingTests:
    """What holds for each framing.

    Attributes
    ----------
    format : Format
    family : str
        Name of the table in `damage.TABLES`.
    frame : callable
        Oracle: a payload to its frame.
    records : callable
        Oracle: a shard to (offset, payload) until its end or an `OracleError`.
    literals : tuple of (payloads, str)
        Payloads and the hexadecimal bytes of the shard that holds them, from the specification.
    """

    format: ClassVar[Format]
    family: ClassVar[str]
    frame: ClassVar[Callable[[bytes], bytes]]
    records: ClassVar[Callable[[bytes], Iterator[tuple[int, bytes]]]]
    literals: ClassVar[tuple[tuple[tuple[bytes, ...], str], ...]]

    @classmethod
    def pytest_generate_tests(cls, metafunc: pytest.Metafunc) -> None:
        """Give tests the rows of the damage table and the literals."""
        if "row" in metafunc.fixturenames:
            metafunc.parametrize("row", damages(cls.family), ids=str)
        if "literal" in metafunc.fixturenames:
            metafunc.parametrize("literal", cls.literals, ids=lambda literal: literal[1][:16])

    @property
    def kind(self) -> Any:
        """What the native calls do."""
        return self.format.framing.kind

    def draw_payloads(self, data: st.DataObject) -> list[bytes]:
        """Payloads that the format can hold."""
        least = self.format.framing.min_payload_bytes
        return data.draw(strategies.payload_lists(min_payload_bytes=least))

    def source(self, shard: bytes, compression: str | None = None) -> _core.Source:
        """Source of a shard's uncompressed bytes, with seek points close together."""
        stored = COMPRESSORS[compression](shard)
        return _core.Source.from_bytes(stored, compression=compression, spacing=1 << 16)

    def streamed(self, source: _core.Source, num_records: int, threads: int) -> Outcome:
        """Payloads of a stream, and kind, offset and record of its fault."""
        found: list[bytes] = []
        stream = _core.BatchStream(source, self.kind, num_records, verify=True, threads=threads)
        try:
            for data, splits in stream:
                rows = _core.split(data, splits)
                assert 0 < len(rows) <= num_records
                found += rows
        except _core.CoreFault as error:
            kind, record, offset = error.args[:3]
            return found, (kind, offset, record)
        return found, None

    def expected(self, shard: bytes) -> Outcome:
        """What the oracle reads from a shard."""
        found, error = until_fault(type(self).records(shard))
        payloads = [payload for _, payload in found]
        if error is None:
            return payloads, None
        assert isinstance(error, OracleError)
        assert error.position is not None
        return payloads, (error.kind, error.offset, error.position)

    def test_frame_of_literal_payloads_when_written_then_bytes_are_those_of_the_specification(
        self, literal: tuple[tuple[bytes, ...], str]
    ) -> None:
        payloads, text = literal
        packed = splits_of(payloads)
        data, lengths, _ = _core.frame(packed.data, packed.row_splits, self.kind)
        assert bytes(memoryview(data)).hex() == text.replace(" ", "")
        assert sum(np.asarray(lengths).tolist()) == len(data)

    def test_stream_of_literal_bytes_when_read_then_payloads_are_those_of_the_specification(
        self, literal: tuple[tuple[bytes, ...], str]
    ) -> None:
        payloads, text = literal
        assert self.streamed(self.source(bytes.fromhex(text)), 256, 0) == (list(payloads), None)

    @inherited
    @given(st.data())
    def test_frame_when_written_natively_then_agrees_with_the_oracle(self, data: st.DataObject) -> None:
        payloads = self.draw_payloads(data)
        packed = splits_of(payloads)
        framed, lengths, _ = _core.frame(packed.data, packed.row_splits, self.kind)
        frames = [type(self).frame(payload) for payload in payloads]
        assert bytes(memoryview(framed)) == b"".join(frames)
        assert np.asarray(lengths).tolist() == [len(frame) for frame in frames]

    @inherited
    @given(st.data(), st.sampled_from(sorted(COMPRESSORS, key=str)))
    def test_scan_when_run_then_offsets_and_lengths_agree_with_the_oracle(
        self, data: st.DataObject, compression: str | None
    ) -> None:
        payloads = self.draw_payloads(data)
        frames = [type(self).frame(payload) for payload in payloads]
        shard = b"".join(frames)
        offsets, lengths, end, fault = _core.scan(self.source(shard, compression), self.kind, verify=True)
        assert fault is None
        assert end == len(shard)
        assert np.asarray(offsets).tolist() == [offset for offset, _ in type(self).records(shard)]
        assert np.asarray(lengths).tolist() == [len(frame) for frame in frames]

    @inherited
    @given(st.data(), st.sampled_from(sorted(COMPRESSORS, key=str)))
    def test_fetch_when_given_any_order_then_payloads_come_in_that_order(
        self, data: st.DataObject, compression: str | None
    ) -> None:
        payloads = self.draw_payloads(data)
        source = self.source(b"".join(map(type(self).frame, payloads)), compression)
        offsets, lengths = (np.asarray(part) for part in _core.scan(source, self.kind)[:2])
        positions = st.integers(0, max(len(payloads) - 1, 0))
        rows = np.array(data.draw(st.lists(positions, max_size=20 * bool(payloads))), np.int64)
        got = _core.split(*_core.fetch(source, self.kind, offsets[rows], lengths[rows]))
        assert got == [payloads[row] for row in rows]

    @inherited
    @given(st.data(), st.integers(1, 5), st.integers(0, 2), st.sampled_from(sorted(COMPRESSORS, key=str)))
    def test_stream_when_read_in_any_batches_by_any_threads_then_payloads_agree(
        self, data: st.DataObject, num_records: int, threads: int, compression: str | None
    ) -> None:
        payloads = self.draw_payloads(data)
        source = self.source(b"".join(map(type(self).frame, payloads)), compression)
        assert self.streamed(source, num_records, threads) == (payloads, None)

    @inherited
    @given(st.data(), st.integers(1, 5), st.integers(0, 2))
    def test_stream_of_mutated_shard_when_read_then_agrees_with_the_oracle(
        self, data: st.DataObject, num_records: int, threads: int
    ) -> None:
        shard = b"".join(map(type(self).frame, self.draw_payloads(data)))
        mutated = data.draw(strategies.mutations(shard))
        assert self.streamed(self.source(mutated), num_records, threads) == self.expected(mutated)

    @inherited
    @given(st.data())
    def test_verify_of_mutated_shard_when_run_then_first_fault_agrees_with_the_oracle(
        self, data: st.DataObject
    ) -> None:
        shard = b"".join(map(type(self).frame, self.draw_payloads(data)))
        mutated = data.draw(strategies.mutations(shard))
        payloads, fault = self.expected(mutated)
        num_records, faults, num_faults, *_ = _core.verify(self.source(mutated), self.kind)
        harsh = [entry for entry in faults if entry[0] != "bad_padding"]
        assert num_faults == len(faults)
        if fault is None:
            assert harsh == []
            assert num_records + num_faults == len(payloads)
        else:
            assert (harsh[0][0], harsh[0][2], harsh[0][1]) == fault

    @inherited
    @given(st.data())
    def test_verify_of_sound_shard_when_run_then_counts_records_and_finds_nothing(self, data: st.DataObject) -> None:
        payloads = self.draw_payloads(data)
        shard = b"".join(map(type(self).frame, payloads))
        num_records, faults, num_faults, end, offsets, _ = _core.verify(self.source(shard), self.kind)
        assert (num_records, faults, num_faults, end) == (len(payloads), [], 0, len(shard))
        assert np.asarray(offsets).tolist() == [offset for offset, _ in type(self).records(shard)]

    def test_verify_of_damaged_shard_when_run_then_tells_kind_offset_and_record(self, row: Damage) -> None:
        _, faults, num_faults, *_ = _core.verify(self.source(row.data), self.kind)
        if row.kind is None:
            assert faults == []
        else:
            assert faults[0][:3] == (row.kind, row.position, row.offset)
            assert num_faults == len(faults)

    @pytest.mark.parametrize("threads", [0, 1, 2])
    def test_stream_of_damaged_shard_when_read_then_delivers_what_is_before_the_damage(
        self, row: Damage, threads: int
    ) -> None:
        fault = None if row.verify_only or row.kind is None else (row.kind, row.offset, row.position)
        for num_records in (1, 2, 256):
            assert self.streamed(self.source(row.data), num_records, threads) == (row.payloads_before, fault)

    def test_stream_of_many_records_when_read_across_chunks_then_all_come_in_order(self) -> None:
        rng = Random(7)
        sizes = [rng.choice((1, 5, 400, 40_000)) for _ in range(120)]
        payloads = [rng.randbytes(size) for size in sizes]
        shard = bytes(memoryview(_framed(payloads, self.kind)))
        for compression in (None, "gzip", "zlib"):
            for threads in (0, 2):
                source = self.source(shard, compression)
                assert self.streamed(source, 64, threads) == (payloads, None)


def _framed(payloads: Sequence[bytes], kind: Any) -> _core.Block:
    packed = splits_of(payloads)
    return _core.frame(packed.data, packed.row_splits, kind)[0]
