"""Arrays of JAX: no copies where the address suits, sharding over devices, states, Grain."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordmill as rm
from tests.adapters.conftest import QUIET, same
from tests.adapters.digits import BATCH, FAMILIES, NUM_BATCHES, NUM_KINDS, batches, samples

pytestmark = [pytest.mark.deep, *QUIET]
EPOCHS = 6
SHARDED = Path(__file__).with_name("sharded.py")


def aligned(array: np.ndarray) -> np.ndarray:
    """Copy to an address that is a multiple of 64 bytes."""
    room = np.empty(array.nbytes + 64, np.uint8)
    start = -room.ctypes.data % 64
    found = room[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    found[...] = array
    return found


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int32", "float16", "float32", "bool"])
def test_array_when_its_address_suits_then_is_shared_with_the_device(dtype: str) -> None:
    array = aligned(np.arange(4096).reshape(64, 64).astype(dtype))
    found = rm.jax.arrays({"a": array})["a"]
    assert found.unsafe_buffer_pointer() == array.ctypes.data and found.dtype == array.dtype
    assert same(found, array)


def test_wide_numbers_when_they_fit_then_become_what_jax_computes_with() -> None:
    found = rm.jax.arrays({"i": np.array([-(2**31), 2**31 - 1]), "f": np.ones(2), "u": np.array([2**32 - 1], "u8")})
    assert [str(value.dtype) for value in found.values()] == ["int32", "float32", "uint32"]
    assert found["i"].tolist() == [-(2**31), 2**31 - 1] and found["u"].tolist() == [2**32 - 1]


@pytest.mark.parametrize("number", [2**31, -(2**31) - 1])
def test_integer_when_it_does_not_fit_then_is_refused_with_the_feature(number: int) -> None:
    with pytest.raises(rm.FeatureError, match="feature 'id' holds integers") as caught:
        rm.jax.arrays({"id": np.array([0, number])})
    assert "jax_enable_x64" in str(caught.value.hint)


def test_ragged_and_byte_strings_when_handed_over_then_keep_their_rows() -> None:
    import jax

    rows = [np.arange(2.0, dtype=np.float32), np.zeros(0, np.float32), np.arange(3.0, dtype=np.float32)]
    column, names = rm.Ragged.from_rows(rows), [b"a", b"", b"c"]
    found = rm.jax.arrays({"v": column, "name": rm.Ragged.from_rows(names), "list": rows, "text": names})
    assert found["v"].values.tolist() == [0, 1, 0, 1, 2] and found["v"].offsets.tolist() == [0, 2, 2, 5]
    assert found["name"] == found["text"] == names and [row.tolist() for row in found["list"]] == [
        [0, 1],
        [],
        [0, 1, 2],
    ]
    assert jax.tree.map(lambda leaf: leaf * 2, found["v"]).values.tolist() == [0, 2, 0, 2, 4]


@pytest.mark.parametrize("ahead", [0, 1, 3, 10])
@pytest.mark.parametrize("family", FAMILIES)
def test_loader_when_running_ahead_then_its_state_is_that_of_the_batch_last_delivered(
    family: str, ahead: int, squares: Path
) -> None:
    pipeline = batches(squares, family)
    expected = pipeline.fetch(range(NUM_BATCHES), epoch=1)
    with rm.jax.loader(pipeline, ahead=ahead) as first, rm.jax.loader(pipeline, ahead=ahead) as second:
        first.set_epoch(1)
        for count in range(1, NUM_BATCHES):
            first.set_epoch(1)
            got = list(islice(iter(first), count))
            second.load_state_dict(json.loads(json.dumps(first.state_dict())))
            got += second
            assert same(got, expected)


@pytest.mark.parametrize("is_named", [False, True])
def test_loader_when_the_device_is_the_processor_then_runs_no_batch_ahead(is_named: bool, squares: Path) -> None:
    import jax

    called: list[int] = []

    def counted(batch: dict[str, Any]) -> dict[str, Any]:
        called.append(len(batch["label"]))
        return batch

    pipeline = batches(squares, FAMILIES[0]).map(counted)
    device = jax.devices("cpu")[0] if is_named else None
    for ahead, least in ((None, 1), (1, 2)):
        called.clear()
        with rm.jax.loader(pipeline, device=device, ahead=ahead, threads=0) as loader:
            next(iter(loader))
        assert len(called) >= least and (ahead or len(called) == 1)


def test_error_when_raised_ahead_then_comes_behind_the_batches_before_it(tmp_path: Path) -> None:
    with rm.ShardWriter(tmp_path / "bad", format="tfrecord") as writer:
        for number in range(40):
            writer.write({"numbers": bytes(3 if number == 20 else 4), "label": number})
    pipeline = rm.open(tmp_path).decode(numbers=rm.Raw("uint8", (4,))).batch(8)
    with rm.jax.loader(pipeline, ahead=3) as loader:
        iterator = iter(loader)
        assert len(list(islice(iterator, 2))) == 2
        with pytest.raises(rm.DecodeError, match="numbers"):
            next(iterator)


@pytest.mark.parametrize("num_processes, num_devices", [(1, 4), (2, 2)])
def test_global_arrays_when_made_by_all_processes_then_hold_each_rank_s_rows_on_its_devices(
    num_processes: int, num_devices: int, squares: Path
) -> None:
    told = sharded(num_processes, num_devices, squares / "tfrecord")
    whole = rm.open(squares / "tfrecord").shuffle(seed=5).batch(BATCH, last="drop")
    expected = [batch["label"].tolist() for batch in whole]
    for process in told:
        assert process["shapes"] == [[BATCH]] * NUM_BATCHES and process["ranks"][1] == num_processes
    rows: dict[int, dict[int, int]] = {}
    for process in told:
        for number, start, values in process["rows"]:
            rows.setdefault(number, {}).update(enumerate(values, start))
    assert [[rows[number][place] for place in range(BATCH)] for number in range(NUM_BATCHES)] == expected
    assert [process["refused"] for process in told] == [True] * num_processes
    eight = next(iter(rm.open(squares / "tfrecord").shuffle(seed=5).batch(8)))["label"].tolist()
    for default, grouped in (process["shared"] for process in told):
        assert default == [8] if num_processes == 1 else "the same rank: here rank=0, world_size=1" in default
        assert grouped == [eight] * num_devices


def sharded(num_processes: int, num_devices: int, folder: Path) -> list[dict[str, Any]]:
    """Run the processes of one training and collect what each of them has."""
    from socket import socket

    with socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    arguments = [str(num_processes), str(num_devices), str(port), str(folder), str(BATCH // num_processes)]
    running = [
        subprocess.Popen([sys.executable, str(SHARDED), str(rank), *arguments], stdout=subprocess.PIPE, text=True)
        for rank in range(num_processes)
    ]
    told = [process.communicate(timeout=300)[0] for process in running]
    assert [process.returncode for process in running] == [0] * num_processes
    return [json.loads(text) for text in told]


def learnt(loader: Any, epochs: int, weights: Any) -> Any:
    """Train a linear classifier by steepest descent."""
    import jax
    import jax.numpy as jnp

    def loss(weights: Any, image: Any, label: Any) -> Any:
        scores = image.reshape(len(image), -1) @ weights["w"] + weights["b"]
        return -jax.nn.log_softmax(scores)[jnp.arange(len(label)), label.astype(int)].mean()

    step = jax.jit(jax.grad(loss))
    for _ in range(epochs):
        for batch in loader:
            slope = step(weights, batch["image"], batch["label"])
            weights = jax.tree.map(lambda weight, change: weight - 0.5 * change, weights, slope)
    return weights


@pytest.mark.parametrize("family", FAMILIES)
def test_classifier_when_interrupted_in_an_epoch_then_learns_the_same_weights(family: str, squares: Path) -> None:
    pipeline = batches(squares, family)
    start = {"w": np.zeros((64, NUM_KINDS), np.float32), "b": np.zeros(NUM_KINDS, np.float32)}
    with rm.jax.loader(pipeline) as whole, rm.jax.loader(pipeline) as first, rm.jax.loader(pipeline) as second:
        expected = learnt(whole, EPOCHS, start)
        half = learnt(islice(iter(first), 3), 1, learnt(first, 2, start) if first.epoch == 0 else start)
        second.load_state_dict(first.state_dict())
        assert same(learnt(second, EPOCHS - 2, half), expected)
    everything = pipeline.fetch(range(NUM_BATCHES))
    images = np.concatenate([batch["image"] for batch in everything]).reshape(-1, 64)
    labels = np.concatenate([batch["label"] for batch in everything])
    assert ((images @ np.asarray(expected["w"]) + np.asarray(expected["b"])).argmax(1) == labels).mean() > 0.8


def test_source_when_given_to_grain_then_is_shuffled_batched_and_resumed_there(squares: Path) -> None:
    import grain

    dataset = samples(squares, "tfrecord")
    source = rm.jax.Source(dataset)
    assert isinstance(source, grain.sources.RandomAccessDataSource)
    made = grain.MapDataset.source(source).shuffle(seed=3).batch(BATCH, drop_remainder=True).to_iter_dataset()
    expected = list(made)
    assert len(expected) == NUM_BATCHES and expected[0]["image"].shape == (BATCH, 1, 8, 8)
    order = grain.MapDataset.range(len(dataset)).shuffle(seed=3)
    assert same(expected[1]["label"], [dataset[int(order[place])]["label"] for place in range(BATCH, 2 * BATCH)])
    iterator = iter(made)
    got = list(islice(iterator, 2))
    resumed = iter(made)
    resumed.set_state(iterator.get_state())
    assert same(got + list(resumed), expected)


def test_source_when_a_grain_loader_runs_workers_then_reads_in_them(squares: Path) -> None:
    import grain

    source = rm.jax.Source(samples(squares, "recordio"))
    sampler = grain.samplers.IndexSampler(len(source), shuffle=False, num_epochs=1)
    loader = grain.DataLoader(data_source=source, sampler=sampler, worker_count=0, operations=[])
    assert same(list(loader), source._getitems(range(len(source))))
    assert pickle.loads(pickle.dumps(source)) == source
