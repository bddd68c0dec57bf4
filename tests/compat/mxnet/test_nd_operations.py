"""Operations on arrays: values, dtypes and shapes of MXNet 1.9.1."""

from __future__ import annotations

import pickle
import random

import numpy as np
import pytest

import recordmill.compat.mxnet as mx

nd = mx.nd
A = nd.array(np.arange(24).reshape(2, 3, 4))
LEVELS = nd.array(np.array([1, 200, 255]), dtype="uint8")
NUMBERS = nd.array([1, 2, -3], dtype="int32")
TABLE = nd.array([[3, 1], [2, 9]])


@pytest.mark.parametrize(
    "found, expected, dtype",
    [
        (LEVELS / 2, [0, 100, 127], "uint8"),
        (LEVELS + 1.5, [2, 201, 0], "uint8"),
        (3 - LEVELS, [2, 59, 4], "uint8"),
        (LEVELS / 255.0, [0, 0, 1], "uint8"),
        (LEVELS > 3, [0, 1, 1], "uint8"),
        (NUMBERS / 2, [0, 1, -1], "int32"),
        (NUMBERS * 0.5, [0, 0, 0], "int32"),
        (TABLE[0] * np.float64(2.5), [7.5, 2.5], "float32"),
        (np.float64(2) * TABLE[0], [6, 2], "float32"),
        (TABLE[1] == 9, [0, 1], "float32"),
        (LEVELS.sum(), [200], "uint8"),
        (LEVELS.mean(), [152], "uint8"),
        (NUMBERS.argmax(), [1], "int32"),
        (nd.sum_axis(TABLE, axis=1), [4, 11], "float32"),
        (nd.broadcast_div(LEVELS, nd.array([3], dtype="uint8")), [0, 66, 85], "uint8"),
        (nd.array([0.5, 1.5, 2.5, -0.5]).round(), [1, 2, 3, -1], "float32"),
    ],
)
def test_arithmetic_keeps_dtype(found, expected, dtype) -> None:
    assert (found.asnumpy().tolist(), found.dtype) == (expected, dtype)


@pytest.mark.parametrize(
    "found, shape",
    [
        (A.reshape((0, -1)), (2, 12)),
        (A.reshape(-1), (24,)),
        (A.flatten(), (2, 12)),
        (A.transpose(axes=(2, 0, 1)), (4, 2, 3)),
        (A.sum(), (1,)),
        (A.mean(axis=(1, 2)), (2,)),
        (nd.concat(A, A, dim=1), (2, 6, 4)),
        (nd.expand_dims(A, 0), (1, 2, 3, 4)),
    ],
)
def test_shapes_equal_mxnet(found, shape) -> None:
    assert isinstance(found, nd.NDArray)
    assert found.shape == shape


def test_in_place_arithmetic_keeps_dtype_and_memory() -> None:
    pixels = nd.array([[1, 2]], dtype="uint8")
    row = pixels[0]
    pixels += 1.7
    pixels[:, 1] = nd.array([9])
    assert (row.asnumpy().tolist(), pixels.dtype) == ([2, 9], np.uint8)


def test_numpy_functions_follow_numpy() -> None:
    assert np.argmax(TABLE) == 3
    assert np.sort(TABLE)[0].tolist() == [1, 3]
    assert np.mean(TABLE) == 3.75
    assert np.concatenate([TABLE, TABLE]).shape == (4, 2)
    assert np.take(TABLE, [3]).tolist() == [9]
    copied = pickle.loads(pickle.dumps(TABLE))
    assert isinstance(copied, nd.NDArray)
    np.testing.assert_array_equal(copied, TABLE)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: A.reshape((7, 7)),
        lambda: nd.concat(TABLE, nd.ones((1, 1, 1))),
        lambda: nd.stack(TABLE, A),
        lambda: nd.zeros(2) + nd.zeros(3),
        lambda: A.reshape((-3, 0)),
        lambda: TABLE.clip(2, None),
        lambda: TABLE.copyto(nd.zeros((3, 3))),
    ],
)
def test_incompatible_shapes_raise_mxnet_error(wrong) -> None:
    with pytest.raises(mx.MXNetError) as caught:
        wrong()
    assert isinstance(caught.value, ValueError)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


def test_random_flip_left_right_draws_from_random() -> None:
    image = nd.array(np.arange(12).reshape(2, 2, 3), dtype="uint8")
    random.seed(2)
    expected = [random.random() < 0.5 for _ in range(20)]
    random.seed(2)
    for is_flipped in expected:
        pixels = nd.image.random_flip_left_right(image).asnumpy()
        assert np.array_equal(pixels, image.asnumpy()[:, ::-1] if is_flipped else image.asnumpy())
    assert set(expected) == {True, False}


def test_invalid_operands_raise_type_error() -> None:
    for wrong in (lambda: TABLE + "a", lambda: nd.array("abc"), lambda: nd.array([[1, 2], [3]])):
        with pytest.raises(TypeError):
            wrong()


@pytest.mark.parametrize(
    "ask, name",
    [
        (lambda: mx.gluon.nn.Dense, "mx.gluon.nn"),
        (lambda: mx.sym.Variable("data"), "mx.sym"),
        (lambda: nd.maximum(A, 0), "mx.nd.maximum"),
        (lambda: A.exp, "NDArray.exp"),
        (lambda: A.softmax(axis=1), "NDArray.softmax"),
        (lambda: mx.io.ImageRecordIter_v1, "mx.io.ImageRecordIter_v1"),
        (lambda: mx.random.uniform(0, 1), "mx.random.uniform"),
    ],
)
def test_unsupported_name_raises_error_with_hint(ask, name) -> None:
    with pytest.raises(NotImplementedError, match=f"{name} is not supported") as caught:
        ask()
    assert isinstance(caught.value, mx.MXNetError | AttributeError)
    assert caught.value.parts()["hint"]


def test_unknown_name_raises_attribute_error() -> None:
    assert not hasattr(mx, "sym")
    with pytest.raises(AttributeError, match="no attribute 'imagee'"):
        mx.imagee  # noqa: B018
    mx.random.seed(5)
    assert mx.context.num_gpus() == 0


def test_arithmetic_rejects_different_dtypes() -> None:
    pixels = nd.array([[1, 2, 3]], dtype="uint8")
    with pytest.raises(mx.MXNetError, match="float32 and uint8"):
        mx.image.color_normalize(pixels, nd.array([1, 2, 3]))
    with pytest.raises(mx.MXNetError, match="same dtype"):
        pixels + nd.ones((1, 3))
    with pytest.raises(TypeError):
        pixels += np.array([0.5])
    assert pixels.asnumpy().tolist() == [[1, 2, 3]]
