"""Operations on many values at once are what they are one by one."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import recordmill.compat.tensorflow as tf
from recordmill.compat.tensorflow.core import arrays, dtypes

RNG = np.random.default_rng(8)


def test_where_when_shapes_do_not_broadcast_then_is_refused() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="broadcastable"):
        tf.where(np.ones((50, 60), bool), np.zeros((50, 61)), 0.0)


@pytest.mark.parametrize("dtype", ["u1", "i4", "i8"])
def test_one_hot_when_there_are_many_indices_then_each_row_is_that_of_one(dtype) -> None:
    indices = RNG.integers(-3 if dtype != "u1" else 0, 9, (20, 30)).astype(dtype)
    for options in ({}, {"on_value": 5, "off_value": -1}, {"dtype": tf.bool}, {"axis": 2}):
        found = tf.one_hot(indices, 6, **options).numpy()
        few = {name: value for name, value in options.items() if name != "axis"}
        expected = np.stack([[tf.one_hot(one, 6, **few).numpy() for one in row] for row in indices])
        assert found.dtype == expected.dtype
        assert np.array_equal(found, expected)
    assert tf.one_hot(indices, 0).shape == (20, 30, 0)


def test_to_number_when_there_are_thousands_of_digits_then_only_leading_zeros_pass() -> None:
    assert tf.strings.to_number("-" + "0" * 5000 + "7", tf.int32).numpy() == -7
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.strings.to_number("9" * 5000, tf.int64)


@pytest.mark.parametrize("position", [0, 1, -1, 3, -3])
@pytest.mark.parametrize("length", [0, 1, 2, 100, -1, 3])
def test_substr_when_strings_are_cut_alike_then_each_is_what_it_is_alone(position, length) -> None:
    strings = np.array([[b"abc", b"defgh"], [b"\0\xff\0", b"1234"]], object)
    found = tf.strings.substr(strings, position, length).numpy()
    ends = [one[position:] if length < 0 else one[position:][:length] for one in strings.reshape(-1)]
    assert found.reshape(-1).tolist() == ends
    with pytest.raises(tf.errors.InvalidArgumentError, match="out of range"):
        tf.strings.substr([b"abc", b""], position or 4, length)


WHOLE = [
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
REAL = [
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


@pytest.mark.parametrize("value", [*WHOLE, *REAL, True, False])
def test_array_of_number_equals_array_of_list(value) -> None:
    def told(function, dtype) -> tuple[object, ...]:
        try:
            found = function(value, dtype)
        except (TypeError, ValueError) as error:
            return (type(error),)
        return found.dtype, found.size, found.tobytes()

    def in_list(value, dtype):
        return arrays.array_of([value], dtype)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for dtype in (None, *dtypes.ALL):
            assert told(arrays.array_of, dtype) == told(in_list, dtype)


def test_argmax_and_sums_when_channels_are_few_then_equal_numpys() -> None:
    image = RNG.standard_normal((50, 60, 3)).astype(np.float32)
    image[::5, ::7, 1] = np.nan
    for wanted in (tf.int32, tf.int64):
        assert tf.argmax(image, -1, output_type=wanted).dtype == wanted
        assert np.array_equal(tf.argmax(image, -1, output_type=wanted), image.argmax(-1))
        assert np.array_equal(tf.argmin(image, 2, output_type=wanted), image.argmin(-1))
    for axis in ([0, 1], -1, [1], None, []):
        axes = None if axis is None else tuple(np.atleast_1d(axis).astype(int))
        for mine, theirs in ((tf.reduce_sum, np.sum), (tf.reduce_max, np.max), (tf.reduce_min, np.min)):
            assert np.array_equal(mine(image, axis=axis), theirs(image, axis=axes), equal_nan=True)
        assert np.array_equal(tf.reduce_any(image > 1, axis=axis), np.any(image > 1, axis=axes))
        assert np.array_equal(tf.reduce_all(image < 1, axis=axis), np.all(image < 1, axis=axes))


@pytest.mark.parametrize("dtype", ["f2", "f4", "u1", "i8", "?"])
@pytest.mark.parametrize("shape", [(), (0, 3), (3, 4), (40, 30, 3)])
def test_serialize_tensor_when_values_lie_anyhow_then_are_written_in_order(shape, dtype) -> None:
    array = RNG.integers(0, 2 if dtype == "?" else 100, shape).astype(dtype)
    for view in (array, array.T, array[..., ::-1] if shape else array, array.astype(array.dtype.newbyteorder(">"))):
        data = tf.io.serialize_tensor(view).numpy()
        assert data.endswith(np.ascontiguousarray(view, dtype).tobytes())
        found = tf.io.parse_tensor(data, tf.as_dtype(array.dtype)).numpy()
        assert (found.dtype, found.shape, found.tolist()) == (array.dtype, view.shape, view.tolist())
