"""Values converted together equal values converted one by one."""

from __future__ import annotations

import math
import warnings

import numpy as np
import pytest

import recordmill.compat.tensorflow as tf
from recordmill.compat.tensorflow.core import arrays, dtypes

RNG = np.random.default_rng(8)


LINES = [
    *(["1,2,3,x"], ["1,2,3,x"] * 3, [",,,"], ["1,2,3"], ["1,2,3,x", "1,2,a,x", "1"], ["1", "a,2,3,x"], [], [""]),
    *(['1,2,3,"x,y""z"', "1,2,3,b"], ["1,2,3,x\n"], ["1,2,3,x", '1,2,3,x"y'], ["1, 2 ,3 , x "], ["99999999999,1,2,x"]),
    *(["1,inf,3,x"], ["NA,NA,3,NA"], ["1,2,3,\0"], ["1,2,3,x", "1,2,3,x,4"], ["1,1e400,3,x", "2,-1.5,4,y"]),
]


@pytest.mark.parametrize("options", [{}, {"na_value": "NA"}, {"use_quote_delim": False}], ids=str)
@pytest.mark.parametrize("lines", LINES, ids=lambda lines: repr(lines)[:30])
def test_decode_csv_when_columns_are_read_together_then_equals_line_by_line(lines, options, monkeypatch) -> None:
    def told() -> object:
        try:
            columns = tf.io.decode_csv(tf.constant(lines, tf.string), [0, 0.5, np.int64(4), "d"], **options)
        except tf.errors.InvalidArgumentError as error:
            return str(error)
        return [(column.numpy().dtype.str, column.numpy().tolist()) for column in columns]

    together = told()
    monkeypatch.setattr("recordmill.compat.tensorflow.io.csv_lines._together", lambda *_: None)
    assert together == told()


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
def test_array_of_when_given_one_number_then_equals_the_general_way(value) -> None:
    def told(function, dtype) -> tuple[object, ...]:
        try:
            found = function(value, dtype)
        except (TypeError, ValueError) as error:
            return type(error), str(error)
        return found.dtype, found.shape, found.tobytes()

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for dtype in (None, *dtypes.ALL):
            assert told(arrays.array_of, dtype) == told(arrays._of_python, dtype)


@pytest.mark.parametrize("dtype", ["f2", "f4", "u1", "i8", "?"])
@pytest.mark.parametrize("shape", [(), (0, 3), (3, 4), (40, 30, 3)])
def test_serialize_tensor_when_values_lie_anyhow_then_are_written_in_order(shape, dtype) -> None:
    array = RNG.integers(0, 2 if dtype == "?" else 100, shape).astype(dtype)
    for view in (array, array.T, array[..., ::-1] if shape else array, array.astype(array.dtype.newbyteorder(">"))):
        data = tf.io.serialize_tensor(view).numpy()
        assert data.endswith(np.ascontiguousarray(view, dtype).tobytes())
        found = tf.io.parse_tensor(data, tf.as_dtype(array.dtype)).numpy()
        assert (found.dtype, found.shape, found.tolist()) == (array.dtype, view.shape, view.tolist())
