"""Compare warp_affine with a reference in NumPy, and with hashes of the results of OpenCV 4.11."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import recordmill as rm
from recordmill.decode.transforms import invert_affine
from tests.decode import opencv_reference

KERNELS = ["nearest", "bilinear", "cubic", "lanczos4"]
NUMBERS = st.floats(-2, 2, width=32)
FILL = (9, 99, 199, 255)


def random_image(height, width, channels, seed=0):
    return np.random.RandomState(seed).randint(0, 256, (height, width, channels), np.uint8)


@settings(max_examples=40)
@given(
    st.tuples(st.integers(1, 12), st.integers(1, 12), st.integers(1, 4)),
    st.tuples(NUMBERS, NUMBERS, NUMBERS, NUMBERS, st.floats(-9, 9), st.floats(-9, 9)),
    st.tuples(st.integers(1, 9), st.integers(1, 9)),
    st.sampled_from(KERNELS),
)
def test_warp_affine_equals_reference(shape, numbers, size, kernel) -> None:
    a, b, d, e, c, f = numbers
    image, matrix = random_image(*shape), np.array([[a, b, c], [d, e, f]])
    found = rm.warp_affine(image, matrix, size, kernel=kernel, fill=FILL[: shape[2]], inverse=True)
    np.testing.assert_array_equal(found, opencv_reference.warp_affine(image, matrix, size, kernel, FILL))


# SHA-256 of random_image(60, 70, 3) warped to 40 x 50 with FILL by cv2.warpAffine (opencv-python-headless 4.11.0).
OPENCV = {
    "nearest": "224825123f998868",
    "bilinear": "f5c2cd1f8bb492ae",
    "cubic": "3e2676209328602f",
    "lanczos4": "0185c0286fb5f0e7",
}


@pytest.mark.parametrize("kernel", KERNELS)
def test_warp_affine_equals_opencv_hashes(kernel) -> None:
    matrix = [[0.9, 0.35, -4.5], [-0.3, 1.1, 7.25]]
    found = rm.warp_affine(random_image(60, 70, 3), matrix, (50, 40), kernel=kernel, fill=FILL[:3])
    assert hashlib.sha256(found.tobytes()).hexdigest()[:16] == OPENCV[kernel]


def test_warp_affine_inverts_forward_maps() -> None:
    matrix = np.array([[0.9, 0.35, -4.5], [-0.3, 1.1, 7.25]])
    warped = rm.warp_affine(random_image(20, 30, 1)[:, :, 0], matrix, 25)
    assert warped.shape == (25, 25)
    np.testing.assert_array_equal(
        warped, rm.warp_affine(random_image(20, 30, 1)[:, :, 0], invert_affine(matrix), 25, inverse=True)
    )
    assert invert_affine(np.zeros((2, 3))).tolist() == np.zeros((2, 3)).tolist()


@pytest.mark.parametrize(
    "arguments,error,words",
    [
        ((random_image(4, 4, 3).astype(float), np.eye(3)[:2], 4), TypeError, "uint8"),
        ((random_image(4, 4, 3)[None], np.eye(3)[:2], 4), ValueError, "array must have shape"),
        ((random_image(4, 4, 3), np.eye(2), 4), ValueError, "matrix must have shape \\(2, 3\\), got \\(2, 2\\)"),
        ((random_image(4, 4, 3), np.full((2, 3), np.nan), 4), ValueError, "matrix must contain only finite numbers"),
        ((random_image(4, 4, 3), np.eye(3)[:2], 0), ValueError, "size"),
    ],
)
def test_warp_affine_rejects_invalid_arrays_and_matrices(arguments, error, words) -> None:
    with pytest.raises(error, match=words):
        rm.warp_affine(*arguments)


def test_warp_affine_names_invalid_options() -> None:
    with pytest.raises(ValueError, match="kernel"):
        rm.warp_affine(random_image(4, 4, 3), np.eye(3)[:2], 4, kernel="area")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="fill must have 1 or"):
        rm.warp_affine(random_image(4, 4, 3), np.eye(3)[:2], 4, fill=(1, 2))


def test_warp_affine_fills_far_coordinates() -> None:
    for number in (1e300, -1e300, 1e6):
        found = rm.warp_affine(random_image(4, 4, 3), [[1, 0, number], [0, 1, 0]], 5, fill=7, inverse=True)
        assert (found == 7).all()
