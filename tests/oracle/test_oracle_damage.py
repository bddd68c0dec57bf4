"""Every row of the damage tables against the oracle readers."""

from __future__ import annotations

import zlib

import pytest
from hypothesis import given, strategies as st

from recordmill.testing import ofrecord, recordio, strategies, tfrecord
from recordmill.testing.damage import SAMPLE_PAYLOADS, TABLES, Damage, apply_damage_table, build_damaged_shards
from recordmill.testing.damage.compression import CompressedFile, build_compressed_files
from recordmill.testing.faults import FAULT_KINDS, OracleError, read_until_fault

READERS = {"tfrecord": tfrecord.iter_records, "recordio": recordio.iter_records, "ofrecord": ofrecord.iter_records}
ROWS = [pytest.param(family, row, id=f"{family}-{row}") for family in TABLES for row in build_damaged_shards(family)]
CONTENT = b"".join(tfrecord.frame(payload) for payload in SAMPLE_PAYLOADS)


@pytest.mark.parametrize("family, row", ROWS)
def test_records_yields_payloads_before_damage_then_raises_fault(family: str, row: Damage) -> None:
    found, error = read_until_fault(READERS[family](row.data))
    assert [payload for _, payload in found] == row.payloads_before
    if row.kind is None or row.verify_only:
        assert error is None
    else:
        assert error is not None
        assert (error.kind, error.offset, error.position) == (row.kind, row.offset, row.position)


@pytest.mark.parametrize("row", [row for row in build_damaged_shards("recordio") if row.verify_only], ids=str)
def test_bad_padding_reports_offset_and_record(row: Damage) -> None:
    assert recordio.find_bad_padding(row.data) == [(row.offset, row.position)]


@pytest.mark.parametrize("family", TABLES)
def test_damages_have_unique_names_and_change_shard(family: str) -> None:
    rows = build_damaged_shards(family)
    sound = b"".join(TABLES[family][0](payload) for payload in SAMPLE_PAYLOADS)
    assert len({row.name for row in rows}) == len(rows)
    assert all(row.data != sound for row in rows)


def test_damages_cover_every_framing_fault() -> None:
    shown = {row.kind for family in TABLES for row in build_damaged_shards(family)}
    other_faults = {"bad_payload", "feature_mismatch", "bad_compression", "limit_exceeded", "record_too_long"}
    assert shown - {None} == set(FAULT_KINDS) - other_faults


@pytest.mark.parametrize("payloads", [(b"a", b"b"), (b"", *SAMPLE_PAYLOADS), (*SAMPLE_PAYLOADS, b"x")])
def test_apply_damage_table_rejects_unsuitable_payloads(payloads: tuple[bytes, ...]) -> None:
    with pytest.raises(ValueError, match="payload"):
        apply_damage_table(*TABLES["tfrecord"], payloads)


def inflate_stream(row: CompressedFile) -> tuple[bytes, bool]:
    """Return what zlib makes of a whole-file stream, and whether it is sound."""
    content, rest = b"", row.data
    try:
        while rest.strip(b"\0") or not content:
            inflater = zlib.decompressobj(31 if row.container == "gzip" else 15)
            content += inflater.decompress(rest)
            if not inflater.eof:
                return content, False
            rest = inflater.unused_data
            if not rest or row.container == "zlib":
                return content, not rest
    except zlib.error:
        return content, False
    return content, True


@pytest.mark.parametrize("row", build_compressed_files(CONTENT), ids=str)
def test_inflate_of_damaged_stream_agrees_with_zlib(row: CompressedFile) -> None:
    content, sound = inflate_stream(row)
    assert sound == (row.kind is None)
    assert content == row.content if sound else row.content.startswith(content)


@given(st.sampled_from(sorted(READERS)), strategies.payload_lists(min_payload_bytes=1), st.data())
def test_records_of_mutated_shard_are_told_up_to_one_fault(
    family: str, payloads: list[bytes], data: st.DataObject
) -> None:
    shard = b"".join(TABLES[family][0](payload) for payload in payloads)
    mutated = data.draw(strategies.mutations(shard))
    found, error = read_until_fault(READERS[family](mutated))
    offsets = [offset for offset, _ in found]
    assert offsets == sorted(set(offsets))
    if error is None:
        return
    assert isinstance(error, OracleError)
    assert error.position == len(found)
    assert 0 <= error.offset <= len(mutated)


@given(strategies.payload_lists(min_payload_bytes=1), st.integers(0), st.integers(0))
def test_records_of_tfrecord_with_a_flipped_bit_never_show_a_changed_payload(
    payloads: list[bytes], place: int, bit: int
) -> None:
    shard = bytearray(b"".join(map(tfrecord.frame, payloads)))
    if not shard:
        return
    shard[place % len(shard)] ^= 1 << bit % 8
    found, error = read_until_fault(tfrecord.iter_records(bytes(shard)))
    assert error is not None
    assert [payload for _, payload in found] == payloads[: len(found)]
