"""Filters with functions in worker processes: the same samples as with threads, and each function in its workers."""

from __future__ import annotations

import json
import os
from itertools import islice
from typing import Any

import numpy as np
import pytest

import recordmill as rm
from recordmill.pipeline.dataset import Dataset
from tests.concurrency.helpers import are_equal, check_no_leftovers
from tests.pipeline.sources import ids, numbers

pytestmark = pytest.mark.usefixtures("_light_main")


def before(sample: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    return sample | {"head": os.getpid(), "noise": rng.integers(1 << 40), "wide": np.full(900, sample["id"])}


def add_tail_process(sample: dict[str, Any]) -> dict[str, Any]:
    return sample | {"tail": os.getpid(), "text": b"x" * int(sample["id"] % 5)}


def on_batches(batch: dict[str, Any]) -> dict[str, Any]:
    return batch | {"batch": os.getpid(), "largest": batch["id"].max()}


def passes(sample: dict[str, Any]) -> bool:
    return int(sample["id"]) % 3 != 0


def exits(sample: dict[str, Any]) -> dict[str, Any]:
    if sample["id"] == 113:
        os._exit(9)
    return sample


def raises(sample: dict[str, Any]) -> dict[str, Any]:
    if sample["id"] == 113:
        raise KeyError("this one")
    return sample


def closes_over(sample: dict[str, Any]) -> dict[str, Any]:
    return {"id": sample["id"], "call": (lambda: None) if sample["id"] == 113 else exits}


def pipeline(head: Any = "threads", tail: Any = "threads", batches: Any = "threads", size: int = 16) -> Dataset:
    samples = numbers(500).shuffle(seed=3).map(before, rng=True, workers=head).filter(passes).skip(5).take(300)
    return samples.map(add_tail_process, workers=tail).batch(size, last="pad").map(on_batches, workers=batches)


def content(batches: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{name: value for name, value in one.items() if name not in ("head", "tail", "batch")} for one in batches]


@pytest.mark.parametrize(
    "where",
    [
        {"tail": "processes"},
        pytest.param({"head": "processes"}, marks=pytest.mark.deep),
        pytest.param({"batches": "processes"}, marks=pytest.mark.deep),
        pytest.param({"head": "processes", "tail": "processes"}, marks=pytest.mark.deep),
    ],
    ids=str,
)
def test_filtered_functions_run_in_requested_workers(where: dict[str, Any]) -> None:
    expected = list(pipeline().loader(threads=0))
    with pipeline(**where).loader(threads=2) as loader:
        found = list(loader)
    assert are_equal(content(found), content(expected))
    here = {os.getpid()}
    processes_by_function = {
        "head": {
            int(one) for batch in found for one, valid in zip(batch["head"], batch["valid"], strict=True) if valid
        },
        "tail": {
            int(one) for batch in found for one, valid in zip(batch["tail"], batch["valid"], strict=True) if valid
        },
        "batches": {int(batch["batch"]) for batch in found},
    }
    # All functions after the filter run in the same workers.
    in_processes = set(where) | ({"tail", "batches"} if {"tail", "batches"} & set(where) else set())
    assert {name for name, processes in processes_by_function.items() if not processes & here} == in_processes
    assert {name for name, processes in processes_by_function.items() if processes == here} == set(
        processes_by_function
    ) - in_processes


@pytest.mark.deep
def test_filtered_epoch_resumes_exactly_with_ranks_and_processes() -> None:
    whole = list(pipeline(size=16).loader(threads=0))
    loader = pipeline(tail="processes", size=16).loader(threads=2)
    first = list(islice(loader, 4))
    state = json.loads(json.dumps(loader.state_dict()))
    assert are_equal(content(first), content(whole[:4]))
    ranks = []
    for rank in range(2):
        one = pipeline(head="processes", tail="processes", size=8).loader(threads=1, rank=rank, world_size=2)
        one.load_state_dict(state)
        ranks.append(list(one))
    rest = [np.concatenate([one["noise"] for one in both]) for both in zip(*ranks, strict=True)]
    assert [row.tolist() for row in rest] == [batch["noise"].tolist() for batch in whole[4:]]


def test_filter_before_process_functions_may_be_lambda() -> None:
    samples = numbers(100).map(lambda sample: sample | {}).filter(lambda sample: sample["id"] % 2 == 0)
    batches = list(samples.map(add_tail_process, workers="processes").batch(10).loader(threads=1))
    assert ids(batches) == list(range(0, 100, 2))
    assert all(os.getpid() not in batch["tail"] for batch in batches)


@pytest.mark.parametrize("first", [False, pytest.param(True, marks=pytest.mark.deep)])
@pytest.mark.parametrize(
    "function, kind", [(exits, rm.WorkerError), pytest.param(closes_over, rm.MapError, marks=pytest.mark.deep)]
)
def test_filtered_epoch_names_function_that_ends_process(
    function: Any, kind: type[rm.RecordmillError], first: bool
) -> None:
    samples = numbers(400)
    samples = samples.map(function, workers="processes") if first else samples.filter(passes)
    samples = samples.filter(passes) if first else samples.map(function, workers="processes")
    with check_no_leftovers(), pytest.raises(kind) as caught:
        list(samples.batch(4).loader(threads=1))
    error: Any = caught.value
    assert (error.function, error.position) == (function.__name__, 113)
    assert (error.shard, error.record, error.offset) == ("numbers-11", 3, 300)


@pytest.mark.deep
@pytest.mark.parametrize("first", [False, True])
def test_filtered_epoch_yields_batches_before_error(first: bool) -> None:
    samples = numbers(400)
    samples = samples.map(raises, workers="processes") if first else samples.filter(passes)
    samples = samples.filter(passes) if first else samples.map(raises, workers="processes")
    found = list[dict[str, Any]]()
    with check_no_leftovers(), pytest.raises(rm.MapError) as caught:
        found.extend(samples.batch(4).loader(threads=2))
    assert isinstance(caught.value.cause, KeyError)
    assert caught.value.record == 3
    assert len(found) == ((64 if first else 112) * 2 // 3) // 4
    loader = samples.batch(4).loader(threads=2, on_error="skip")
    assert ids(loader) == [number for number in range(400) if number % 3 and number != 113]
    assert [one.error.shard for one in loader.report.skipped] == ["numbers-11"]


def test_samples_that_cannot_be_pickled_raise_worker_error() -> None:
    samples = numbers(200).map(closes_over).filter(passes).map(add_tail_process, workers="processes")
    with check_no_leftovers(), pytest.raises(rm.WorkerError, match="cannot be sent to a worker process"):
        list(samples.batch(4).loader(threads=1))
