"""What recordings cannot hold: random numbers, functions, printing, structures, and tracing of calls."""

from __future__ import annotations

import io
import pickle

import numpy as np
import pytest
from hypothesis import given, strategies as st

import recordmill.compat.tensorflow as tf
from recordmill.compat.tensorflow.core import random_state
from recordmill.compat.tensorflow.core.dispatch import OPS, RECORDING, call_operation


def compute(*functions):
    return [function().numpy().tolist() for function in functions]


DRAWS = (
    lambda: tf.random.uniform([4]),
    lambda: tf.random.uniform([4], 3, 9, tf.int64),
    lambda: tf.random.normal([2, 2], 5.0, 2.0),
    lambda: tf.random.truncated_normal([5]),
    lambda: tf.random.shuffle(tf.range(9)),
    lambda: tf.random.uniform([3], seed=11),
    lambda: tf.random.categorical([[0.0, 1.0]], 5),
    lambda: tf.random.gamma([4], [0.5]),
)


def test_set_seed_repeats_random_numbers() -> None:
    tf.random.set_seed(5)
    first = compute(*DRAWS)
    second = compute(*DRAWS)
    tf.random.set_seed(5)
    assert compute(*DRAWS) == first
    assert all(one != other for one, other in zip(first[:4], second, strict=False))
    tf.random.set_seed(6)
    assert compute(*DRAWS) != first
    tf.random.set_seed(None)


def test_random_numbers_of_element_do_not_depend_on_order() -> None:
    def of(position):
        with random_state.use_element_state(0, position):
            return compute(*DRAWS)

    tf.random.set_seed(1)
    forwards = [of(position) for position in range(4)]
    assert [of(position) for position in reversed(range(4))] == forwards[::-1]
    assert len({str(one) for one in forwards}) == 4
    tf.random.set_seed(None)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "int64"])
def test_uniform_stays_within_limits(dtype: str) -> None:
    values = tf.random.uniform([2000], 2, 5, dtype, seed=3)
    assert values.dtype == dtype and values.shape == [2000]
    assert values.numpy().min() >= 2 and values.numpy().max() < 5
    assert len(np.unique(values.numpy())) >= 3


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda: tf.random.uniform([2], dtype=tf.int32), ValueError),
        (lambda: tf.random.uniform([2], 5, 3, tf.int32), tf.errors.InvalidArgumentError),
        (lambda: tf.random.gamma([2], [-1.0]), tf.errors.InvalidArgumentError),
        (lambda: tf.random.gamma([2], 1, dtype=tf.int32), TypeError),
    ],
)
def test_random_function_rejects_invalid_arguments(call, error) -> None:
    with pytest.raises(error):
        call()


def test_random_distributions_have_expected_moments() -> None:
    tf.random.set_seed(5)
    numbers = tf.random.gamma([4000], [0.5, 3.0], beta=[[1.0], [2.0]])
    assert numbers.shape == [4000, 2, 2] and numbers.dtype == tf.float32
    assert np.allclose(numbers.numpy().mean(0), [[0.5, 3], [0.25, 1.5]], rtol=0.15)
    assert tf.random.gamma([3000], 0.002).numpy().min() > 0
    assert np.abs(tf.random.truncated_normal([500])).max() <= 2
    tf.random.set_seed(None)


def test_stateless_random_functions_depend_on_seed_only() -> None:
    for function in (tf.random.stateless_normal, tf.random.stateless_uniform):
        assert function([4], [7, -2]).numpy().tolist() == function([4], [7, -2]).numpy().tolist()
        assert function([4], [7, -2]).numpy().tolist() != function([4], [7, 2]).numpy().tolist()
    folded = tf.random.experimental.stateless_fold_in([1, 2], 3)
    assert folded.shape == [2] and folded.numpy().tolist() != [1, 2]
    assert tf.random.split([1, 2], 3).shape == [3, 2]


def test_print_writes_values_to_stream() -> None:
    stream = io.StringIO()
    tf.print("x:", tf.constant([1, 2]), {"a": tf.constant(1)}, output_stream=stream, end="|")
    assert stream.getvalue().startswith("x: [1 2] {'a': ") and stream.getvalue().endswith("|")


def test_function_converts_arguments_to_tensors() -> None:
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def double(x):
        assert isinstance(x, tf.Tensor)
        return x * 2, {"rank": 1}

    doubled, rest = double([1, 2.5])
    assert doubled.numpy().tolist() == [2, 5] and rest["rank"].numpy() == 1
    with pytest.raises(TypeError, match="input_signature"):
        double([1.0], [2.0])
    with pytest.raises(TypeError, match="expected an argument that matches"):
        double([[1.0]])
    with pytest.raises(TypeError, match="unknown_option"):
        tf.function(lambda x: x, unknown_option=True)
    assert tf.function(lambda x: x + 1)(np.arange(2)).numpy().tolist() == [1, 2]


