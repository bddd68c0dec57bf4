"""Arithmetic of pictures and rows of channels, which takes other ways for large arrays, follows the same rules."""

from __future__ import annotations

import random

import numpy as np
import pytest

import recordmill as rm
import recordmill.compat.mxnet as mx
from recordmill.compat.mxnet.base import MXNetError

RNG = np.random.default_rng(6)
PIXELS = (RNG.random((50, 60, 3)) * 255).astype(np.float32)
ROW = np.array([123.68, 116.28, 103.53], np.float32)


@pytest.mark.parametrize(
    "other", [ROW, PIXELS[..., :1].copy(), PIXELS[::-1].copy(), np.float32(3)], ids=lambda one: str(one.shape)
)
def test_arithmetic_in_place_when_arrays_are_large_then_equals_numpys(other) -> None:
    operand = mx.nd.array(other) if other.ndim else float(other)
    for name in ("__iadd__", "__isub__", "__imul__", "__itruediv__"):
        found, expected = mx.nd.array(PIXELS), PIXELS.copy()
        memory = found.view(np.ndarray)
        assert getattr(found, name)(operand) is found
        getattr(expected, name)(other)
        assert np.array_equal(found.asnumpy(), expected)
        assert np.shares_memory(memory, found)


def test_arithmetic_in_place_when_an_array_takes_from_itself_then_all_is_read_before() -> None:
    found = mx.nd.array(PIXELS)
    found -= found[:, :, :1]
    assert np.array_equal(found.asnumpy(), PIXELS - PIXELS[:, :, :1])
    found = mx.nd.array(PIXELS)
    found += found[:, :, ::-1]
    assert np.array_equal(found.asnumpy(), PIXELS + PIXELS[:, :, ::-1])


def test_arithmetic_in_place_when_shapes_do_not_fit_then_is_refused() -> None:
    grey = mx.nd.array(PIXELS[:, :, :1])
    with pytest.raises(MXNetError):
        grey -= mx.nd.array(ROW)
    whole = mx.nd.array(PIXELS.astype(np.uint8), dtype="uint8")
    whole += 250
    assert np.array_equal(whole.asnumpy(), PIXELS.astype(np.uint8) + np.uint8(250))


def test_products_of_matrices_when_arrays_have_channels_then_are_numpys() -> None:
    a, b = RNG.random((2000, 3)).astype(np.float32), RNG.random((3, 3)).astype(np.float32)
    assert np.allclose(np.matmul(mx.nd.array(a), mx.nd.array(b)).asnumpy(), a @ b)


@pytest.mark.parametrize("channels", [1, 3, 4])
@pytest.mark.parametrize("sides", [(1, 2, 3, 4), (0, 0, 0, 0), (5, 0, 0, 1)])
def test_border_when_it_is_a_constant_then_is_around_the_pixels(sides, channels) -> None:
    image = RNG.integers(0, 256, (13, 17, channels)).astype(np.uint8)
    top, bottom, left, right = sides
    for options in ({}, {"value": 7.6}, {"values": tuple(range(9, 9 + channels))}):
        fill = np.array(options.get("values", options.get("value", 0)), np.uint8)
        expected = np.empty((13 + top + bottom, 17 + left + right, channels), np.uint8)
        expected[...] = fill
        expected[top : top + 13, left : left + 17] = image
        found = mx.image.copyMakeBorder(mx.nd.array(image, dtype="uint8"), *sides, **options)
        assert isinstance(found, mx.nd.NDArray)
        assert np.array_equal(found.asnumpy(), expected)


def test_border_when_a_level_does_not_exist_then_is_refused() -> None:
    with pytest.raises((MXNetError, ValueError, rm.RecordmillError)):
        mx.image.copyMakeBorder(mx.nd.array(np.zeros((5, 5, 3)), dtype="uint8"), 1, 1, 1, 1, value=300)


