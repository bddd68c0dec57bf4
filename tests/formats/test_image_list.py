"""MXNet image lists: both dialects, exact text, and errors that name the line."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from recordmill.errors import LabelError
from recordmill.formats.recordio.lst import format_image_list, read_image_list


def test_format_image_list_writes_both_dialects() -> None:
    rows = ([5, 6], [[3], [1.5, -2]], ["cat/a b.jpg", "c.jpg"])
    assert format_image_list(*rows) == b"5\t3.000000\tcat/a b.jpg\n6\t1.500000\t-2.000000\tc.jpg\n"
    assert format_image_list(*rows, decimals=None) == b"5\t3\tcat/a b.jpg\n6\t1.5\t-2\tc.jpg\n"


@pytest.mark.parametrize(
    "line, labels, name",
    [
        (b"5\t3.000000\ta b.jpg\n", [3], "a b.jpg"),
        (b"5 3 a.jpg", [3], "a.jpg"),
        (b"  5 \t 3 \t a.jpg \r\n\n", [3], "a.jpg"),
        (b"5   3  4 .5   dir/a b.jpg\n", [3, 4, 0.5], "dir/a b.jpg"),
        (b"5 3 4\n", [3], "4"),
        (b"\xef\xbb\xbf5\t3\t\xc3\xa9.jpg\n", [3], "é.jpg"),
        (b"5\t1e2\t-7\t8\n", [100, -7], "8"),
    ],
)
def test_read_image_list_parses_all_valid_lines(line: bytes, labels: list[float], name: str) -> None:
    images = read_image_list(line)
    assert images.keys.tolist() == [5] and images.names == [name]
    assert np.reshape(images.labels, -1).tolist() == labels


@pytest.mark.parametrize(
    "line",
    [
        b"1", b"1\ta.jpg", b"1 a.jpg", b"1\t2", b"x\t1\ta.jpg", b"1.0\t1\ta.jpg", b"1\tcat\ta.jpg", b"1\t\ta.jpg",
        b"-1\t1\ta.jpg", b"9223372036854775808\t1\ta.jpg", b"1 a b.jpg",
    ],
)  # fmt: skip
def test_read_image_list_error_names_invalid_line(line: bytes) -> None:
    with pytest.raises(LabelError, match="line 3 "):
        read_image_list(b"0\t1\ta.jpg\n\n" + line + b"\n4\t1\tb.jpg\n", "train.lst")


@pytest.mark.parametrize("labels, name", [([1], "a\tb"), ([1], "a\nb"), ([], "a"), ([1], " ")])
def test_format_image_list_rejects_invalid_row(labels: list[int], name: str) -> None:
    with pytest.raises(LabelError):
        format_image_list([0], [labels], [name])


NAMES = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1).filter(
    lambda name: name[0] != "\ufeff"
)
ROWS = st.tuples(
    st.integers(0, 2**63 - 1), st.lists(st.floats(-1e6, 1e6).map(lambda x: round(x, 6)), min_size=1, max_size=4), NAMES
)


@given(st.lists(ROWS, max_size=8), st.sampled_from([None, 6]))
def test_read_image_list_returns_formatted_rows(rows: list[tuple], decimals: int | None) -> None:
    keys, labels, names = ([row[column] for row in rows] for column in range(3))
    images = read_image_list(format_image_list(keys, labels, names, decimals=decimals))
    assert images.keys.tolist() == keys and images.names == names
    read = images.labels.tolist() if isinstance(images.labels, np.ndarray) else images.labels.to_list()
    read = [row if isinstance(row, list) else [row] for row in read]
    assert all(np.allclose(actual, expected, atol=1e-6) for actual, expected in zip(read, labels, strict=True))
