"""Details of operations that the recordings do not contain, and arrays of many values."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest

import recordmill.compat.tensorflow as tf
from recordmill.compat.tensorflow.core import arrays, dtypes

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
    with pytest.raises(tf.errors.InvalidArgumentError, match="same row splits"):
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


def test_pad_fills_with_zero_value_of_dtype() -> None:
    assert tf.pad([True], [[1, 0]]).numpy().tolist() == [False, True]
    assert tf.pad([True], [[1, 0]], constant_values=True).numpy().tolist() == [True, True]
    assert tf.pad(["a"], [[1, 0]]).numpy().tolist() == [b"", b"a"]


def test_where_rejects_shapes_that_do_not_broadcast() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="cannot be broadcast"):
        tf.where(np.ones((50, 60), bool), np.zeros((50, 61)), 0.0)


@pytest.mark.parametrize("dtype", ["u1", "i4", "i8"])
def test_one_hot_of_many_indices_equals_single_ones(dtype) -> None:
    indices = RNG.integers(-3 if dtype != "u1" else 0, 9, (20, 30)).astype(dtype)
    for options in ({}, {"on_value": 5, "off_value": -1}, {"dtype": tf.bool}, {"axis": 2}):
        found = tf.one_hot(indices, 6, **options).numpy()
        few = {name: value for name, value in options.items() if name != "axis"}
        expected = np.stack([[tf.one_hot(one, 6, **few).numpy() for one in row] for row in indices])
        assert found.dtype == expected.dtype
        assert np.array_equal(found, expected)
    assert tf.one_hot(indices, 0).shape == (20, 30, 0)


def test_to_number_accepts_thousands_of_leading_zeros_only() -> None:
    assert tf.strings.to_number("-" + "0" * 5000 + "7", tf.int32).numpy() == -7
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.strings.to_number("9" * 5000, tf.int64)


@pytest.mark.parametrize("position", [0, 1, -1, 3, -3])
@pytest.mark.parametrize("length", [0, 1, 2, 100, -1, 3])
def test_substr_of_many_strings_equals_slices(position, length) -> None:
    strings = np.array([[b"abc", b"defgh"], [b"\0\xff\0", b"1234"]], object)
    found = tf.strings.substr(strings, position, length).numpy()
    ends = [one[position:] if length < 0 else one[position:][:length] for one in strings.reshape(-1)]
    assert found.reshape(-1).tolist() == ends
    with pytest.raises(tf.errors.InvalidArgumentError, match="out of range"):
        tf.strings.substr([b"abc", b""], position or 4, length)


INTEGERS = [
    0,
    1,
    -1,
    127,
    128,
    255,
    256,
    2**31 - 1,
    2**31,
    -(2**31),
    -(2**31) - 1,
    2**63 - 1,
    2**63,
    2**64,
    2**24 + 1,
    2**30 + 1,
]


FLOATS = [
    0.0,
    -0.0,
    1.5,
    0.1,
    1e38,
    3.4028235e38,
    3.4028235677973366e38,
    3.5e38,
    1e300,
    1e-46,
    math.inf,
    -math.inf,
    math.nan,
]


@pytest.mark.parametrize("value", [*INTEGERS, *FLOATS, True, False])
def test_array_of_number_equals_array_of_list(value) -> None:
    def describe_result(function, dtype) -> tuple[object, ...]:
        try:
            found = function(value, dtype)
        except (TypeError, ValueError) as error:
            return (type(error),)
        return found.dtype, found.size, found.tobytes()

    def convert_list(value, dtype):
        return arrays.array_of([value], dtype)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for dtype in (None, *dtypes.ALL):
            assert describe_result(arrays.array_of, dtype) == describe_result(convert_list, dtype)


def test_reductions_of_image_equal_numpy() -> None:
    image = RNG.standard_normal((50, 60, 3)).astype(np.float32)
    image[::5, ::7, 1] = np.nan
    for dtype in (tf.int32, tf.int64):
        assert tf.argmax(image, -1, output_type=dtype).dtype == dtype
        assert np.array_equal(tf.argmax(image, -1, output_type=dtype), image.argmax(-1))
        assert np.array_equal(tf.argmin(image, 2, output_type=dtype), image.argmin(-1))
    for axis in ([0, 1], -1, [1], None, []):
        axes = None if axis is None else tuple(np.atleast_1d(axis).astype(int))
        for function, numpy_function in ((tf.reduce_sum, np.sum), (tf.reduce_max, np.max), (tf.reduce_min, np.min)):
            assert np.array_equal(function(image, axis=axis), numpy_function(image, axis=axes), equal_nan=True)
        assert np.array_equal(tf.reduce_any(image > 1, axis=axis), np.any(image > 1, axis=axes))
        assert np.array_equal(tf.reduce_all(image < 1, axis=axis), np.all(image < 1, axis=axes))


@pytest.mark.parametrize("dtype", ["f2", "f4", "u1", "i8", "?"])
@pytest.mark.parametrize("shape", [(), (0, 3), (3, 4), (40, 30, 3)])
def test_serialize_tensor_writes_values_in_c_order(shape, dtype) -> None:
    array = RNG.integers(0, 2 if dtype == "?" else 100, shape).astype(dtype)
    for view in (array, array.T, array[..., ::-1] if shape else array, array.astype(array.dtype.newbyteorder(">"))):
        data = tf.io.serialize_tensor(view).numpy()
        assert data.endswith(np.ascontiguousarray(view, dtype).tobytes())
        found = tf.io.parse_tensor(data, tf.as_dtype(array.dtype)).numpy()
        assert (found.dtype, found.shape, found.tolist()) == (array.dtype, view.shape, view.tolist())
