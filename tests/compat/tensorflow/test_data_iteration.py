"""tf.data: threads of iterators, errors of files, order of shuffles, caches and options."""

from __future__ import annotations

import copy
import gc
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

import recordmill as rm
import recordmill.compat.tensorflow as tf
from tests.compat.tensorflow.program_helpers import to_plain

D = tf.data.Dataset


def numbers(dataset: Any) -> list[Any]:
    return [int(value) for value in dataset.as_numpy_iterator()]


def workers() -> list[str]:
    return [one.name for one in threading.enumerate() if one.name.startswith("recordmill-data")]


@pytest.fixture(autouse=True)
def no_thread_is_left() -> Iterator[None]:
    yield
    if workers():
        gc.collect()
    assert workers() == []


PIPELINES: dict[str, Callable[[], Any]] = {
    "map": lambda: D.range(10**9).map(lambda x: x + 1, num_parallel_calls=2),
    "prefetch": lambda: D.range(10**9).prefetch(3),
    "both": lambda: D.range(10**9).map(lambda x: x + 1, 2).batch(3).prefetch(2).map(lambda x: x, 2).repeat(),
}


@pytest.mark.parametrize("name", PIPELINES)
def test_threads_end_when_the_loop_is_left(name: str) -> None:
    for _ in PIPELINES[name]():
        assert workers()
        break


@pytest.mark.parametrize("name", PIPELINES)
def test_threads_end_when_the_iterator_is_closed(name: str) -> None:
    iterator = iter(PIPELINES[name]())
    next(iterator)
    iterator.close()
    assert workers() == []
    with pytest.raises(StopIteration):
        next(iterator)


def test_iteration_continues_after_failed_element_and_ends_threads() -> None:
    def fails(x: Any) -> Any:
        if int(x) == 5:
            raise KeyError("five")
        return x

    iterator = iter(D.range(9).map(fails, num_parallel_calls=3).prefetch(2))
    assert [int(next(iterator)) for _ in range(5)] == [0, 1, 2, 3, 4]
    with pytest.raises(KeyError, match="five") as raised:
        next(iterator)
    assert isinstance(raised.value, tf.errors.UnknownError)
    assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)
    assert [int(one) for one in iterator] == [6, 7, 8] and workers() == []


def test_threads_end_after_error_without_garbage_collection() -> None:
    gc.disable()
    try:
        for _ in D.range(9).map(lambda x: tf.debugging.assert_less(x, tf.constant(2, tf.int64)) or x, 2).prefetch(2):
            assert workers()
    except tf.errors.InvalidArgumentError:
        pass
    finally:
        gc.enable()
    assert workers() == []


