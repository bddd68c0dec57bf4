"""Details of operations that recordings do not cover."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import recordmill.compat.tensorflow as tf

RNG = np.random.default_rng(8)


@pytest.mark.parametrize(
    "compute, dtype, values",
    [
        (lambda: tf.linspace(0, 10, 3), tf.float64, [0, 5, 10]),
        (lambda: tf.sequence_mask([1.0, 2.5]), tf.bool, [[True, False, False], [True, True, True]]),
        (lambda: tf.constant(["é", b"\xff"]), tf.string, ["é".encode(), b"\xff"]),
        (lambda: tf.constant([["é"], [b"\xff"]]), tf.string, [["é".encode()], [b"\xff"]]),
        (lambda: tf.gather([[1, 2], [3, 4]], [[1], [0]], batch_dims=1), tf.int32, [[2], [3]]),
        (lambda: tf.strided_slice([1, 2, 3, 4], [0], [2]), tf.int32, [1, 2]),
        (lambda: tf.strided_slice([[1, 2], [3, 4]], [1, 0], [2, 9], [1, 1], shrink_axis_mask=1), tf.int32, [3, 4]),
        (lambda: tf.compat.v1.div([7, -7], 2), tf.int32, [3, -4]),
        (lambda: tf.compat.v1.decode_raw(b"\x01\x02", tf.uint8), tf.uint8, [1, 2]),
        (lambda: tf.compat.v1.string_to_number(["1", "2"], tf.int32), tf.int32, [1, 2]),
        (lambda: tf.compat.v1.sparse_to_dense([0, 2], [3], [5, 6]), tf.int32, [5, 0, 6]),
        (lambda: tf.sparse.to_dense(tf.compat.v1.string_split(["a b", "c"])), tf.string, [[b"a", b"b"], [b"c", b""]]),
        (lambda: tf.strings.substr(["abc", "de"], [0, -1], [2, 1]), tf.string, [b"ab", b"e"]),
    ],
)
def test_operation_returns_tensorflow_value(compute: Any, dtype: Any, values: Any) -> None:
    found = compute()
    assert found.dtype == dtype and found.numpy().tolist() == values


@pytest.mark.parametrize(
    "compute, error",
    [
        (lambda: tf.gather(np.zeros((3, 3)), [0, 1, 2, 2], batch_dims=1), tf.errors.InvalidArgumentError),
        (lambda: tf.gather_nd([[1, 2]], [[0]], batch_dims=1), NotImplementedError),
        (lambda: tf.norm([1.0], ord="nuclear"), NotImplementedError),
        (lambda: tf.strings.unicode_decode("a", "UTF-7"), NotImplementedError),
        (lambda: tf.strings.regex_replace("a", r"\pL", ""), NotImplementedError),
        (lambda: tf.cast("1", tf.int32), tf.errors.UnimplementedError),
        (lambda: tf.strided_slice([1, 2], [0], [1], new_axis_mask=1), NotImplementedError),
        (lambda: tf.where(np.ones((50, 60), bool), np.zeros((50, 61)), 0.0), tf.errors.InvalidArgumentError),
        (lambda: tf.strings.to_number("9" * 5000, tf.int64), tf.errors.InvalidArgumentError),
    ],
)
def test_unsupported_or_invalid_argument_raises(compute: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        compute()


@pytest.mark.parametrize("dtype", ["u1", "i4", "i8"])
def test_one_hot_marks_each_index(dtype: str) -> None:
    indices = RNG.integers(-3 if dtype != "u1" else 0, 9, (20, 30)).astype(dtype)
    for options, on, off in (({}, 1, 0), ({"on_value": 5, "off_value": -1}, 5, -1), ({"axis": 2}, 1, 0)):
        expected = np.where(indices[..., None] == np.arange(6), on, off)
        assert np.array_equal(tf.one_hot(indices, 6, **options), expected)
    assert tf.one_hot(indices, 0).shape == (20, 30, 0)


TEXTS = [
    *(["1"], ["1", " 2\t", "+3", "-4"], ["1_0"], ["1.5", "2e3", ".5", "5."], ["inf"], ["nan", "1"], ["0x10"], [""]),
    *(["1\x002"], ["99999999999"], ["1e400", "1e39", "1"], ["18446744073709551615"], ["-1"], ["1", "x"], ["1 2"], []),
    *(["٣"], ["1\x1c"], ["1", "99999999999999999999"], ["\x0b1\x0c\r"]),
]


@pytest.mark.parametrize("dtype", [tf.int32, tf.int64, tf.uint32, tf.uint64, tf.float32, tf.float64])
@pytest.mark.parametrize("texts", TEXTS, ids=lambda texts: repr(texts)[:30])
def test_to_number_of_many_strings_equals_single_ones(texts: list[str], dtype: Any) -> None:
    def read(compute: Any) -> Any:
        try:
            return np.array(compute(), dtype.numpy_dtype).tobytes()
        except tf.errors.InvalidArgumentError:
            return "invalid"

    together = read(lambda: tf.strings.to_number(tf.constant(texts, tf.string), dtype).numpy())
    assert together == read(lambda: [tf.strings.to_number(text, dtype).numpy() for text in texts])


def test_to_number_accepts_leading_zeros() -> None:
    assert tf.strings.to_number("-" + "0" * 5000 + "7", tf.int32).numpy() == -7


def test_short_time_fourier_transform_finds_frequency() -> None:
    signal = np.cos(2 * np.pi * np.arange(256) / 8).astype(np.float32)
    found = tf.abs(tf.signal.stft(signal, frame_length=64, frame_step=32))
    assert found.shape == (7, 33) and found.dtype == tf.float32
    assert (np.argmax(found, -1) == 8).all()
    assert tf.signal.stft(signal, 64, 32, pad_end=True).shape == (8, 33)


def test_ragged_and_sparse_tensors_keep_structure_in_elementwise_operations() -> None:
    ragged = tf.ragged.constant([["a", "B"], ["c"]])
    assert tf.strings.upper(ragged).to_list() == [[b"A", b"B"], [b"C"]]
    assert (tf.ragged.constant([[1, 2], [3]]) * 2).to_list() == [[2, 4], [6]]
    assert tf.strings.reduce_join(ragged, axis=-1, separator="-").numpy().tolist() == [b"a-B", b"c"]
    sparse = tf.strings.length(tf.sparse.from_dense([["", "bb"]]))
    assert sparse.values.numpy().tolist() == [2] and sparse.dense_shape.numpy().tolist() == [1, 2]
    with pytest.raises(tf.errors.InvalidArgumentError, match="same rows"):
        _ = tf.ragged.constant([[1, 2], [3]]) + tf.ragged.constant([[1], [2, 3]])
    with pytest.raises(ValueError, match="RaggedTensor"):
        tf.reduce_sum(tf.ragged.constant([[1, 2], [3]]))


@pytest.mark.parametrize("shape", [(40, 50, 3), (2, 40, 50, 3), (40, 0, 3), (2, 3)])
def test_arithmetic_of_pixels_and_channels_equals_numpy(shape: tuple[int, ...]) -> None:
    pixels, channels = RNG.random(shape, np.float32), np.float32([0.5, 2.0, 4.0])
    assert np.array_equal(tf.constant(pixels) - channels, pixels - channels)
    assert np.array_equal(channels / tf.constant(pixels), channels / pixels)
    assert np.array_equal(tf.constant(pixels)[::-1] > channels, pixels[::-1] > channels)
    assert np.array_equal(tf.constant(pixels) * pixels[..., :1], pixels * pixels[..., :1])
