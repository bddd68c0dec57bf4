"""JAX arrays: shared memory on CPU devices, sharding, saved states, and Grain."""

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
from tests.adapters.conftest import IGNORED_WARNINGS, equal
from tests.adapters.squares import BATCH, FAMILIES, NUM_BATCHES, NUM_CLASSES, batches, samples

pytestmark = [pytest.mark.deep, *IGNORED_WARNINGS]
EPOCHS = 6
JAX_PROCESS = Path(__file__).with_name("jax_process.py")


def aligned(array: np.ndarray) -> np.ndarray:
    """Copy an array to an address that is a multiple of 64 bytes."""
    buffer = np.empty(array.nbytes + 64, np.uint8)
    start = -buffer.ctypes.data % 64
    copied = buffer[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copied[...] = array
    return copied


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "int32", "float16", "float32", "bool"])
def test_aligned_array_is_shared_with_cpu_device(dtype: str) -> None:
    array = aligned(np.arange(4096).reshape(64, 64).astype(dtype))
    found = rm.jax.arrays({"a": array})["a"]
    assert found.unsafe_buffer_pointer() == array.ctypes.data and found.dtype == array.dtype
    assert equal(found, array)


def test_arrays_converts_64_bit_numbers_to_32_bits() -> None:
    found = rm.jax.arrays({"i": np.array([-(2**31), 2**31 - 1]), "f": np.ones(2), "u": np.array([2**32 - 1], "u8")})
    assert [str(value.dtype) for value in found.values()] == ["int32", "float32", "uint32"]
    assert found["i"].tolist() == [-(2**31), 2**31 - 1] and found["u"].tolist() == [2**32 - 1]


@pytest.mark.parametrize("number", [2**31, -(2**31) - 1])
def test_arrays_error_names_feature_that_does_not_fit_32_bits(number: int) -> None:
    with pytest.raises(rm.FeatureError, match="feature 'id' contains integers") as caught:
        rm.jax.arrays({"id": np.array([0, number])})
    assert "jax_enable_x64" in str(caught.value.hint)


def test_arrays_keeps_rows_of_ragged_and_bytes_features() -> None:
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
def test_state_dict_ignores_batches_transferred_ahead(family: str, ahead: int, squares: Path) -> None:
    pipeline = batches(squares, family)
    expected = pipeline.fetch(range(NUM_BATCHES), epoch=1)
    with rm.jax.loader(pipeline, ahead=ahead) as first, rm.jax.loader(pipeline, ahead=ahead) as second:
        first.set_epoch(1)
        for count in range(1, NUM_BATCHES):
            first.set_epoch(1)
            got = list(islice(iter(first), count))
            second.load_state_dict(json.loads(json.dumps(first.state_dict())))
            got += second
            assert equal(got, expected)


@pytest.mark.parametrize("is_named", [False, True])
def test_loader_computes_no_batch_ahead_for_cpu_device(is_named: bool, squares: Path) -> None:
    import jax

    sizes: list[int] = []

    def record(batch: dict[str, Any]) -> dict[str, Any]:
        sizes.append(len(batch["label"]))
        return batch

    pipeline = batches(squares, FAMILIES[0]).map(record)
    device = jax.devices("cpu")[0] if is_named else None
    for ahead, least in ((None, 1), (1, 2)):
        sizes.clear()
        with rm.jax.loader(pipeline, device=device, ahead=ahead, threads=0) as loader:
            next(iter(loader))
        assert len(sizes) >= least and (ahead or len(sizes) == 1)


def test_loader_raises_error_after_earlier_batches(tmp_path: Path) -> None:
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
def test_global_arrays_contain_rows_of_each_rank_on_its_devices(
    num_processes: int, num_devices: int, squares: Path
) -> None:
    outputs = run_processes(num_processes, num_devices, squares / "tfrecord")
    pipeline = rm.open(squares / "tfrecord").shuffle(seed=5).batch(BATCH, last="drop")
    expected = [batch["label"].tolist() for batch in pipeline]
    for output in outputs:
        assert output["shapes"] == [[BATCH]] * NUM_BATCHES and output["ranks"][1] == num_processes
    rows: dict[int, dict[int, int]] = {}
    for output in outputs:
        for number, start, values in output["rows"]:
            rows.setdefault(number, {}).update(enumerate(values, start))
    assert [[rows[number][row] for row in range(BATCH)] for number in range(NUM_BATCHES)] == expected
    assert [output["refused"] for output in outputs] == [True] * num_processes
    eight = next(iter(rm.open(squares / "tfrecord").shuffle(seed=5).batch(8)))["label"].tolist()
    for default, grouped in (output["replicated"] for output in outputs):
        assert default == [8] if num_processes == 1 else "here rank=0, world_size=1" in default
        assert grouped == [eight] * num_devices


