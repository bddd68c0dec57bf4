"""The three framings: bytes of the specification, and the conformance suite."""

from __future__ import annotations

import numpy as np
import pytest

from recordmill import _core
from recordmill.cli import options
from recordmill.formats.ofrecord import OFRECORD
from recordmill.formats.recordio import RECORDIO
from recordmill.formats.registry import FORMATS, PAYLOADS
from recordmill.formats.tfrecord import TFRECORD
from recordmill.testing import ofrecord, recordio, tfrecord
from recordmill.testing.damage import TABLES
from recordmill.testing.framing_suite import FramingTests, pack_payloads

MAGIC = b"\x0a\x23\xd7\xce"


class TestTfrecordFraming(FramingTests):
    """u64 length, its masked checksum, payload, its masked checksum."""

    format = TFRECORD
    damage_table = TABLES["tfrecord"][1]
    frame = staticmethod(tfrecord.frame)
    iter_records = staticmethod(tfrecord.iter_records)
    literals = (
        ((), ""),
        ((b"",), "0000000000000000 29039807 d8ea82a2"),
        ((b"record 0",), "0800000000000000 ff86240f 7265636f72642030 0c34c586"),  # as TensorFlow writes it
    )


class TestRecordioFraming(FramingTests):
    """Magic word, flag and length, data, padding; split at aligned magic words."""

    format = RECORDIO
    damage_table = TABLES["recordio"][1]
    frame = staticmethod(recordio.frame)
    iter_records = staticmethod(recordio.iter_records)
    literals = (
        ((), ""),
        ((b"",), "0a23d7ce 00000000"),
        ((b"abcde",), "0a23d7ce 05000000 6162636465 000000"),
        ((MAGIC,), "0a23d7ce 00000020 0a23d7ce 00000060"),
        ((b"left" + MAGIC + MAGIC + b"r",), "0a23d7ce04000020 6c656674 0a23d7ce00000040 0a23d7ce01000060 72000000"),
        ((b"x" + MAGIC,), "0a23d7ce 05000000 780a23d7ce 000000"),
    )


class TestOfrecordFraming(FramingTests):
    """i64 length, message."""

    format = OFRECORD
    damage_table = TABLES["ofrecord"][1]
    frame = staticmethod(ofrecord.frame)
    iter_records = staticmethod(ofrecord.iter_records)
    literals = (
        ((), ""),
        ((b"\x0a\x00", b"x"), "0200000000000000 0a00 0100000000000000 78"),
    )


def test_registry_names_match_native_framings() -> None:
    assert {name: format_.framing.kind.name for name, format_ in FORMATS.items()} == {name: name for name in FORMATS}
    with pytest.raises(ValueError, match=f'must be one of {", ".join(FORMATS)}, got "arrow"'):
        _core.FrameKind("arrow")


def test_command_line_choices_match_registry() -> None:
    assert set(options.FORMATS) == set(FORMATS)
    assert set(options.PAYLOADS) == set(PAYLOADS)


@pytest.mark.parametrize("data, expected", [(b"123456789", 0xE3069283), (b"", 0), (bytes(32), 0x8A9136AA)])
def test_crc32c_matches_published_check_values(data: bytes, expected: int) -> None:
    assert _core.crc32c(data) == expected == tfrecord.crc32c(data)


def test_row_checksums_equal_crc32c_of_each_row() -> None:
    rows = [b"", b"a", b"123456789", bytes(1000)]
    packed = pack_payloads(rows)
    found = np.asarray(_core.row_checksums(packed.data, packed.row_splits))
    assert found.tolist() == [tfrecord.crc32c(row) for row in rows]


def test_ofrecord_frame_rejects_empty_payload_with_its_position() -> None:
    packed = pack_payloads([b"a", b"", b"c"])
    with pytest.raises(_core.CoreFault) as caught:
        _core.frame(packed.data, packed.row_splits, _core.FrameKind("ofrecord"))
    assert caught.value.args[:2] == ("bad_length", 1)


@pytest.mark.deep
def test_recordio_frame_rejects_payload_one_byte_over_limit() -> None:
    limit = 2**29
    data = np.zeros(limit, np.uint8)
    with pytest.raises(_core.CoreFault) as caught:
        _core.frame(data, np.array([0, limit], np.int64), _core.FrameKind("recordio"))
    assert caught.value.args[0] in ("bad_length", "limit_exceeded")
    framed, lengths, _ = _core.frame(data[:-1], np.array([0, limit - 1], np.int64), _core.FrameKind("recordio"))
    assert len(framed) == limit + 8 == np.asarray(lengths)[0]
    source = _core.Source.from_bytes(framed)
    offsets, sizes, *_ = _core.scan(source, _core.FrameKind("recordio"))
    fetched, _ = _core.fetch(source, _core.FrameKind("recordio"), np.asarray(offsets), np.asarray(sizes))
    assert len(fetched) == limit - 1
