"""Functions in worker processes that end them, hang in them, or return what they cannot hand over: they are named."""

from __future__ import annotations

import os
import pickle
import signal
import time
from typing import Any

import numpy as np
import pytest

import recordmill as rm
from recordmill.pipeline.dataset import Dataset
from tests.pipeline.crews import nothing_left
from tests.pipeline.sources import ids, numbers

pytestmark = pytest.mark.usefixtures("_light_main")


def exits(sample: dict[str, Any]) -> dict[str, Any]:
    if sample["id"] == 13:
        os._exit(9)
    return sample


def is_killed(batch: dict[str, Any]) -> dict[str, Any]:
    if 13 in batch["id"]:
        os.kill(os.getpid(), signal.SIGKILL)
    return batch


def widened(sample: dict[str, Any]) -> dict[str, Any]:
    return sample | {"wide": np.full(5000, sample["id"])}


def closes_over(sample: dict[str, Any]) -> dict[str, Any]:
    return {"id": sample["id"], "call": (lambda: None) if sample["id"] % 10 == 3 else widened}


def closes_over_batch(batch: dict[str, Any]) -> dict[str, Any]:
    return batch | {"call": (number for number in range(3))}


def hangs(sample: dict[str, Any]) -> dict[str, Any]:
    if sample["id"] == 13:
        time.sleep(10_000)
    return sample


def slow(sample: dict[str, Any]) -> dict[str, Any]:
    time.sleep(0.2 if sample["id"] == 1 else 0.0)
    return sample


def raised_by(dataset: Dataset, kind: type[Exception]) -> Any:
    with nothing_left(), pytest.raises(kind) as caught:
        list(dataset.loader(threads=1))
    return pickle.loads(pickle.dumps(caught.value))


@pytest.mark.parametrize(
    "dataset, position, code",
    [
        (numbers(40).map(exits, workers="processes").batch(4), 13, 9),
        (numbers(40).batch(4).map(is_killed, workers="processes"), 12, -signal.SIGKILL),
        pytest.param(
            rm.mix([numbers(40, name="other"), numbers(40).map(exits, workers="processes")], [1, 1]).batch(4),
            13,
            9,
            marks=pytest.mark.deep,
        ),
    ],
    ids=repr,
)
def test_function_when_it_ends_its_process_then_is_named_with_the_sample(
    dataset: Dataset, position: int, code: int
) -> None:
    error = raised_by(dataset, rm.WorkerError)
    assert (error.exit_code, error.position, error.function) == (code, position, error.stage[4:].split(",")[0])
    assert (error.shard, error.record, error.offset) == ("numbers-1", position % 10, position % 10 * 100)
    told = str(error)
    assert f" in {error.function}\n" in told
    assert f"stage {error.stage}, sample {position} of the epoch, shard 'numbers-1'" in told


@pytest.mark.parametrize(
    "dataset, position, kind",
    [
        (numbers(40).map(closes_over, workers="processes").batch(4), 3, "function"),
        (numbers(40).batch(4).map(closes_over_batch, workers="processes"), 0, "generator"),
        pytest.param(
            rm.mix([numbers(40).map(closes_over, workers="processes")], [1]).batch(4),
            3,
            "function",
            marks=pytest.mark.deep,
        ),
    ],
    ids=repr,
)
def test_function_when_what_it_returns_cannot_be_handed_over_then_is_named(
    dataset: Dataset, position: int, kind: str
) -> None:
    error = raised_by(dataset, rm.MapError)
    assert (error.shard, error.record, error.position) == ("numbers-0", position, position)
    assert f"{error.function} returned 'call' as {kind}, which a worker process cannot hand over" in str(error)
    assert error.stage.startswith(f"map({error.function}") and "pickled" in error.hint


def test_samples_when_they_cannot_be_handed_over_then_may_be_skipped() -> None:
    loader = numbers(40).map(closes_over, workers="processes").batch(10).loader(threads=1, on_error="skip")
    assert ids(loader) == [number for number in range(40) if number % 10 != 3]
    assert [entry.error.record for entry in loader.report.skipped] == [3] * 4


@pytest.mark.parametrize("mixed", [False, pytest.param(True, marks=pytest.mark.deep)])
def test_function_when_it_hangs_in_a_process_then_is_named_with_the_sample(mixed: bool) -> None:
    samples = numbers(40).map(hangs, workers="processes", timeout=0.1)
    error = raised_by((rm.mix([samples], [1]) if mixed else samples).batch(4), rm.MapError)
    assert (error.function, error.stage) == ("hangs", "map(hangs, workers='processes', timeout=0.1)")
    assert (error.position, error.shard, error.record, error.offset) == (13, "numbers-1", 3, 300)
    assert "hangs hangs" in str(error)


@pytest.mark.parametrize("workers", ["threads", pytest.param("processes", marks=pytest.mark.deep)])
def test_function_when_another_one_has_a_limit_then_it_does_not_hold_for_it(workers: Any) -> None:
    samples = numbers(4).map(exits, workers=workers, timeout=0.02).map(slow, workers=workers).batch(1)
    assert ids(samples.loader(threads=1)) == list(range(4))