def run_processes(num_processes: int, num_devices: int, folder: Path) -> list[dict[str, Any]]:
    """Run the processes of one training and return what each of them printed."""
    from socket import socket

    with socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    arguments = [str(num_processes), str(num_devices), str(port), str(folder), str(BATCH // num_processes)]
    processes = [
        subprocess.Popen([sys.executable, str(JAX_PROCESS), str(rank), *arguments], stdout=subprocess.PIPE, text=True)
        for rank in range(num_processes)
    ]
    outputs = [process.communicate(timeout=300)[0] for process in processes]
    assert [process.returncode for process in processes] == [0] * num_processes
    return [json.loads(text) for text in outputs]


def train(loader: Any, epochs: int, weights: Any) -> Any:
    """Train a linear classifier with gradient descent and return its weights."""
    import jax
    import jax.numpy as jnp

    def loss(weights: Any, image: Any, label: Any) -> Any:
        scores = image.reshape(len(image), -1) @ weights["w"] + weights["b"]
        return -jax.nn.log_softmax(scores)[jnp.arange(len(label)), label.astype(int)].mean()

    step = jax.jit(jax.grad(loss))
    for _ in range(epochs):
        for batch in loader:
            gradient = step(weights, batch["image"], batch["label"])
            weights = jax.tree.map(lambda weight, step: weight - 0.5 * step, weights, gradient)
    return weights


@pytest.mark.parametrize("family", FAMILIES)
def test_resumed_training_reaches_same_weights(family: str, squares: Path) -> None:
    pipeline = batches(squares, family)
    start = {"w": np.zeros((64, NUM_CLASSES), np.float32), "b": np.zeros(NUM_CLASSES, np.float32)}
    with rm.jax.loader(pipeline) as whole, rm.jax.loader(pipeline) as first, rm.jax.loader(pipeline) as second:
        expected = train(whole, EPOCHS, start)
        half = train(islice(iter(first), 3), 1, train(first, 2, start) if first.epoch == 0 else start)
        second.load_state_dict(first.state_dict())
        assert equal(train(second, EPOCHS - 2, half), expected)
    all_batches = pipeline.fetch(range(NUM_BATCHES))
    images = np.concatenate([batch["image"] for batch in all_batches]).reshape(-1, 64)
    labels = np.concatenate([batch["label"] for batch in all_batches])
    assert ((images @ np.asarray(expected["w"]) + np.asarray(expected["b"])).argmax(1) == labels).mean() > 0.8


def test_grain_shuffles_batches_and_resumes_source(squares: Path) -> None:
    import grain

    dataset = samples(squares, "tfrecord")
    source = rm.jax.Source(dataset)
    assert isinstance(source, grain.sources.RandomAccessDataSource)
    pipeline = grain.MapDataset.source(source).shuffle(seed=3).batch(BATCH, drop_remainder=True).to_iter_dataset()
    expected = list(pipeline)
    assert len(expected) == NUM_BATCHES and expected[0]["image"].shape == (BATCH, 1, 8, 8)
    order = grain.MapDataset.range(len(dataset)).shuffle(seed=3)
    assert equal(expected[1]["label"], [dataset[int(order[position])]["label"] for position in range(BATCH, 2 * BATCH)])
    iterator = iter(pipeline)
    got = list(islice(iterator, 2))
    resumed = iter(pipeline)
    resumed.set_state(iterator.get_state())
    assert equal(got + list(resumed), expected)


def test_grain_data_loader_reads_source(squares: Path) -> None:
    import grain

    source = rm.jax.Source(samples(squares, "recordio"))
    sampler = grain.samplers.IndexSampler(len(source), shuffle=False, num_epochs=1)
    loader = grain.DataLoader(data_source=source, sampler=sampler, worker_count=0, operations=[])
    assert equal(list(loader), source._getitems(range(len(source))))
    assert pickle.loads(pickle.dumps(source)) == source
