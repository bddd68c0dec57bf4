"""Affine maps and hues of bytes: against one pixel at a time in NumPy, and against hashes of what OpenCV 4.11 made."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import recordmill as rm
from recordmill.decode.transforms import invert_affine
from tests.decode import fixed

KERNELS = ["nearest", "bilinear", "cubic", "lanczos4"]
NUMBERS = st.floats(-2, 2, width=32)
FILL = (9, 99, 199, 255)


def picture(height, width, channels, seed=0):
    return np.random.RandomState(seed).randint(0, 256, (height, width, channels), np.uint8)


@settings(max_examples=40)
@given(
    st.tuples(st.integers(1, 12), st.integers(1, 12), st.integers(1, 4)),
    st.tuples(NUMBERS, NUMBERS, NUMBERS, NUMBERS, st.floats(-9, 9), st.floats(-9, 9)),
    st.tuples(st.integers(1, 9), st.integers(1, 9)),
    st.sampled_from(KERNELS),
)
def test_warp_affine_when_done_pixel_by_pixel_then_is_equal(shape, numbers, size, kernel) -> None:
    a, b, d, e, c, f = numbers
    image, matrix = picture(*shape), np.array([[a, b, c], [d, e, f]])
    found = rm.warp_affine(image, matrix, size, kernel=kernel, fill=FILL[: shape[2]], inverse=True)
    np.testing.assert_array_equal(found, fixed.warped(image, matrix, size, kernel, FILL))


# SHA-256 of what cv2.warpAffine (opencv-python-headless 4.11.0) made of picture(60, 70, 3), to 40 x 50 with FILL.
OPENCV = {
    "nearest": "224825123f998868",
    "bilinear": "f5c2cd1f8bb492ae",
    "cubic": "3e2676209328602f",
    "lanczos4": "0185c0286fb5f0e7",
}


@pytest.mark.parametrize("kernel", KERNELS)
def test_warp_affine_when_compared_with_opencv_then_is_equal(kernel) -> None:
    matrix = [[0.9, 0.35, -4.5], [-0.3, 1.1, 7.25]]
    found = rm.warp_affine(picture(60, 70, 3), matrix, (50, 40), kernel=kernel, fill=FILL[:3])
    assert hashlib.sha256(found.tobytes()).hexdigest()[:16] == OPENCV[kernel]


def test_warp_affine_when_a_map_is_given_there_then_it_is_turned_around() -> None:
    matrix = np.array([[0.9, 0.35, -4.5], [-0.3, 1.1, 7.25]])
    there = rm.warp_affine(picture(20, 30, 1)[:, :, 0], matrix, 25)
    assert there.shape == (25, 25)
    np.testing.assert_array_equal(
        there, rm.warp_affine(picture(20, 30, 1)[:, :, 0], invert_affine(matrix), 25, inverse=True)
    )
    assert invert_affine(np.zeros((2, 3))).tolist() == np.zeros((2, 3)).tolist()


@pytest.mark.parametrize(
    "arguments,error,words",
    [
        ((picture(4, 4, 3).astype(float), np.eye(3)[:2], 4), TypeError, "uint8"),
        ((picture(4, 4, 3)[None], np.eye(3)[:2], 4), ValueError, "array must have shape"),
        ((picture(4, 4, 3), np.eye(2), 4), ValueError, "finite numbers of shape \\(2, 3\\)"),
        ((picture(4, 4, 3), np.full((2, 3), np.nan), 4), ValueError, "finite numbers of shape \\(2, 3\\)"),
        ((picture(4, 4, 3), np.eye(3)[:2], 0), ValueError, "size"),
    ],
)
def test_warp_affine_when_nothing_can_be_moved_then_is_refused(arguments, error, words) -> None:
    with pytest.raises(error, match=words):
        rm.warp_affine(*arguments)


def test_warp_affine_when_options_are_wrong_then_they_are_named() -> None:
    with pytest.raises(ValueError, match="kernel"):
        rm.warp_affine(picture(4, 4, 3), np.eye(3)[:2], 4, kernel="area")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="fill must have 1 or"):
        rm.warp_affine(picture(4, 4, 3), np.eye(3)[:2], 4, fill=(1, 2))


def test_warp_affine_when_places_are_far_then_is_filled() -> None:
    for number in (1e300, -1e300, 1e6):
        found = rm.warp_affine(picture(4, 4, 3), [[1, 0, number], [0, 1, 0]], 5, fill=7, inverse=True)
        assert (found == 7).all()


COLORS = st.lists(st.tuples(*[st.integers(0, 255)] * 3), min_size=1, max_size=80)


@given(COLORS)
def test_hls_when_made_of_single_colors_then_is_equal(colors) -> None:
    pixels = np.array(colors, np.uint8)
    np.testing.assert_array_equal(rm.rgb_to_hls(pixels), [fixed.to_hls(one) for one in colors])
    np.testing.assert_array_equal(rm.hls_to_rgb(pixels), [fixed.from_hls(one) for one in colors])


def test_hls_when_of_known_colors_then_has_known_parts() -> None:
    colors = np.array([[255, 0, 0], [0, 255, 0], [0, 0, 255], [255] * 3, [0] * 3], np.uint8)
    parts = [[0, 128, 255], [60, 128, 255], [120, 128, 255], [0, 255, 0], [0, 0, 0]]
    assert rm.rgb_to_hls(colors).tolist() == parts
    # What MXNet's OpenCV 3.4 rounds another way than OpenCV 4.
    odd = np.array([[150, 148, 158], [156, 137, 134], [177, 188, 118]], np.uint8)
    together, alone = [[126, 153, 12], [4, 145, 26], [35, 153, 88]], [[126, 153, 13], [4, 145, 25], [35, 153, 87]]
    assert rm.rgb_to_hls(odd).tolist() == rm.rgb_to_hls(odd[None], behind=0)[0].tolist() == together
    assert rm.rgb_to_hls(odd[None]).tolist() == [alone]
    assert rm.rgb_to_hls(np.concatenate([odd, odd])[None]).tolist() == [[*together, together[0], *alone[1:]]]
    with pytest.raises(ValueError, match="behind"):
        rm.rgb_to_hls(odd[None], behind=4)


@pytest.mark.parametrize("change", [rm.rgb_to_hls, rm.hls_to_rgb])
def test_hls_when_not_of_bytes_of_three_channels_then_is_refused(change) -> None:
    with pytest.raises(TypeError, match="uint8"):
        change(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="array must have shape"):
        change(np.zeros((2, 4), np.uint8))
