"""parse_payloads: the same columns from any kind of argument, and from any number of threads."""

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


def told(columns: dict[str, Any]) -> dict[str, Any]:
    return {
        name: column.to_list() if isinstance(column, Ragged) else (column.dtype, column.tolist())
        for name, column in columns.items()
    }


@pytest.mark.parametrize("count", [0, 1, 255, 512, 1000, 1537])
@pytest.mark.parametrize("threads", [2, 3, 16])
def test_columns_when_parsed_by_several_threads_then_are_those_of_one(count: int, threads: int) -> None:
    payloads = examples(count)
    whole = told(rm.parse_payloads(payloads, SCHEMA, payload="example"))
    assert told(rm.parse_payloads(payloads, SCHEMA, payload="example", threads=threads)) == whole
    rows = Ragged.from_rows(payloads)
    assert told(rm.parse_payloads(rows, SCHEMA, payload="example", threads=threads)) == whole
    assert whole["pair"][1] == [[number, -number] for number in range(count)]


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_frames_when_parsed_by_several_threads_then_are_those_of_each_record(threads: int) -> None:
    payloads = sequences(1300)
    found = rm.parse_payloads(payloads, FRAMES, payload="sequence_example", threads=threads)
    single = [rm.parse_payloads([payload], FRAMES, payload="sequence_example") for payload in payloads]
    for name in FRAMES:
        assert found[name].to_list() == [one[name].to_list()[0] for one in single]


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("bad", [[0], [700], [999, 600], [1100, 1101]])
def test_record_that_does_not_fit_when_several_threads_parse_then_is_the_first_one(
    threads: int, bad: list[int]
) -> None:
    payloads = examples(1200)
    for position in bad:
        payloads[position] = PAYLOADS["example"].serialize([{"text": b""}], None, 0)[0]
    with pytest.raises(rm.FeatureError) as caught:
        rm.parse_payloads(payloads, SCHEMA, payload="example", threads=threads)
    assert caught.value.record == min(bad)


@pytest.mark.parametrize("kind", [bytearray, memoryview])
def test_payloads_when_they_are_other_buffers_then_give_the_same_columns(kind: Any) -> None:
    payloads = examples(9)
    mixed = [kind(payload) if number % 2 else payload for number, payload in enumerate(payloads)]
    whole = told(rm.parse_payloads(tuple(payloads), SCHEMA, payload="example"))
    assert told(rm.parse_payloads(mixed, SCHEMA, payload="example")) == whole


def test_long_strings_when_their_memory_is_used_again_then_stay_what_they_were() -> None:
    rng = np.random.default_rng(0)
    schema = rm.Schema({"a": rm.Feature("bytes", ()), "b": rm.Feature("bytes", ())})
    kept = []
    for number in range(6):
        rows = [{"a": rng.bytes(30_000 + number), "b": rng.bytes(9)} for _ in range(8)]
        payloads = list(PAYLOADS["example"].serialize(rows, None, 0))
        found = rm.parse_payloads(payloads, schema, payload="example")
        if number % 2:
            kept.append((rows, found))
    for rows, found in kept:
        assert [{"a": a, "b": b} for a, b in zip(found["a"], found["b"], strict=True)] == rows
