"""The index files of the formats' own tools: written exactly, read with all oddities that the tools take."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from recordmill.errors import FormatError
from recordmill.formats.recordio.index import INDEX as IDX
from recordmill.formats.tfrecord.index import INDEX as TFINDEX
from recordmill.types import FrameIndex
from tests.recorded import RECORDINGS, load_recording


def frames(offsets: list[int], lengths: list[int]) -> FrameIndex:
    return FrameIndex(np.array(offsets, np.int64), np.array(lengths, np.int64))


def test_idx_serialize_formats_key_tab_offset() -> None:
    assert IDX.serialize(frames([0, 16, 32], [16, 16, 16]), [0, 1, 2]) == b"0\t0\n1\t16\n2\t32\n"
    assert IDX.serialize(frames([0, 2**40], [1, 1]), ["кот", 5]) == "кот\t0\n5\t1099511627776\n".encode()
    assert IDX.serialize(frames([], []), []) == b""


@pytest.mark.parametrize(
    "data, expected",
    [
        (b"", ([], [])),
        (b"0\t0\n1\t16\n", (["0", "1"], [0, 16])),
        (b"0\t0\r\n1\t16\r\n", (["0", "1"], [0, 16])),
        (b"0\t0\n1\t16", (["0", "1"], [0, 16])),
        (b"a\t0\tmore\tcolumns\n", (["a"], [0])),
        (b"1\t32\n1\t0\n", (["1", "1"], [32, 0])),
        (b"  7\t16  \n", (["7"], [16])),
        ("ключ\t0\n".encode(), (["ключ"], [0])),
        (b"\xff\t0\n", (["\udcff"], [0])),
    ],
)
def test_idx_parse_preserves_keys_offsets_and_order(data: bytes, expected: tuple[list[str], list[int]]) -> None:
    assert IDX.parse(data) == expected


@pytest.mark.parametrize(
    "data", [b"0 0\n", b"0\t0\n\n1\t16\n", b"0\t0\n\n", b"0\n", b"0\t1.5\n", b"0\tx\n", b"# a\n", b"\t\n"]
)
def test_idx_parse_names_malformed_line(data: bytes) -> None:
    with pytest.raises(FormatError, match="line") as caught:
        IDX.parse(data)
    assert caught.value.expected
    assert caught.value.found
    assert caught.value.hint


@given(
    st.lists(
        st.tuples(st.text(st.characters(codec="utf-8", exclude_characters="\t\n\r"), min_size=1), st.integers(0, 2**62))
    )
)
def test_idx_round_trip_preserves_index(rows: list[tuple[str, int]]) -> None:
    rows = [(key.strip(), offset) for key, offset in rows if key.strip()]
    keys, offsets = [key for key, _ in rows], [offset for _, offset in rows]
    assert IDX.parse(IDX.serialize(frames(offsets, offsets), keys)) == (keys, offsets)


def test_tfindex_serialize_formats_offset_and_length() -> None:
    data = TFINDEX.serialize(frames([0, 21, 37], [21, 16, 20]), [])
    assert data == b"0 21\n21 16\n37 20\n"
    assert TFINDEX.parse(data) == (["0", "1", "2"], [0, 21, 37])


@pytest.mark.parametrize("data", [b"0\n", b"0 21 3\n", b"a b\n", b"0 21\n\n", b"0,21\n"])
def test_tfindex_parse_names_malformed_line(data: bytes) -> None:
    with pytest.raises(FormatError, match="line"):
        TFINDEX.parse(data)


def test_tfindex_serialize_equals_file_of_tfrecord2idx() -> None:
    import recordmill as rm

    names = sorted((RECORDINGS / "tensorflow/framing").glob("*.tfindex"))
    assert len(names) == 4
    for name in names:
        index = rm.ShardReader(name.with_suffix(".tfrecord"), format="tfrecord", index="never").index
        assert TFINDEX.serialize(index, []) == name.read_bytes()
        assert TFINDEX.parse(name.read_bytes())[1] == index.offsets.tolist()


def test_idx_serialize_equals_file_of_mxnet() -> None:
    written = [case for case in load_recording("mxnet/index/expected.json")["cases"] if case["by"] == "mxnet"]
    offsets = [0, 16, 40, 48, 64]
    assert len(written) == 6
    for case in written:
        data = (RECORDINGS / "mxnet/index" / case["idx"]).read_bytes()
        assert IDX.serialize(frames(offsets, offsets), case["written"]) == data
