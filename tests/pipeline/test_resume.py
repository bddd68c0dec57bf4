"""Exact resume, and orders that do not depend on threads, workers and ranks."""

from __future__ import annotations

import json
import pickle
import random
from itertools import islice
from typing import Any
from zlib import crc32

import numpy as np
import pytest

import recordmill as rm
from recordmill.pipeline.dataset import Dataset
from tests.pipeline.sources import Numbers, ids, numbers


def even(sample: dict[str, Any]) -> bool:
    return int(sample["id"]) % 3 != 0


def add_noise(sample: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    return sample | {"noise": rng.integers(1 << 40)}


def pipeline(size: int, *, filtered: bool = False, last: Any = "keep") -> Dataset:
    samples = numbers(403).shuffle(seed=5)
    samples = samples.filter(even) if filtered else samples
    return samples.map(add_noise, rng=True).batch(size, last=last)


def records_and_draws(batches: list[dict[str, Any]]) -> list[tuple[int, int]]:
    """Return records and random numbers in order."""
    return [(int(one), int(draw)) for batch in batches for one, draw in zip(batch["id"], batch["noise"], strict=True)]


def run_all_ranks(dataset: Dataset, world_size: int, state: Any = None, count: int | None = None) -> tuple[Any, Any]:
    """Return records and random numbers of the next batches of all ranks, and the state after them."""
    loaders = [dataset.loader(rank=rank, world_size=world_size, threads=rank % 3) for rank in range(world_size)]
    for loader in loaders:
        if state is not None:
            loader.load_state_dict(json.loads(json.dumps(state)))
    runs = [iter(loader) for loader in loaders]
    found: list[tuple[int, int]] = []
    while count is None or count > 0:
        rows = [next(run, None) for run in runs]
        if any(row is None for row in rows):
            assert all(row is None for row in rows), "every rank has the same number of batches"
            break
        found += records_and_draws([row for row in rows if row is not None])
        count = None if count is None else count - 1
    states = [loader.state_dict() for loader in loaders]
    assert all(one == states[0] for one in states), "the state is that of all ranks"
    for run in runs:
        run.close()  # type: ignore[attr-defined]
    return found, states[0]


@pytest.mark.parametrize("filtered", [False, True])
def test_order_does_not_depend_on_threads_workers_and_ranks(filtered: bool) -> None:
    expected = records_and_draws(list(pipeline(32, filtered=filtered, last="drop").loader(threads=0)))
    for threads in (1, 2, 8):
        batches = pipeline(32, filtered=filtered, last="drop").loader(threads=threads)
        assert records_and_draws(list(batches)) == expected
    for world_size in (1, 2, 4, 8):
        found, _ = run_all_ranks(pipeline(32 // world_size, filtered=filtered, last="drop"), world_size)
        assert found == expected
    for workers in (2, 4):
        loaders = [
            pipeline(32, filtered=filtered, last="drop").loader(workers=(one, workers)) for one in range(workers)
        ]
        parts = [list(loader) for loader in loaders]
        rows = [parts[number % workers][number // workers] for number in range(sum(map(len, parts)))]
        assert records_and_draws(rows) == expected


@pytest.mark.parametrize("filtered", [False, True])
@pytest.mark.parametrize("seed", range(25))
def test_repeated_resume_loses_and_repeats_no_sample(seed: int, filtered: bool) -> None:
    chance = random.Random(seed)
    expected = records_and_draws(list(pipeline(12, filtered=filtered).loader(threads=0)))
    found: list[tuple[int, int]] = []
    state = None
    while len(found) < len(expected):
        world_size = chance.choice([1, 2, 3])
        dataset = pipeline(12 // world_size, filtered=filtered, last="pad" if world_size > 1 else "keep")
        rows, state = run_all_ranks(dataset, world_size, state, chance.randrange(1, 12))
        found += rows
    assert [entry for entry in found if entry in set(expected)] == expected


def test_loader_iterates_next_epoch() -> None:
    loader = numbers(100).shuffle(seed=1).batch(10).loader()
    first, second = ids(loader), ids(loader)
    assert sorted(first) == sorted(second) == list(range(100))
    assert first != second
    assert loader.epoch == 2
    loader.set_epoch(0)
    assert ids(loader) == first
    next(iter(loader))
    assert loader.epoch == 1
    assert ids(loader) != second, "an epoch that was begun is not begun again"
    loader.set_epoch(1)
    assert ids(loader) == second


def test_state_inside_epoch_is_small_json() -> None:
    loader = numbers(100).shuffle(seed=1).batch(10).loader()
    run = iter(loader)
    next(run)
    next(run)
    state = loader.state_dict()
    assert (state["epoch"], state["position"], state["version"]) == (0, 20, 1)
    assert len(json.dumps(state)) < 200
    rest = ids(run)
    other = numbers(100).shuffle(seed=1).batch(5).loader(threads=0)
    other.load_state_dict(state)
    assert ids(other) == rest
    assert other.state_dict()["epoch"] == 1


def test_state_computes_fingerprint_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    calls: list[Numbers] = []
    found = Numbers.fingerprint
    monkeypatch.setattr(Numbers, "fingerprint", lambda self: (calls.append(self), found(self))[1])
    loader = numbers(100).shuffle(seed=1).batch(10).loader()
    states = [loader.state_dict() for _ in loader]
    assert len(states) == 10 and len(calls) == 1
    assert rm.mix([numbers(50), numbers(40)], [1, 1]).loader().state_dict()["order"].count("numbers") == 2


def test_set_epoch_of_loaded_state_keeps_position() -> None:
    dataset = numbers(100).shuffle(seed=1).batch(10)
    run = iter(loader := dataset.loader())
    first = [next(run) for _ in range(3)]
    state, whole = loader.state_dict(), ids(first) + ids(list(run))
    resumed = dataset.loader()
    resumed.load_state_dict(state)
    epochs = []
    for epoch in range(resumed.epoch, 3):
        resumed.set_epoch(epoch)
        epochs.append(ids(list(resumed)))
    assert ids(first) + epochs[0] == whole and [len(one) for one in epochs] == [70, 100, 100]
    for epoch in (0, 2):  # an epoch that has started, and another one: both start at the beginning
        next(iter(resumed))
        resumed.set_epoch(epoch)
        assert len(ids(list(resumed))) == 100
    resumed.load_state_dict(state)
    resumed.set_epoch(1)
    assert ids(list(resumed)) == epochs[1]


@pytest.mark.parametrize(
    "other",
    [numbers(101).shuffle(seed=1), numbers(100).shuffle(seed=2), numbers(100), numbers(100).shuffle(seed=1).take(50)],
    ids=repr,
)
def test_load_state_refuses_other_pipeline(other: Dataset) -> None:
    state = numbers(100).shuffle(seed=1).batch(10).loader().state_dict()
    with pytest.raises(rm.StateError, match="another pipeline") as caught:
        other.batch(10).loader().load_state_dict(json.loads(json.dumps(state)))
    assert (caught.value.expected, caught.value.found) == (other.fingerprint(), "numbers-100.shuffle(seed=1)")


def test_state_of_long_pipeline_is_small() -> None:
    long = rm.mix([numbers(100).shuffle(seed=seed) for seed in range(60)], [1] * 60)
    state = long.loader().state_dict()
    assert len(json.dumps(state)) < 700
    long.loader().load_state_dict(state)
    with pytest.raises(rm.StateError, match="another pipeline"):
        rm.mix([numbers(100).shuffle(seed=seed) for seed in range(59)], [1] * 59).loader().load_state_dict(state)


@pytest.mark.parametrize(
    "state", [None, {}, {"version": 1}, {"version": 1, "pipeline": "", "epoch": 0, "position": 0, "passed": 0}]
)
def test_load_state_refuses_invalid_state(state: Any) -> None:
    with pytest.raises(rm.StateError, match="must be the state of a loader"):
        numbers(100).batch(10).loader().load_state_dict(state)


def test_load_state_refuses_state_of_other_version() -> None:
    loader = numbers(100).batch(10).loader()
    with pytest.raises(rm.StateError, match="another version"):
        loader.load_state_dict(loader.state_dict() | {"version": 2})


def sign(state: dict[str, Any]) -> dict[str, Any]:
    """Return a changed state with the checksum of its values."""
    values = [state[key] for key in ("version", "pipeline", "epoch", "position", "passed", "order")]
    return state | {"checksum": f"{crc32(json.dumps(values).encode()):08x}"}


@pytest.mark.parametrize(
    "change",
    [
        {"epoch": 1},
        {"position": 20},
        {"passed": 0},
        {"position": 20, "passed": 20},
        {"position": 10.0},
        {"position": "10"},
        {"position": object()},
        {"order": "numbers-99"},
        {"pipeline": "0123456789abcdef"},
        {"checksum": "00000000"},
        {"checksum": None},
        {"position": object(), "checksum": None},
    ],
)
def test_load_state_refuses_changed_state(change: dict[str, Any]) -> None:
    loader = numbers(100).batch(10).loader()
    next(iter(loader))
    state = loader.state_dict()
    assert sign(state) == state
    with pytest.raises(rm.StateError, match="changed after it was saved") as caught:
        loader.load_state_dict(state | change)
    copy = pickle.loads(pickle.dumps(caught.value))
    assert copy.kind == "bad_state" and str(copy) == str(caught.value) and "state_after" in copy.hint
    loader.load_state_dict(state)


def test_load_state_refuses_any_changed_digit() -> None:
    loader = numbers(100).shuffle(seed=1).batch(10).loader()
    next(iter(loader))
    text = json.dumps(loader.state_dict())
    for place in (place for place, char in enumerate(text) if char.isdecimal()):
        changed = text[:place] + str((int(text[place]) + 1) % 10) + text[place + 1 :]
        with pytest.raises((rm.StateError, json.JSONDecodeError)):
            loader.load_state_dict(json.loads(changed))


def test_load_state_accepts_numpy_integers_and_other_keys() -> None:
    loader = numbers(100).batch(10).loader()
    next(iter(loader))
    state = loader.state_dict()
    loader.load_state_dict(
        {"step": 3} | {key: np.int64(one) if type(one) is int else one for key, one in state.items()}
    )
    assert loader.state_dict() == state


@pytest.mark.parametrize("world_size", [1, 3])
def test_state_after_equals_state_that_iteration_reaches(world_size: int) -> None:
    for dataset in (numbers(100).shuffle(seed=1).batch(8), numbers(100).batch(4).skip(2), numbers(50)):
        loader = dataset.loader(rank=world_size - 1, world_size=world_size)
        loader.set_epoch(2)
        states = [loader.state_dict(), *(loader.state_dict() for _ in loader)]
        assert states == [loader.state_after(2, count) for count in range(len(states))]


def test_state_after_refuses_filter_and_invalid_numbers() -> None:
    with pytest.raises(TypeError, match="not supported with filter"):
        pipeline(10, filtered=True).loader().state_after(0, 1)
    for epoch, count in ((-1, 0), (0, -1), (0, 1.5)):
        with pytest.raises(ValueError, match=r"must be an integer"):
            numbers(10).loader().state_after(epoch, count)  # type: ignore[arg-type]


def test_load_state_explains_text() -> None:
    loader = numbers(100).batch(10).loader()
    with pytest.raises(rm.StateError, match=r"json\.loads"):
        loader.load_state_dict(json.dumps(loader.state_dict()))  # type: ignore[arg-type]


@pytest.mark.parametrize("change", [{"position": -1}, {"epoch": "1"}, {"passed": True}, {"epoch": 1 << 40}])
def test_load_state_refuses_invalid_numbers(change: Any) -> None:
    loader = numbers(100).batch(10).loader()
    with pytest.raises(rm.StateError, match="must be non-negative integers"):
        loader.load_state_dict(sign(loader.state_dict() | change))


@pytest.mark.parametrize("filtered", [False, True])
def test_load_state_refuses_position_beyond_end(filtered: bool) -> None:
    loader = pipeline(10, filtered=filtered).loader()
    state = loader.state_dict()
    with pytest.raises(rm.StateError, match=r"beyond the end .*at most 403 samples, found 404"):
        loader.load_state_dict(sign(state | {"position": 404, "passed": 200}))
    for batch in loader:
        del batch
        state = loader.state_dict()
    loader.load_state_dict(state)
    assert state["epoch"] == 0
    assert list(loader) == []
    assert len(list(loader)) == len(list(pipeline(10, filtered=filtered).loader())), "the next epoch is whole"


def test_load_state_refuses_position_beyond_take() -> None:
    def loader(size: int, **options: Any) -> Any:
        return numbers(403).batch(size).take(3).loader(**options)

    runs = [loader(10, rank=rank, world_size=2) for rank in range(2)]
    for run in runs:
        list(islice(run, 2))
    loader(20).load_state_dict(runs[0].state_dict())
    with pytest.raises(rm.StateError, match="at most 15 samples, found 40") as caught:
        loader(5).load_state_dict(runs[0].state_dict())
    assert "take() after batch()" in (caught.value.hint or "")


def test_load_state_refuses_more_passed_than_consumed() -> None:
    loader = pipeline(10, filtered=True).loader()
    with pytest.raises(rm.StateError, match="can pass the filter"):
        loader.load_state_dict(sign(loader.state_dict() | {"position": 20, "passed": 30}))