def test_py_function_rejects_results_that_do_not_match() -> None:
    with pytest.raises(TypeError, match=r"Cannot convert 1\.5"):
        tf.py_function(lambda: 1.5, [], tf.int32)
    with pytest.raises(ValueError, match=r"one value per entry of Tout \(1\), got 2"):
        tf.py_function(lambda: (1, 2), [], [tf.int32])
    with pytest.raises(ZeroDivisionError):
        tf.numpy_function(lambda x: 1 // int(x), [0.0], tf.float32)


def test_specs_compare_by_value() -> None:
    spec = tf.TensorSpec([None, 3], tf.uint8)
    assert spec == pickle.loads(pickle.dumps(spec)) and spec != tf.TensorSpec([None, 3])
    assert spec.is_compatible_with(tf.zeros([2, 3], tf.uint8)) and not spec.is_compatible_with(tf.zeros([2, 3]))
    assert spec.is_compatible_with(tf.TensorSpec([5, None], tf.uint8))
    assert not spec.is_compatible_with(tf.RaggedTensorSpec([None, 3], tf.uint8))
    assert tf.type_spec_from_value(tf.strings.split(["a b"])) == tf.RaggedTensorSpec([1, None], tf.string, 1)


def test_map_structure_keeps_types() -> None:
    structure = {"b": (1, [2, 3]), "a": 4}
    assert tf.nest.flatten(structure) == [4, 1, 2, 3]
    assert tf.nest.map_structure(lambda x: -x, structure) == {"b": (-1, [-2, -3]), "a": -4}
    with pytest.raises(ValueError, match="3"):
        tf.nest.pack_sequence_as(structure, [1, 2, 3])
    with pytest.raises(TypeError, match="types"):
        tf.nest.map_structure(max, [1], (2,))


def test_traced_calls_are_recorded_by_name() -> None:
    class Recorded(tf.Tensor):
        """Stands for a value that is not known yet."""

    class Recording:
        noted: list = []  # noqa: RUF012

        def owns_value(self, value):
            return any(isinstance(one, Recorded) for one in [*value[0], *value[1].values()])

        def handle_call(self, name, args, kwargs):
            self.noted.append((name, sorted(kwargs)))
            return Recorded(np.zeros(2, np.float32))

    recording = Recording()
    before = RECORDING.set(recording)
    try:
        x = Recorded(np.zeros(2, np.float32))
        tf.cast((x + 1) / 2, dtype=tf.int32, name="whole")
        tf.random.uniform([2])
        assert tf.range(3).numpy().tolist() == [0, 1, 2]
        assert (x == None) is False  # noqa: E711
    finally:
        RECORDING.reset(before)
    names = [("math.add", []), ("math.truediv", []), ("array.cast", ["dtype"]), ("random.uniform", [])]
    assert recording.noted == names
    assert all(name in OPS for name, _ in names)
    assert call_operation("strings.lower", "AB").numpy() == b"ab"


@given(st.lists(st.binary(max_size=6), max_size=8), st.sampled_from([None, b",", b"ab"]))
def test_string_functions_equal_python(values, separator) -> None:
    found = tf.strings.split(tf.constant(values, tf.string), separator).to_list()
    assert found == [one.split(separator) for one in values]
    assert tf.strings.length(tf.constant(values, tf.string)).numpy().tolist() == [len(one) for one in values]
    assert tf.strings.join([tf.constant(values, tf.string), "!"]).numpy().tolist() == [one + b"!" for one in values]


def test_py_function_returns_ragged_tensor_of_spec() -> None:
    ragged = tf.ragged.constant([[1, 2], [3]])
    spec = tf.RaggedTensorSpec([None, None], tf.int32)
    data = tf.data.Dataset.range(2).map(lambda x: tf.py_function(lambda _: ragged, [x], spec))
    assert [one.to_list() for one in data] == [[[1, 2], [3]]] * 2
    for wrong in (tf.int32, tf.RaggedTensorSpec([None, None], tf.int64)):
        with pytest.raises(TypeError, match="must return a value that matches"):
            tf.py_function(lambda: ragged, [], wrong)


def test_switch_case_calls_function_of_index() -> None:
    functions = [lambda: 1, lambda: 2]
    assert [tf.switch_case(index, functions) for index in (0, 1, 5)] == [1, 2, 2]
    assert tf.switch_case(tf.constant(7), {3: lambda: "a"}, default=lambda: "b") == "b"


def test_loops_accept_hints_of_tensorflow_1() -> None:
    total = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)], [tf.TensorShape([])], 10)
    assert [int(one) for one in total] == [3]
    assert int(tf.while_loop(lambda i: True, lambda i: i + 1, tf.constant(0), maximum_iterations=4)) == 4
    assert tf.map_fn(lambda x: x * 2, tf.range(3), tf.int32, 10, False).numpy().tolist() == [0, 2, 4]
    assert tf.scan(lambda a, x: a + x, tf.range(4), parallel_iterations=1, reverse=True).numpy().tolist() == [
        6,
        6,
        5,
        3,
    ]