def test_interpreter_exits_silently_during_iteration() -> None:
    program = (
        "import recordmill.compat.tensorflow as tf\n"
        "it = iter(tf.data.Dataset.range(10**9).map(lambda x: x + 1, 2).prefetch(2).repeat())\n"
        "print(int(next(it)))\n"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("1\n", "")


@given(st.integers(1, 30), st.integers(1, 12), st.integers(0, 2**40))
def test_shuffle_moves_elements_forward_by_less_than_buffer_size(count: int, size: int, seed: int) -> None:
    order = numbers(D.range(count).shuffle(size, seed=seed))
    assert sorted(order) == list(range(count))
    assert all(source <= place + size - 1 for place, source in enumerate(order))
    assert order == numbers(D.range(count).shuffle(size, seed=seed))


def test_shuffle_reshuffles_each_iteration_unless_disabled() -> None:
    again, once = D.range(50).shuffle(50, seed=1), D.range(50).shuffle(50, seed=1, reshuffle_each_iteration=False)
    assert numbers(again) != numbers(again) and numbers(once) == numbers(once)
    epochs = numbers(D.range(50).shuffle(50).repeat(2))
    assert sorted(epochs[:50]) == sorted(epochs[50:]) and epochs[:50] != epochs[50:]


def test_shuffle_repeats_its_order_with_global_seed() -> None:
    tf.random.set_seed(5)
    first = numbers(D.range(50).shuffle(50))
    tf.random.set_seed(5)
    second = numbers(D.range(50).shuffle(50))
    tf.random.set_seed(None)
    assert first == second != numbers(D.range(50).shuffle(50))


@pytest.mark.parametrize("length", [0, 6, 7, 300, 900])
@pytest.mark.parametrize("size", [1, 7, 256, 500])
def test_shuffle_draws_each_element_once_from_its_buffer(length: int, size: int) -> None:
    found = numbers(D.range(length).shuffle(size, seed=9))
    assert sorted(found) == [*range(length)] and found == numbers(D.range(length).shuffle(size, seed=9))
    assert all(number < position + size for position, number in enumerate(found))


def test_cache_reads_its_input_once() -> None:
    calls: list[int] = []
    dataset = D.range(3).map(lambda x: calls.append(int(x)) or x).cache()
    assert numbers(dataset) == numbers(dataset) == [0, 1, 2]
    assert calls == [0, 1, 2]


@pytest.fixture
def shard(tmp_path: Path) -> Path:
    with rm.ShardWriter(tmp_path / "s", format="tfrecord", shards=1) as writer:
        for number in range(20):
            writer.write({"x": number})
    return next(tmp_path.glob("*.tfrecord"))


def test_damaged_record_error_names_it_after_the_records_before_it(shard: Path) -> None:
    data = bytearray(shard.read_bytes())
    reader = rm.ShardReader(shard)
    offset = int(reader.index.offsets[7])
    data[offset + 14] ^= 1
    shard.write_bytes(data)
    found = []
    with pytest.raises(tf.errors.DataLossError, match="corrupted record at") as raised:
        found.extend(tf.data.TFRecordDataset(str(shard)))
    assert len(found) == 7
    assert (raised.value.shard, raised.value.record, raised.value.offset) == (str(shard), 7, offset)
    assert len(list(tf.data.TFRecordDataset([str(shard), str(shard)]).ignore_errors())) == 14


def test_records_of_another_compression_raise_data_loss(shard: Path) -> None:
    with pytest.raises(tf.errors.DataLossError):
        list(tf.data.TFRecordDataset(str(shard), "GZIP"))
    with pytest.raises(FileNotFoundError, match="nowhere; No such file"):
        list(tf.data.TFRecordDataset("nowhere"))


def test_options_are_kept_and_merged() -> None:
    options = tf.data.Options()
    options.experimental_deterministic = False
    options.threading.private_threadpool_size = 3
    dataset = D.range(3).with_options(options).map(lambda x: x)
    assert dataset.options().deterministic is False and dataset.options().threading.private_threadpool_size == 3
    other = tf.data.Options()
    other.threading.max_intra_op_parallelism = 1
    other.experimental_optimization.map_vectorization.enabled = True
    merged = dataset.with_options(other).options()
    assert merged.threading.private_threadpool_size == 3 and merged.threading.max_intra_op_parallelism == 1
    assert merged.experimental_optimization.map_vectorization.enabled and merged.experimental_slack is None
    assert copy.deepcopy(merged) == pickle.loads(pickle.dumps(merged)) == merged != options


def test_iteration_continues_after_failed_map_element() -> None:
    def collect(data: Any) -> list[Any]:
        found: list[Any] = []
        iterator = iter(data)
        while True:
            try:
                found.append(to_plain(next(iterator).numpy()))
            except StopIteration:
                return found
            except tf.errors.InvalidArgumentError:
                found.append("bad")

    checked = D.from_tensor_slices([1.0, 0.0, 4.0]).map(lambda x: tf.debugging.check_numerics(1 / x, "no"), 2)
    assert collect(checked) == collect(checked.prefetch(1)) == [1.0, "bad", 0.25]
    assert collect(checked.batch(2)) == ["bad", [0.25]] and collect(checked.enumerate().map(lambda n, x: n)) == [
        0,
        "bad",
        2,
    ]


@pytest.mark.parametrize("error", [ValueError("no"), TypeError("no"), MemoryError("no"), NotImplementedError("no")])
def test_py_function_error_has_classes_of_python_and_tensorflow(error: Exception) -> None:
    def fails(x: Any) -> Any:
        raise error

    found = {ValueError: "InvalidArgument", TypeError: "InvalidArgument", MemoryError: "ResourceExhausted"}
    family = getattr(tf.errors, found.get(type(error), "Unimplemented") + "Error")
    with pytest.raises(family, match="no") as caught:
        list(D.range(1).map(lambda x: tf.py_function(fails, [x], tf.int64)))
    assert isinstance(caught.value, type(error)) and type(pickle.loads(pickle.dumps(caught.value))) is family
