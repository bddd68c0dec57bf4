"""What recordings cannot hold: random numbers, functions, printing, structures, and how calls are noted."""

from __future__ import annotations

import io
import pickle

import numpy as np
import pytest
from hypothesis import given, strategies as st

import recordmill.compat.tensorflow as tf
from recordmill.compat.tensorflow.core import draws
from recordmill.compat.tensorflow.core.dispatch import OPS, RECORDING, run


def drawn(*functions):
    return [function().numpy().tolist() for function in functions]


DRAWS = (
    lambda: tf.random.uniform([4]),
    lambda: tf.random.uniform([4], 3, 9, tf.int64),
    lambda: tf.random.normal([2, 2], 5.0, 2.0),
    lambda: tf.random.truncated_normal([5]),
    lambda: tf.random.shuffle(tf.range(9)),
    lambda: tf.random.uniform([3], seed=11),
    lambda: tf.random.categorical([[0.0, 1.0]], 5),
)


def test_random_numbers_when_the_seed_is_set_again_then_repeat() -> None:
    tf.random.set_seed(5)
    first = drawn(*DRAWS)
    second = drawn(*DRAWS)
    tf.random.set_seed(5)
    assert drawn(*DRAWS) == first
    assert all(one != other for one, other in zip(first[:4], second, strict=False))
    tf.random.set_seed(6)
    assert drawn(*DRAWS) != first
    tf.random.set_seed(None)


def test_random_numbers_of_elements_when_computed_in_any_order_then_are_the_same() -> None:
    def of(position):
        with draws.element(0, position):
            return drawn(*DRAWS)

    tf.random.set_seed(1)
    forwards = [of(position) for position in range(4)]
    assert [of(position) for position in reversed(range(4))] == forwards[::-1]
    assert len({str(one) for one in forwards}) == 4
    tf.random.set_seed(None)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32", "int64"])
def test_uniform_numbers_when_drawn_then_are_within_the_limits(dtype: str) -> None:
    values = tf.random.uniform([2000], 2, 5, dtype, seed=3)
    assert values.dtype == dtype and values.shape == [2000]
    assert values.numpy().min() >= 2 and values.numpy().max() < 5
    assert len(np.unique(values.numpy())) >= 3


def test_random_numbers_when_options_are_wrong_then_are_refused() -> None:
    with pytest.raises(ValueError, match="Must specify maxval for integer dtype"):
        tf.random.uniform([2], dtype=tf.int32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Need minval < maxval, got 5 >= 3"):
        tf.random.uniform([2], 5, 3, tf.int32)
    with pytest.raises(ValueError, match="unsupported value 'mersenne'"):
        tf.random.Generator.from_seed(1, alg="mersenne")
    with pytest.raises(ValueError, match="unsupported value 9"):
        tf.random.stateless_uniform([2], [1, 2], alg=9)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"alpha must not be negative, got -1\.0"):
        tf.random.gamma([2], [-1.0])
    with pytest.raises(TypeError, match="int32 is not in the list of allowed values"):
        tf.random.gamma([2], 1, dtype=tf.int32)


