"""`parse_payloads`: equal columns for every type of argument and every number of threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import recordmill as rm
from recordmill.formats.registry import PAYLOADS
from recordmill.types import FeatureList, Ragged

SCHEMA = rm.Schema(
    {
        "pair": rm.Feature("float32", (2,)),
        "text": rm.Feature("bytes", ()),
        "some": rm.Feature("int64", (None,), optional=True),
        "words": rm.Feature("bytes", (None,), optional=True),
        "none": rm.Feature("int64", (), default=7),
    }
)
FRAMES = rm.Schema(
    {
        "frames": rm.Feature("int64", (None, None), sequence=True),
        "fixed": rm.Feature("float32", (None, 2), sequence=True),
        "texts": rm.Feature("bytes", (None, None), sequence=True),
    }
)


def examples(count: int) -> list[bytes]:
    rows = [
        {
            "pair": [float(number), -float(number)],
            "text": b"t" * (number % 5),
            **({"some": [number] * (number % 4)} if number % 3 else {}),
            "words": [b"w" * size for size in range(number % 3)],
        }
        for number in range(count + 3)
    ]
    return list(PAYLOADS["example"].serialize(rows, None, 0))[:count]


def sequences(count: int) -> list[bytes]:
    rows = [
        {
            "frames": FeatureList([[number] * size for size in range(number % 4)]),
            "fixed": FeatureList([[number + 0.25, 0.5]] * (number % 3)),
            "texts": FeatureList([[b"x" * number] * size for size in range(number % 3)]),
        }
        for number in range(count)
    ]
    return list(PAYLOADS["sequence_example"].serialize(rows, FRAMES, 0))


def to_lists(columns: dict[str, Any]) -> dict[str, Any]:
    return {
        name: column.to_list() if isinstance(column, Ragged) else (column.dtype, column.tolist())
        for name, column in columns.items()
    }


@pytest.mark.parametrize("count", [0, 1, 255, 512, 1000, 1537])
@pytest.mark.parametrize("threads", [2, 3, 16])
def test_parse_payloads_gives_equal_columns_with_any_number_of_threads(count: int, threads: int) -> None:
    payloads = examples(count)
    expected = to_lists(rm.parse_payloads(payloads, SCHEMA, payload="example"))
    assert to_lists(rm.parse_payloads(payloads, SCHEMA, payload="example", threads=threads)) == expected
    rows = Ragged.from_rows(payloads)
    assert to_lists(rm.parse_payloads(rows, SCHEMA, payload="example", threads=threads)) == expected
    assert expected["pair"][1] == [[number, -number] for number in range(count)]


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_parse_payloads_gives_equal_sequences_with_any_number_of_threads(threads: int) -> None:
    payloads = sequences(1300)
    columns = rm.parse_payloads(payloads, FRAMES, payload="sequence_example", threads=threads)
    single = [rm.parse_payloads([payload], FRAMES, payload="sequence_example") for payload in payloads]
    for name in FRAMES:
        assert columns[name].to_list() == [one[name].to_list()[0] for one in single]


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("bad", [[0], [700], [999, 600], [1100, 1101]])
def test_parse_payloads_reports_first_invalid_record_with_any_number_of_threads(threads: int, bad: list[int]) -> None:
    payloads = examples(1200)
    for position in bad:
        payloads[position] = PAYLOADS["example"].serialize([{"text": b""}], None, 0)[0]
    with pytest.raises(rm.FeatureError) as caught:
        rm.parse_payloads(payloads, SCHEMA, payload="example", threads=threads)
    assert caught.value.record == min(bad)


@pytest.mark.parametrize("kind", [bytearray, memoryview])
def test_parse_payloads_accepts_other_buffers(kind: Any) -> None:
    payloads = examples(9)
    mixed = [kind(payload) if number % 2 else payload for number, payload in enumerate(payloads)]
    expected = to_lists(rm.parse_payloads(tuple(payloads), SCHEMA, payload="example"))
    assert to_lists(rm.parse_payloads(mixed, SCHEMA, payload="example")) == expected


def test_parsed_strings_keep_their_content_while_memory_is_reused() -> None:
    rng = np.random.default_rng(0)
    schema = rm.Schema({"a": rm.Feature("bytes", ()), "b": rm.Feature("bytes", ())})
    results = []
    for number in range(6):
        rows = [{"a": rng.bytes(30_000 + number), "b": rng.bytes(9)} for _ in range(8)]
        payloads = list(PAYLOADS["example"].serialize(rows, None, 0))
        columns = rm.parse_payloads(payloads, schema, payload="example")
        if number % 2:  # The memory of the other results is free for reuse.
            results.append((rows, columns))
    for rows, columns in results:
        assert [{"a": a, "b": b} for a, b in zip(columns["a"], columns["b"], strict=True)] == rows


def test_parse_payloads_rejects_unknown_codec() -> None:
    with pytest.raises(ValueError, match=r"payload must be one of example, .*, got 'json'"):
        rm.parse_payloads([], SCHEMA, payload="json")
