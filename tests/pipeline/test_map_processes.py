"""Errors name functions that end a worker process, hang in it, or return values that cannot be sent."""

from __future__ import annotations

import os
import pickle
import signal
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import recordmill as rm
from recordmill.concurrency.process_pool import ProcessPool
from recordmill.concurrency.status_page import StatusPage
from recordmill.pipeline.compiled_pipeline import SourceOrigin
from recordmill.pipeline.dataset import Dataset
from tests.concurrency import tasks
from tests.concurrency.helpers import check_no_leftovers
from tests.pipeline.sources import Numbers, ids, numbers

pytestmark = pytest.mark.usefixtures("_light_main")


@dataclass(frozen=True)
class KillsReader(Numbers):
    """Numbers of which one kills the worker process that reads it."""

    def columns(self, positions: Any, schema: rm.Schema | None = None) -> dict[str, Any]:
        if StatusPage.current is not None and 13 in positions:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().columns(positions, schema)


def same(sample: dict[str, Any]) -> dict[str, Any]:
    return sample


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
    with check_no_leftovers(), pytest.raises(kind) as caught:
        list(dataset.loader(threads=1))
    return pickle.loads(pickle.dumps(caught.value))


@pytest.mark.parametrize(
    "dataset, position, code",
    [
        (numbers(40).map(exits, workers="processes").batch(4), 13, 9),
        (numbers(40).batch(4).map(is_killed, workers="processes"), 12, -signal.SIGKILL),
        pytest.param(
            rm.mix([numbers(40, name="other"), numbers(40).map(exits, workers="processes")], [1, 1]).batch(4),
            27,
            9,
            marks=pytest.mark.deep,
        ),
    ],
    ids=repr,
)
def test_dead_process_names_function_and_sample(dataset: Dataset, position: int, code: int) -> None:
    error, record = raised_by(dataset, rm.WorkerError), 2 if position == 12 else 3
    assert (error.exit_code, error.position, error.function) == (code, position, error.stage[4:].split(",")[0])
    assert (error.shard, error.record, error.offset) == ("numbers-1", record, record * 100)
    text = str(error)
    assert f" in {error.function}\n" in text
    assert f"stage {error.stage}, sample {position} of the epoch, shard 'numbers-1'" in text


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
def test_unpicklable_result_names_function(dataset: Dataset, position: int, kind: str) -> None:
    error = raised_by(dataset, rm.MapError)
    assert (error.shard, error.record, error.position) == ("numbers-0", position, position)
    assert f"{error.function} returned 'call' as {kind}, which cannot be sent from a worker process" in str(error)
    assert error.stage.startswith(f"map({error.function}") and "pickled" in error.hint


def test_unpicklable_results_can_be_skipped() -> None:
    loader = numbers(40).map(closes_over, workers="processes").batch(10).loader(threads=1, on_error="skip")
    assert ids(loader) == [number for number in range(40) if number % 10 != 3]
    assert [entry.error.record for entry in loader.report.skipped] == [3] * 4


@pytest.mark.parametrize("mixed", [False, pytest.param(True, marks=pytest.mark.deep)])
def test_timeout_in_process_names_function_and_sample(mixed: bool) -> None:
    samples = numbers(40).map(hangs, workers="processes", timeout=0.1)
    error = raised_by((rm.mix([samples], [1]) if mixed else samples).batch(4), rm.MapError)
    assert (error.function, error.stage) == ("hangs", "map(hangs, workers='processes', timeout=0.1)")
    assert (error.position, error.shard, error.record, error.offset) == (13, "numbers-1", 3, 300)
    assert "hangs hangs" in str(error)


@pytest.mark.parametrize("workers", ["threads", pytest.param("processes", marks=pytest.mark.deep)])
def test_timeout_applies_only_to_its_function(workers: Any) -> None:
    samples = numbers(4).map(exits, workers=workers, timeout=0.02).map(slow, workers=workers).batch(1)
    assert ids(samples.loader(threads=1)) == list(range(4))


def test_dead_process_between_functions_names_stage_and_first_sample() -> None:
    samples = Dataset(SourceOrigin(KillsReader(40))).shuffle(seed=2).map(same, workers="processes").batch(4)
    error = raised_by(samples, rm.WorkerError)
    first, *others = ids(numbers(40).shuffle(seed=2).fetch(range(error.position, error.position + 4)))
    assert error.position % 4 == 0 and 13 in (first, *others)
    assert (error.stage, error.shard, error.record) == ("read", f"numbers-{first // 10}", first % 10)
    assert error.exit_code == -signal.SIGKILL and not error.function
    assert "while it processed this sample and others" in str(error)


def test_worker_killed_at_start_has_no_hint_about_scripts() -> None:
    pool = ProcessPool(tasks.KillingTask(), 1)
    pool.submit(1)
    with pytest.raises(rm.WorkerError, match=r"SIGTERM.* while it was starting") as caught:
        pool.result(0)
    pool.close()
    assert "__main__" not in (caught.value.hint or "")