def test_concat_when_the_last_axis_is_joined_then_equals_numpys() -> None:
    parts = [PIXELS, PIXELS[:, ::-1], PIXELS[:, :, :1]]
    for dim in (2, -1):
        assert np.array_equal(mx.nd.concat(*map(mx.nd.array, parts), dim=dim).asnumpy(), np.concatenate(parts, -1))
    rows = [PIXELS[0], PIXELS[1, :20]]
    assert np.array_equal(mx.nd.concat(*map(mx.nd.array, rows), dim=0).asnumpy(), np.concatenate(rows))
    with pytest.raises(ValueError, match="dimension"):
        mx.nd.concat(mx.nd.array(PIXELS), mx.nd.array(PIXELS[:3]), dim=2)


@pytest.mark.parametrize("name", ["SaturationJitterAug", "HueJitterAug", "LightingAug", "RandomGrayAug"])
def test_augmenters_when_the_image_is_large_then_rows_are_what_they_are_alone(name) -> None:
    kinds = {"LightingAug": (0.1, [55.46, 4.794, 1.148], np.eye(3)), "RandomGrayAug": (1.0,)}
    augmenter = getattr(mx.image, name)(*kinds.get(name, (0.3,)))

    def changed(pixels: np.ndarray) -> np.ndarray:
        random.seed(4)
        np.random.seed(4)  # noqa: NPY002 (as the augmenter draws)
        return augmenter(mx.nd.array(pixels)).asnumpy()

    found = changed(PIXELS)
    assert found.dtype == np.float32
    assert not np.array_equal(found, PIXELS)
    assert np.allclose(found[:1], changed(PIXELS[:1]), rtol=2e-6, atol=1e-4)


def _added(values: np.ndarray, axis: object, keepdims: bool) -> np.ndarray:
    """Sum in which what an addition loses is added to the next value, as MXNet's."""
    axes = [one % values.ndim for one in (range(values.ndim) if axis is None else np.atleast_1d(axis))]
    kept = [one for one in range(values.ndim) if one not in axes]
    rows = values.transpose([*kept, *sorted(axes)]).reshape(*(values.shape[one] for one in kept), -1)
    total = lost = np.zeros(rows.shape[:-1], values.dtype)
    for place in range(rows.shape[-1]):
        more = rows[..., place] - lost
        total, lost = total + more, ((total + more) - total) - more
    return np.expand_dims(total, tuple(sorted(axes))) if keepdims else total


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "uint8", "int32"])
@pytest.mark.parametrize("axis", [None, 0, -1, (0, 1), (1, 2), (0, 1, 2), (2, 0)])
def test_reductions_when_channels_are_left_or_joined_then_equal_numpys_or_keep_what_is_lost(axis, dtype) -> None:
    values = (PIXELS / 255 if dtype == "float16" else PIXELS).astype(dtype)
    array = mx.nd.array(values, dtype=dtype)
    for keepdims in (False, True):
        to = {"axis": axis, "keepdims": keepdims}
        pairs = [(mx.nd.max, np.max(values, **to)), (mx.nd.min, np.min(values, **to))]
        total = np.sum(values, dtype=dtype, **to)
        if dtype in ("float32", "float64"):
            total = _added(values, **to)
            pairs.append((mx.nd.mean, total / values.dtype.type(values.size // total.size)))
        pairs.append((mx.nd.sum, total))
        for function, expected in pairs:
            found = function(array, **to).asnumpy()
            assert (found.dtype, found.shape) == (values.dtype, np.atleast_1d(expected).shape)
            assert np.array_equal(found, np.atleast_1d(expected))


@pytest.mark.parametrize("axis", [3, (0, 0), -4])
def test_reductions_when_an_axis_is_not_there_then_are_refused(axis) -> None:
    for function in (mx.nd.sum, mx.nd.mean, mx.nd.max):
        with pytest.raises(ValueError, match="axis"):
            function(mx.nd.array(PIXELS), axis=axis)