def test_random_numbers_of_distributions_when_drawn_then_have_their_means_and_shapes() -> None:
    tf.random.set_seed(5)
    numbers = tf.random.gamma([4000], [0.5, 3.0], beta=[[1.0], [2.0]])
    assert numbers.shape == [4000, 2, 2] and numbers.dtype == tf.float32
    assert np.allclose(numbers.numpy().mean(0), [[0.5, 3], [0.25, 1.5]], rtol=0.15)
    assert tf.random.gamma([3000], 0.002).numpy().min() > 0  # quotients of two are numbers
    counts = tf.random.poisson([4000], [1.0, 9.0], dtype=tf.int32)
    assert counts.shape == [4000, 2] and np.allclose(counts.numpy().mean(0), [1, 9], rtol=0.1)
    assert tf.compat.v1.random_poisson([1.0, 2.0], [3]).shape == [3, 2] == tf.random_gamma([3], [1.0, 2.0]).shape
    seed, stateless = [3, 4], tf.random
    for again in (
        lambda: stateless.stateless_gamma([5, 2], seed, [1.0, 2.0]),
        lambda: stateless.stateless_poisson([5], seed, 3.0),
        lambda: stateless.stateless_binomial([5], seed, 9, 0.5),
        lambda: stateless.stateless_truncated_normal([5], seed, alg="philox"),
        lambda: stateless.stateless_categorical([[0.0, 1.0]], 5, seed),
        lambda: stateless.experimental.stateless_shuffle(tf.range(9), seed),
    ):
        assert again().numpy().tolist() == again().numpy().tolist()
    assert tf.compat.v1.multinomial([[0.0, -99.0]], 3).numpy().tolist() == [[0, 0, 0]]
    tf.random.set_seed(None)


def test_generator_of_the_process_when_it_is_replaced_then_repeats() -> None:
    found = []
    for _ in range(2):
        tf.random.set_global_generator(tf.random.Generator.from_seed(4, alg="philox"))
        found.append(tf.random.get_global_generator().uniform_full_int([3]).numpy().tolist())
    assert found[0] == found[1] and max(found[0]) > 2**32
    tf.random.get_global_generator().reset_from_seed(4)
    assert tf.random.get_global_generator().uniform_full_int([3]).numpy().tolist() == found[0]


def test_generators_when_made_of_one_seed_then_draw_the_same() -> None:
    one, other = (tf.random.Generator.from_seed(9) for _ in range(2))
    assert one.normal([3]).numpy().tolist() == other.normal([3]).numpy().tolist()
    assert one.uniform([3]).numpy().tolist() == other.uniform([3]).numpy().tolist()
    assert abs(one.truncated_normal([500])).numpy().max() <= 2
    stateless = [tf.random.stateless_normal([4], [7, -2]).numpy().tolist() for _ in range(2)]
    assert stateless[0] == stateless[1]


def test_function_when_decorated_then_is_called_with_tensors() -> None:
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def double(x):
        assert isinstance(x, tf.Tensor)
        return x * 2, {"rank": 1}

    doubled, rest = double([1, 2.5])
    assert doubled.numpy().tolist() == [2, 5] and rest["rank"].numpy() == 1
    with pytest.raises(TypeError, match="input_signature"):
        double([1.0], [2.0])
    with pytest.raises(TypeError, match="can not cast"):
        double([[1.0]])
    with pytest.raises(TypeError, match="unknown_option"):
        tf.function(lambda x: x, unknown_option=True)
    assert tf.function(lambda x: x + 1)(np.arange(2)).numpy().tolist() == [1, 2]


