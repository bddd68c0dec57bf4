"""Ways around NumPy's short inner loops give what NumPy gives, to the bit and whatever the arrays hold."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from recordmill.compat.short_axes import added, combined, place, reduced

SHAPES = [
    *((40, 50, 3), (4, 33, 31, 3), (5000, 3), (4097, 7), (3, 1, 2000, 8), (2000, 9), (60, 80, 1), (64, 64, 31)),
    *((64, 65, 32), (7, 5, 5, 40, 2), (2, 3, 3), (0, 40, 3), (3,), (5000,)),
]
PAIRS = [
    *(
        ((40, 50, 3), (3,)),
        ((40, 50, 3), (1, 1, 3)),
        ((16, 40, 50, 3), (16, 1, 1, 3)),
        ((2, 3, 40, 50, 4), (2, 3, 1, 1, 4)),
    ),
    *(((40, 50, 3), (40, 1, 3)), ((40, 50, 3), (40, 50, 1)), ((40, 50, 3), (1, 50, 3)), ((40, 50, 3), (40, 50, 3))),
    *(
        ((4096, 3), (1, 3)),
        ((1, 4099, 3), (1, 1, 3)),
        ((40, 50, 3), ()),
        ((40, 50, 3), (1,)),
        ((40, 50, 3), (1, 2, 40, 50, 3)),
    ),
    *(((0, 50, 3), (3,)), ((2, 3), (3,)), ((5, 2000, 40), (40,)), ((4097, 7), (4097, 1)), ((4097, 7), (7,))),
]


def values(shape, dtype="f4", seed=0) -> np.ndarray:
    """Numbers of all sizes; of floats some that are infinite, no numbers or negative zeros."""
    rng = np.random.default_rng(seed)
    if np.dtype(dtype).kind != "f":
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, shape, dtype, endpoint=True)
    found = (rng.standard_normal(shape) * 10.0 ** rng.integers(-4, 4, shape)).astype(dtype)
    for number, special in enumerate((np.nan, np.inf, -np.inf, -0.0)):
        found.reshape(-1)[number :: 97 + number] = special
    return found


def same(found, expected) -> None:
    """Hold dtype, shape and values against one another; one NaN is like another."""
    found, expected = np.asarray(found), np.asarray(expected)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    assert np.array_equal(found, expected, equal_nan=found.dtype.kind == "f")


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "u1", "i4"])
@pytest.mark.parametrize("shapes", PAIRS, ids=str)
def test_combined_when_shapes_broadcast_then_equals_the_function(shapes, dtype) -> None:
    a, b = values(shapes[0], dtype), values(shapes[1], dtype, 1)
    with np.errstate(all="ignore"):
        for compute in (np.subtract, np.true_divide, np.maximum, np.less):
            for one, other in ((a, b), (b, a)):
                same(combined(compute, one, other), compute(one, other))
        same(combined(np.add, np.asfortranarray(a), b), np.asfortranarray(a) + b)


def test_combined_when_shapes_do_not_broadcast_then_numpy_refuses_them() -> None:
    with pytest.raises(ValueError, match="broadcast"):
        combined(np.add, values((40, 50, 3)), values((4,)))


@pytest.mark.parametrize("other", [(3,), (40, 50, 1), (1, 1, 3), (40, 50, 3)])
def test_combined_when_the_result_has_a_place_then_is_put_there(other) -> None:
    a, b = values((40, 50, 3)), values(other, seed=1)
    out = np.empty_like(a)
    with np.errstate(all="ignore"):
        assert np.shares_memory(combined(np.multiply, a, b, out=out), out)
        same(out, a * b)


@pytest.mark.parametrize("part", [np.s_[..., :1], np.s_[..., 2:], np.s_[:1, :1], np.s_[::-1, :, :1], np.s_[..., ::-1]])
def test_combined_when_the_place_holds_an_input_then_all_of_it_is_read_before(part) -> None:
    whole = np.arange(40 * 50 * 3, dtype=np.float32).reshape(40, 50, 3)
    expected = whole - whole[part].copy()
    combined(np.subtract, whole, whole[part], out=whole)
    same(whole, expected)


@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_added_when_compared_with_numpy_then_every_bit_is_the_same(shape, dtype) -> None:
    array = values(shape, dtype)
    array[~np.isfinite(array)] = -0.0
    for axes in (axes for count in range(array.ndim + 1) for axes in combinations(range(array.ndim), count)):
        for keepdims in (False, True):
            found, expected = added(array, axes, keepdims=keepdims), array.sum(axes, keepdims=keepdims)
            assert np.asarray(found).tobytes() == np.asarray(expected).tobytes(), axes
            same(found, expected)


@pytest.mark.parametrize("dtype", ["f2", "f4", "u1", "i4", "i8"])
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_reduced_when_compared_with_numpy_then_is_the_same(shape, dtype) -> None:
    array = values(shape, dtype)
    least = -np.inf if array.dtype.kind == "f" else np.iinfo(dtype).min
    for view in (array, array[..., ::-1], array.T):
        for axes in (axes for count in range(view.ndim + 1) for axes in combinations(range(view.ndim), count)):
            found = reduced(np.maximum, view, axes, keepdims=True, initial=view.dtype.type(least))
            same(found, np.maximum.reduce(view, axes, keepdims=True, initial=view.dtype.type(least)))
            if array.dtype.kind != "f":
                found = reduced(np.add, view, axes, keepdims=False, dtype=view.dtype)
                same(found, np.add.reduce(view, axes, dtype=view.dtype))


@pytest.mark.parametrize("shape", [(40, 50, 3), (5000, 2), (700, 7), (4, 1)])
@pytest.mark.parametrize("dtype", ["f4", "u1", "i8"])
def test_place_when_values_are_equal_or_none_then_the_first_is_named(shape, dtype) -> None:
    array = values(shape, dtype) if dtype == "f4" else values(shape, dtype) // 100 * 100
    for view in (array, array[..., ::-1], np.zeros_like(array)):
        assert np.array_equal(place(view, largest=True), view.argmax(-1))
        assert np.array_equal(place(view, largest=False), view.argmin(-1))
