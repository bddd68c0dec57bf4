"""Batches that are read in several runs: the same columns as in one, and errors of the right record."""

from __future__ import annotations

from typing import Any

import pytest

import recordmill.compat.tensorflow as tf
from recordmill.compat.tensorflow.io import reading
from tests.recordings.compat.tensorflow.io import parsing_cases
from tests.recordings.compat.tensorflow.io.spelling import outcome

NAMES = [name for name in parsing_cases.specs(tf) if name != "nothing"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("run_bytes", [1, 150])
def test_batch_when_read_in_runs_then_has_the_same_outcome(
    name: str, run_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    payloads = parsing_cases.rows(tf) * 3
    spec: dict[str, Any] = parsing_cases.specs(tf)[name]
    whole = outcome(lambda: tf.io.parse_example(payloads, spec))
    monkeypatch.setattr(reading, "_RUN_BYTES", run_bytes)
    assert outcome(lambda: tf.io.parse_example(payloads, spec)) == whole


def test_record_when_refused_in_a_later_run_then_is_named_by_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_RUN_BYTES", 1)
    good, bad = parsing_cases.example(tf, n=[1]), parsing_cases.example(tf, n=[1, 2])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Key: n, Index: 4\.") as caught:
        tf.io.parse_example([good] * 4 + [bad, good], {"n": tf.io.FixedLenFeature([], tf.int64)})
    assert caught.value.record == 4