def test_python_functions_when_their_results_do_not_fit_then_are_refused() -> None:
    with pytest.raises(TypeError, match=r"Cannot convert 1\.5"):
        tf.py_function(lambda: 1.5, [], tf.int32)
    with pytest.raises(ValueError, match="2 values, Tout has 1"):
        tf.py_function(lambda: (1, 2), [], [tf.int32])
    with pytest.raises(ZeroDivisionError):
        tf.numpy_function(lambda x: 1 // int(x), [0.0], tf.float32)


def test_values_when_printed_then_look_as_in_tensorflow() -> None:
    stream = io.StringIO()
    values = (tf.constant([1.5, 1e10, 1e-7, 1 / 3]), "x", tf.constant("q"), tf.constant(["a"]), tf.constant([True]))
    tf.print(*values, tf.range(20), {"a": tf.range(2)}, [1, "b"], output_stream=stream)
    tf.print(tf.reshape(tf.range(8), [2, 2, 2]), tf.range(9), summarize=1, output_stream=stream, end="|", sep="\n")
    assert stream.getvalue() == (
        "[1.5 1e+10 1e-07 0.333333343] x \"q\" [\"a\"] [1] [0 1 2 ... 17 18 19] {'a': [0 1]} [1, 'b']\n"
        "[[[0 1]\n  [2 3]]\n\n [[4 5]\n  [6 7]]]\n[0 ... 8]|"
    )


def test_specs_when_compared_and_pickled_then_are_values() -> None:
    spec = tf.TensorSpec([None, 3], tf.uint8)
    assert spec == pickle.loads(pickle.dumps(spec)) and spec != tf.TensorSpec([None, 3])
    assert spec.is_compatible_with(tf.zeros([2, 3], tf.uint8)) and not spec.is_compatible_with(tf.zeros([2, 3]))
    assert spec.is_compatible_with(tf.TensorSpec([5, None], tf.uint8))
    assert not spec.is_compatible_with(tf.RaggedTensorSpec([None, 3], tf.uint8))
    assert tf.type_spec_from_value(tf.strings.split(["a b"])) == tf.RaggedTensorSpec([1, None], tf.string, 1)


def test_structures_when_mapped_then_keep_their_kinds() -> None:
    structure = {"b": (1, [2, 3]), "a": 4}
    assert tf.nest.flatten(structure) == [4, 1, 2, 3]
    assert tf.nest.map_structure(lambda x: -x, structure) == {"b": (-1, [-2, -3]), "a": -4}
    with pytest.raises(ValueError, match="3 items"):
        tf.nest.pack_sequence_as(structure, [1, 2, 3])
    with pytest.raises(TypeError, match="sequence type"):
        tf.nest.map_structure(max, [1], (2,))


def test_calls_when_recorded_then_are_noted_with_their_names() -> None:
    class Recorded(tf.Tensor):
        """Stands for a value that is not known yet."""

    class Recording:
        noted: list = []  # noqa: RUF012

        def touches(self, value):
            return any(isinstance(one, Recorded) for one in [*value[0], *value[1].values()])

        def note(self, name, args, kwargs):
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
    assert run("strings.lower", "AB").numpy() == b"ab"


@given(st.lists(st.binary(max_size=6), max_size=8), st.sampled_from([None, b",", b"ab"]))
def test_strings_when_split_and_joined_then_are_as_pythons(values, separator) -> None:
    found = tf.strings.split(tf.constant(values, tf.string), separator).to_list()
    assert found == [one.split(separator) for one in values]
    assert tf.strings.length(tf.constant(values, tf.string)).numpy().tolist() == [len(one) for one in values]
    assert tf.strings.join([tf.constant(values, tf.string), "!"]).numpy().tolist() == [one + b"!" for one in values]


def test_candidates_when_drawn_then_are_expected_as_often_as_in_tensorflow() -> None:
    true = tf.constant([[1, 2]], tf.int64)
    found = tf.random.log_uniform_candidate_sampler(true, 2, 3, False, 5, seed=1)
    assert found.sampled_candidates.dtype == tf.int64 and found.sampled_candidates.shape == [3]
    assert np.allclose(found.true_expected_count.numpy(), [[0.6789, 0.4817]], atol=1e-4)
    unique, _, expected = tf.random.uniform_candidate_sampler(true, 2, 5, True, 5)
    assert sorted(unique.numpy().tolist()) == [0, 1, 2, 3, 4] and expected.dtype == tf.float32
    assert tf.random.uniform_candidate_sampler(true, 2, 3, False, 5)[1].numpy().tolist() == [[np.float32(0.6)] * 2]
    with pytest.raises(tf.errors.InvalidArgumentError, match="range is too small: 6 different classes of 5"):
        tf.random.uniform_candidate_sampler(true, 2, 6, True, 5)
    with pytest.raises(tf.errors.InvalidArgumentError, match="must have num_true=1 columns"):
        tf.random.uniform_candidate_sampler(true, 1, 6, True, 9)
