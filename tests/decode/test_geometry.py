"""Geometry of batches compared with the same rules written for one image in plain Python."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

import recordmill as rm
from recordmill.decode.geometry import GeometryPlan, build_inverse_matrices, plan_geometry
from recordmill.decode.random import Stage

SIZES = st.lists(st.tuples(st.integers(1, 500), st.integers(1, 500)), min_size=1, max_size=8)
SIDES = st.tuples(st.integers(1, 300), st.integers(1, 300))
SEEDS = st.integers(0, 2**64 - 1)


def plan(sizes, spec: rm.Image, seed: int = 0, first: int = 0) -> tuple[GeometryPlan, np.ndarray]:
    positions = np.arange(first, first + len(sizes))
    return plan_geometry(np.array(sizes, np.int64).reshape(-1, 2), spec, rm.Draws(seed), positions)


def random_window(width: int, height: int, crop: rm.RandomResizedCrop, draws: rm.Draws, position: int) -> list[int]:
    """Choose a window with torchvision's algorithm, for one image."""
    unit = draws.uniform([position], Stage.CROP, 20)[0]
    for attempt in range(10):
        area = width * height * (crop.scale[0] + (crop.scale[1] - crop.scale[0]) * unit[2 * attempt])
        low, high = (math.log(end) for end in crop.ratio)
        ratio = math.exp(low + (high - low) * unit[2 * attempt + 1])
        w, h = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
        if 0 < w <= width and 0 < h <= height:
            x = int(draws.integers([position], Stage.CROP, width - w + 1, first=20)[0])
            y = int(draws.integers([position], Stage.CROP, height - h + 1, first=21)[0])
            return [x, y, w, h]
    if width / height < crop.ratio[0]:
        w, h = width, round(width / crop.ratio[0])
    elif width / height > crop.ratio[1]:
        w, h = round(height * crop.ratio[1]), height
    else:
        w, h = width, height
    w, h = max(1, min(w, width)), max(1, min(h, height))
    return [(width - w) // 2, (height - h) // 2, w, h]


@given(SIZES, SEEDS, st.tuples(st.floats(0.01, 1), st.floats(0.01, 1)), st.tuples(st.floats(0.2, 5), st.floats(0.2, 5)))
def test_random_resized_crop_follows_the_published_algorithm(sizes, seed, scale, ratio) -> None:
    crop = rm.RandomResizedCrop((5, 7), scale=sorted(scale), ratio=sorted(ratio))
    geometry, too_small = plan(sizes, rm.Image(crop=crop), seed, first=3)
    expected = [random_window(*size, crop, rm.Draws(seed), 3 + row) for row, size in enumerate(sizes)]
    assert geometry.windows.tolist() == expected and not too_small.any()
    assert geometry.crops.tolist() == [[0, 0, 7, 5]] * len(sizes) and geometry.resized.tolist() == [[7, 5]] * len(sizes)


def test_random_resized_crop_falls_back_to_largest_center_window() -> None:
    crop = rm.RandomResizedCrop(8, scale=(1, 1), ratio=(1, 1))
    geometry, _ = plan([(100, 20), (20, 101)], rm.Image(crop=crop))
    assert geometry.windows.tolist() == [[40, 0, 20, 20], [0, 40, 20, 20]]


def test_random_resized_crop_draws_uniform_area_and_position() -> None:
    geometry, _ = plan([(400, 400)] * 4000, rm.Image(crop=rm.RandomResizedCrop(8, scale=(0.25, 0.5), ratio=(1, 1))))
    x, _, width, height = geometry.windows.T
    areas = width * height / 160_000
    assert abs(areas.mean() - 0.375) < 0.006 and abs(np.quantile(areas, [0.25, 0.75]) - [0.3125, 0.4375]).max() < 0.01
    assert abs((x / (400 - width)).mean() - 0.5) < 0.02 and (width == height).all()


@given(SIZES, SIDES)
def test_resize_to_a_size_applies_to_every_image(sizes, side) -> None:
    geometry, _ = plan(sizes, rm.Image(resize=rm.Resize(side)))
    assert geometry.resized.tolist() == [[side[1], side[0]]] * len(sizes) == geometry.output_sizes().tolist()
    assert geometry.windows.tolist() == [[0, 0, *size] for size in sizes]


@given(SIZES, st.integers(1, 300))
def test_resize_of_shorter_side_keeps_aspect_ratio(sizes, shorter) -> None:
    geometry, _ = plan(sizes, rm.Image(resize=rm.Resize(shorter=shorter)))
    for (width, height), resized in zip(sizes, geometry.resized.tolist(), strict=True):
        short, long = sorted((width, height))
        assert sorted(resized) == [shorter, long * shorter // short]
        assert (resized[0] < resized[1]) <= (width < height)


@given(SIZES, SIDES, st.sampled_from(["even", "floor"]))
def test_center_crop_pads_small_images_around_their_center(sizes, side, center) -> None:
    geometry, too_small = plan(
        sizes, rm.Image(crop=rm.CenterCrop(side, small="pad"), like="pillow" if center == "even" else "opencv")
    )
    assert not too_small.any()
    for size, crop in zip(sizes, geometry.crops.tolist(), strict=True):
        for length, side_length, corner in zip(size, side[::-1], crop[:2], strict=True):
            room = length - side_length
            if room < 0:
                assert corner == -((side_length - length) // 2)
            else:
                assert corner == (round(room / 2) if center == "even" else room // 2)
        assert crop[2:] == [side[1], side[0]]


def test_center_crop_reports_images_that_are_too_small() -> None:
    _, too_small = plan([(10, 10), (9, 10), (10, 9), (11, 11)], rm.Image(crop=rm.CenterCrop(10)))
    assert too_small.tolist() == [False, True, True, False]


@given(SIZES, SIDES, SEEDS)
def test_random_crop_stays_within_the_padded_image(sizes, side, seed) -> None:
    crop = rm.RandomCrop(side, padding=(1, 2, 3, 4))
    geometry, too_small = plan(sizes, rm.Image(crop=crop), seed)
    for (width, height), (x, y, w, h), small in zip(sizes, geometry.crops.tolist(), too_small, strict=True):
        assert small == (width + 4 < w or height + 6 < h) and (h, w) == side
        assert small or (-1 <= x <= width + 3 - w and -2 <= y <= height + 4 - h)


def test_random_crop_draws_all_corners_equally_often() -> None:
    geometry, _ = plan([(6, 5)] * 6000, rm.Image(crop=rm.RandomCrop(5, padding=1)))
    corners, counts = np.unique(geometry.crops[:, :2], axis=0, return_counts=True)
    assert corners.tolist() == [[x, y] for x in (-1, 0, 1, 2) for y in (-1, 0, 1)]
    assert abs(counts - 500).max() < 110


def test_random_crop_pads_both_sides_of_small_images() -> None:
    geometry, too_small = plan([(4, 20)] * 2000, rm.Image(crop=rm.RandomCrop((10, 7), padding=1, small="pad")))
    assert not too_small.any()
    assert np.unique(geometry.crops[:, 0]).tolist() == [-2, -1]
    assert np.unique(geometry.crops[:, 1]).tolist() == list(range(-1, 12))


@given(SIZES, SIDES)
def test_crop_enlarges_small_images_to_its_size(sizes, side) -> None:
    geometry, too_small = plan(sizes, rm.Image(crop=rm.CenterCrop(side, small="enlarge")))
    assert not too_small.any()
    assert [tuple(size) for size in geometry.resized.tolist()] == [enlarged(*size, side[1], side[0]) for size in sizes]


def enlarged(width: int, height: int, goal_width: int, goal_height: int) -> tuple[int, int]:
    """Return the size after MXNet's ImageRecordIter: enlarged to the height, then to the width, rounded down."""
    if height < goal_height:
        width, height = max(1, int(np.float32(goal_height) / np.float32(height) * np.float32(width))), goal_height
    if width < goal_width:
        width, height = goal_width, max(1, int(np.float32(goal_width) / np.float32(width) * np.float32(height)))
    return width, height


def test_flips_are_independent_and_have_their_probabilities() -> None:
    geometry, _ = plan([(4, 4)] * 8000, rm.Image(flip=rm.Flip(0.5, 0.25)))
    assert abs(geometry.flips.mean(axis=0) - [0.5, 0.25]).max() < 0.02
    assert abs(geometry.flips.all(axis=1).mean() - 0.125) < 0.02
    certain, _ = plan([(4, 4)] * 3, rm.Image(flip=rm.Flip(1, 0)))
    assert certain.flips.tolist() == [[True, False]] * 3


def test_plan_geometry_requires_draws_for_random_steps_only() -> None:
    sizes, positions = np.array([[9, 9]]), np.array([0])
    for spec in (
        rm.Image(crop=rm.RandomCrop(3)),
        rm.Image(crop=rm.RandomResizedCrop(3)),
        rm.Image(flip=rm.Flip()),
        rm.Image(affine=rm.RandomAffine(3)),
    ):
        with pytest.raises(ValueError, match="rng=seed"):
            plan_geometry(sizes, spec, None, positions)
    for spec in (rm.Image(), rm.Image(flip=rm.Flip(1)), rm.Image(crop=rm.CenterCrop(3), resize=rm.Resize(4))):
        assert len(plan_geometry(sizes, spec, None, positions)[0]) == 1


def one_matrix(angle=0.0, shift=(0.0, 0.0), scale=1.0, slant=0.0, size=(10, 6)) -> np.ndarray:
    numbers = (np.array([value]) for value in (np.deg2rad(angle), scale, np.deg2rad(slant)))
    turn, enlarge, shear = numbers
    return build_inverse_matrices(np.array([size]), turn, np.array([shift]), enlarge, shear)[0]


def test_build_inverse_matrices_rotate_clockwise() -> None:
    matrix = one_matrix(angle=90)
    np.testing.assert_allclose(matrix @ [5, 3, 1], [5, 3], atol=1e-12)
    # The pixel right of the center comes from above the center.
    np.testing.assert_allclose(matrix @ [7, 3, 1], [5, 1], atol=1e-12)


def test_build_inverse_matrices_invert_shift_scale_and_shear() -> None:
    np.testing.assert_allclose(one_matrix(shift=(2, -1)) @ [5, 3, 1], [3, 4], atol=1e-12)
    np.testing.assert_allclose(one_matrix(scale=2) @ [7, 3, 1], [6, 3], atol=1e-12)
    # Shearing by 45 degrees along x moves rows below the center to the left.
    np.testing.assert_allclose(one_matrix(slant=45) @ [3, 5, 1], [5, 5], atol=1e-12)


def test_random_affine_stays_within_its_ranges() -> None:
    affine = rm.RandomAffine(degrees=(10, 20), translate=(0.1, 0.5), scale=(2, 3))
    geometry, _ = plan([(100, 40)] * 500, rm.Image(affine=affine))
    forward = np.linalg.inv(geometry.matrices[:, :, :2])
    angles = np.rad2deg(np.arctan2(forward[:, 1, 0], forward[:, 0, 0]))
    scales = np.sqrt(np.linalg.det(forward))
    assert 10 <= angles.min() < 10.5 and 19.5 < angles.max() <= 20
    assert 2 <= scales.min() < 2.05 and 2.95 < scales.max() <= 3
    middle = np.array([50, 20])
    shifts = (
        -np.einsum("nij,nj->ni", forward, geometry.matrices[:, :, 2]) - middle + np.einsum("nij,j->ni", forward, middle)
    )
    assert abs(shifts).max(axis=0).round(6).tolist() == [10, 20]


@given(SIZES, SEEDS, st.booleans())
def test_point_maps_map_windows_to_outputs(sizes, seed, turn) -> None:
    affine = rm.RandomAffine(30, (0.2, 0.2), (0.5, 2), 10) if turn else None
    geometry, _ = plan(sizes, rm.Image(crop=rm.RandomResizedCrop((9, 12)), flip=rm.Flip(0.5, 0.5), affine=affine), seed)
    maps = geometry.point_maps()
    for row in range(len(sizes)):
        x, y, w, h = geometry.windows[row].tolist()
        corners = np.array([[x, y, 1], [x + w, y + h, 1]])
        mapped = corners @ maps[row].T[:, :2]
        if geometry.matrices is not None:
            mapped = np.concatenate([mapped, np.ones((2, 1))], axis=1) @ geometry.matrices[row].T
        expected = np.array([[0, 0], [12, 9]])
        for axis in (0, 1):
            if geometry.flips[row, axis]:
                expected[:, axis] = expected[::-1, axis]
        np.testing.assert_allclose(mapped, expected, atol=1e-6)
