"""Batches and loaders: sizes, ragged columns, order, threads, errors at their position, Ctrl-C."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordmill as rm
from tests.pipeline.sources import numbers


@pytest.fixture
def dataset(tmp_path: Path) -> rm.Dataset:
    with rm.ShardWriter(tmp_path / "part", shards=2) as writer:
        for number in range(23):
            vector = np.array([1, number], np.float32)
            writer.write({"id": number, "tokens": np.arange(number % 4), "name": b"n%d" % number, "v": vector})
    return rm.open(tmp_path, schema=schema())


def schema() -> rm.Schema:
    return rm.Schema(
        {
            "id": rm.Feature("int64"),
            "tokens": rm.Feature("int64", (None,)),
            "name": rm.Feature("bytes"),
            "v": rm.Feature("float32", (2,)),
        }
    )


def ids(batches: Any) -> list[int]:
    return [int(number) for batch in batches for number in batch["id"]]


NUMBERS = [*range(0, 23, 2), *range(1, 23, 2)]


@pytest.mark.parametrize("last, sizes", [("keep", [10, 10, 3]), ("drop", [10, 10])])
def test_batch_sizes_follow_last(dataset: rm.Dataset, last: Any, sizes: list[int]) -> None:
    batches = dataset.batch(10, last=last)
    assert len(batches) == len(sizes)
    found = list(batches)
    assert [len(batch["id"]) for batch in found] == sizes
    assert ids(found) == NUMBERS[: sum(sizes)]
    assert found[0]["v"].shape == (10, 2)
    assert found[0]["v"].dtype == np.float32


def test_batched_dataset_indexes_like_list(dataset: rm.Dataset) -> None:
    batches = dataset.batch(10)
    assert ids([batches[-1]]) == NUMBERS[20:]
    assert ids(batches[1:]) == NUMBERS[10:]
    assert ids(batches.fetch([2, 0])) == NUMBERS[20:] + NUMBERS[:10]
    with pytest.raises(IndexError):
        batches[3]


def test_batch_ragged_chooses_form_of_columns(dataset: rm.Dataset) -> None:
    tokens = [list(range(number % 4)) for number in NUMBERS[:10]]
    ragged = dataset.batch(10)[0]
    assert isinstance(ragged["tokens"], rm.Ragged)
    assert ragged["tokens"].to_list() == tokens
    assert isinstance(ragged["name"], rm.Ragged)
    padded = dataset.batch(10, ragged="pad")[0]
    width = max(map(len, tokens))
    assert padded["tokens"].tolist() == [row + [0] * (width - len(row)) for row in tokens]
    assert list(padded["name"]) == [b"n%d" % number for number in NUMBERS[:10]]
    listed = dataset.batch(10, ragged="list")[0]
    assert [row.tolist() for row in listed["tokens"]] == tokens
    assert listed["name"] == [b"n%d" % number for number in NUMBERS[:10]]
    assert listed["v"].shape == (10, 2)


def test_batch_pads_frames_and_values_of_sequences(tmp_path: Path) -> None:
    with rm.ShardWriter(tmp_path / "part", payload="sequence_example") as writer:
        writer.write({"t": rm.FeatureList([[1], [2, 3]])})
        writer.write({"t": rm.FeatureList([[4, 5, 6]])})
    batch = rm.open(tmp_path).batch(2, ragged="pad")[0]
    assert batch["t"].tolist() == [[[1, 0, 0], [2, 3, 0]], [[4, 5, 6], [0, 0, 0]]]


@pytest.mark.parametrize("options", [{"size": 0}, {"last": "some"}, {"ragged": "no"}])
def test_batch_refuses_invalid_arguments(dataset: rm.Dataset, options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"batch|last|ragged"):
        dataset.batch(**({"size": 3} | options))
    with pytest.raises(ValueError, match="already batched"):
        dataset.batch(3).batch(2)


@pytest.mark.parametrize("threads", [0, 1, 2, 5])
@pytest.mark.parametrize("prefetch", [0, 1, 8])
def test_loader_order_does_not_depend_on_threads(dataset: rm.Dataset, threads: int, prefetch: int) -> None:
    loader = dataset.batch(4).loader(threads=threads, prefetch=prefetch)
    assert len(loader) == 6
    assert ids(loader) == NUMBERS
    assert ids(loader) == NUMBERS, "a second iteration starts at the beginning"


def test_loader_yields_examples_without_batch(dataset: rm.Dataset) -> None:
    assert [int(one["id"]) for one in dataset.loader(threads=3)] == NUMBERS


def loading_threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("recordmill-load")]


def test_loader_stops_threads_when_left_early(dataset: rm.Dataset) -> None:
    batches = iter(dataset.batch(2).loader(threads=4))
    next(batches)
    assert loading_threads() != []
    batches.close()  # type: ignore[attr-defined]
    assert loading_threads() == []


def test_loader_supports_concurrent_iterations(dataset: rm.Dataset) -> None:
    loader = dataset.batch(5).loader(threads=2)
    assert [ids([first, second]) for first, second in zip(loader, loader, strict=True)] == [
        NUMBERS[start : start + 5] * 2 for start in range(0, 23, 5)
    ]


@pytest.mark.parametrize("threads", [0, 1, 4])
@pytest.mark.parametrize("size", [1, 4])
def test_loader_raises_error_at_position_of_element(threads: int, size: int) -> None:
    found: list[int] = []
    batches = numbers(50, 22).batch(size).loader(threads=threads)
    with pytest.raises(rm.PayloadError) as caught:
        found.extend(number for batch in batches for number in batch["id"].tolist())
    assert found == list(range(22 // size * size))
    assert (caught.value.shard, caught.value.record, caught.value.offset) == ("numbers-2", 2, 200)
    assert loading_threads() == []


@pytest.mark.parametrize("options", [{"threads": -1}, {"prefetch": -1}, {"on_error": "maybe"}, {"workers": (1, 1)}])
def test_loader_refuses_invalid_options(options: Any) -> None:
    with pytest.raises(ValueError, match=r"at least 0|on_error|workers"):
        numbers(50).loader(**options)


INTERRUPTED = """
from sources import numbers
try:
    for number, element in enumerate(numbers(10**6, seconds=0.01).batch(1).loader(threads=3)):
        if number == 5: print("running", flush=True)
except KeyboardInterrupt:
    import threading
    print("stopped", [t.name for t in threading.enumerate() if t.name.startswith("recordmill")], flush=True)
"""


def test_loader_stops_threads_on_interrupt() -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parent
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "running\n"
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=60)
    assert rest == "stopped []\n"
    assert process.returncode == 0
