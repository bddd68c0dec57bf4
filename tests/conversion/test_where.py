"""Conditions on records: what they mean, and how errors point at the cause."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import recordmill as rm


@pytest.fixture(scope="module")
def records(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("where") / "a.tfrecord"
    with rm.ShardWriter(path) as writer:
        writer.write({"n": 0, "x": 0.5, "name": "ant", "image/width": 10, "list": [1, 2], "image": b"abc"})
        writer.write({"n": 1, "x": -1.5, "name": "Zoë", "image/width": 20, "list": [1], "image": b""})
        writer.write({"n": 2, "x": 2.0, "name": "cat", "image/width": 30, "list": [3, 4], "image": b"a"})
        writer.write({"n": 3, "x": 2.5, "image/width": 2**62, "list": [3, 4], "image": b"a"})
    return path


def select(records: Path, where: str) -> list[int]:
    destination = records.parent / "out.tfrecord"
    rm.convert(records, destination, where=where, overwrite=True)
    return [int(example["n"]) for example in rm.open(destination)] if destination.stat().st_size else []


@pytest.mark.parametrize(
    "where, expected",
    [
        ("n == 3", [3]),
        ("0 < n <= 2", [1, 2]),
        ("n > 0 and not x == 2 or n == 0", [0, 1, 3]),
        ("n in (0, 3)", [0, 3]),
        ("n not in [0, 3]", [1, 2]),
        ("name == 'ant'", [0]),
        ("name == 'Zoë'", [1]),
        ("name != 'ant'", [1, 2, 3]),
        ("name == None", [3]),
        ("name < 'b'", [0, 1]),
        ("'a' in name", [0, 2]),
        ("name in ('ant', 'cat')", [0, 2]),
        ("name == 3", []),
        ("len(image) > 1", [0]),
        ("len(list) == 2", [0, 2, 3]),
        ("len(name) == None", [3]),
        ("image/width / 10 > 1 and image/width < 100", [1, 2]),
        ("image/width * 4 > 2 ** 3 if 0 else 1", None),
        ("image/width * 1000000 > 0", [0, 1, 2, 3]),
        ("n * 2 + 1 == 5", [2]),
        ("n // 2 == 1", [2, 3]),
        ("n % 2 == 1", [1, 3]),
        ("6 / n == 3", [2]),
        ("-x > 1", [1]),
        ("n", [1, 2, 3]),
        ("n == 99999999999999999999", []),
        ("1 <\n n", [2, 3]),
    ],
)
def test_where_keeps_records_that_meet_the_condition(records: Path, where: str, expected: Any) -> None:
    if expected is None:
        with pytest.raises(rm.WhereError):
            select(records, where)
    else:
        assert select(records, where) == expected


@pytest.mark.parametrize(
    "where, column, text",
    [
        ("n == 1 and lable == 2", 11, "lable"),
        ("n == $", 5, "expression"),
        ("n == 1 and list == 2", 11, "several values"),
        ("image/width > 3 and 'ü' < n", 26, "compared with < or >"),
        ("1 + name == 2", 4, "arithmetic"),
        ("n ** 9 == 1", 0, "Pow"),
        ("__import__('os')", 0, "no feature"),
        ("len(n, n)", 0, "function"),
        ("n.real == 1", 0, "Attribute"),
        ("[n for n in n]", 0, "ListComp"),
        ("len(3) == 1", 4, "len"),
        ("n is 3", 0, "is"),
    ],
)
def test_where_errors_point_at_the_column(records: Path, where: str, column: int, text: str) -> None:
    with pytest.raises(rm.WhereError, match=text) as caught:
        rm.convert(records, records.parent / "never", where=where)
    assert caught.value.column == column
    assert str(caught.value).splitlines()[2].index("^") == 4 + column


@pytest.mark.parametrize(
    "where",
    [
        "(" * 5000 + "n" + ")" * 5000,
        "not " * 2000 + "n",
        "n" + " + n" * 5000,
        "n == " + "9" * 5000,
        "n == 1" + " " * 10**6,
    ],
)
def test_where_refuses_conditions_of_unreasonable_size(records: Path, where: str) -> None:
    with pytest.raises(rm.WhereError):
        rm.convert(records, records.parent / "never", where=where)
