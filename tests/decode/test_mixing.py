"""mixup and cutmix: weights of images and labels, and the inputs they depend on."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

import recordmill as rm

IMAGES = np.random.default_rng(0).random((5, 3, 8, 6), np.float32)
LABELS = np.array([0, 1, 2, 3, 3])


@given(st.integers(0, 999), st.integers(0, 2**40), st.sampled_from([0.1, 0.2, 1.0, 8.0]))
def test_mixup_blends_images_and_labels_with_equal_weights(seed: int, position: int, alpha: float) -> None:
    images, labels = rm.mixup(IMAGES, LABELS, rng=seed, position=position, alpha=alpha, num_classes=4)
    share = labels[0, 0]
    np.testing.assert_allclose(images, share * IMAGES + (1 - share) * np.roll(IMAGES, 1, axis=0), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(labels.sum(axis=1), 1, rtol=1e-6)
    assert labels.dtype == np.float32 and labels[4, 3] == 1 and labels[0, 3] == 1 - share


@given(st.integers(0, 999), st.sampled_from(["chw", "hwc"]))
def test_cutmix_replaces_one_rectangle_and_blends_labels_by_area(seed: int, layout: str) -> None:
    given_images = IMAGES if layout == "chw" else IMAGES.transpose(0, 2, 3, 1)
    images, labels = rm.cutmix(given_images, LABELS, rng=seed, num_classes=4, layout=layout)
    axis = 1 if layout == "chw" else 3
    other = (images != given_images).any(axis=axis)
    np.testing.assert_array_equal(
        images, np.where(np.expand_dims(other, axis), np.roll(given_images, 1, axis=0), images)
    )
    rows, columns = np.flatnonzero(other[0].any(axis=1)), np.flatnonzero(other[0].any(axis=0))
    assert (other == other[0]).all() and other[0].sum() == len(rows) * len(columns)
    assert not len(rows) or (np.ptp(rows) < len(rows) and np.ptp(columns) < len(columns))
    np.testing.assert_allclose(labels[0, 0], 1 - other[0].mean(), rtol=1e-6)


def test_mixing_depends_on_seed_epoch_and_position() -> None:
    shares = {
        rm.mixup(IMAGES, LABELS, rng=seed, epoch=epoch, position=position, num_classes=4)[1][0, 0]
        for seed in (0, 1)
        for epoch in (0, 1)
        for position in (0, 5)
    }
    assert len(shares) == 8
    same = [rm.mixup(IMAGES, LABELS, rng=rng, num_classes=4)[0] for rng in (3, rm.Draws(3))]
    np.testing.assert_array_equal(*same)


def test_mixing_accepts_label_weights() -> None:
    images, labels = rm.mixup(IMAGES, LABELS, rng=1, num_classes=4)
    _, twice = rm.cutmix(images, labels, rng=1)
    assert twice.shape == (5, 4) and abs(twice.sum(axis=1) - 1).max() < 1e-6


def test_mixing_keeps_batch_of_one_image() -> None:
    images, labels = rm.cutmix(IMAGES[:1], LABELS[:1], rng=1, num_classes=2)
    np.testing.assert_array_equal(images, IMAGES[:1])
    assert labels.tolist() == [[1, 0]]


def test_mixup_keeps_float16() -> None:
    assert rm.mixup(IMAGES.astype(np.float16), LABELS, rng=1, num_classes=4)[0].dtype == np.float16


@pytest.mark.parametrize(
    "call, error, message",
    [
        (lambda: rm.mixup(IMAGES.astype(np.uint8), LABELS, rng=0, num_classes=4), TypeError, "float16 or float32"),
        (lambda: rm.mixup(IMAGES, LABELS, rng=0), ValueError, "num_classes"),
        (lambda: rm.mixup(IMAGES, LABELS, rng=0, num_classes=3), ValueError, "0 to 2"),
        (lambda: rm.mixup(IMAGES, LABELS - 1, rng=0, num_classes=4), ValueError, "0 to 3"),
        (lambda: rm.mixup(IMAGES, LABELS[:4], rng=0, num_classes=4), ValueError, "one entry for each of 5 images"),
        (lambda: rm.mixup(IMAGES, LABELS * 0.5, rng=0, num_classes=4), TypeError, "class numbers"),
        (lambda: rm.mixup(IMAGES, LABELS, rng=None, num_classes=4), TypeError, "rng must be a seed"),
        (lambda: rm.mixup(IMAGES, LABELS, rng=0, alpha=0, num_classes=4), ValueError, "alpha"),
        (lambda: rm.cutmix(IMAGES[0], LABELS, rng=0, num_classes=4), ValueError, "four axes"),
        (lambda: rm.cutmix(IMAGES, LABELS, rng=0, num_classes=4, layout="nchw"), ValueError, "layout"),
    ],
)
def test_mixing_rejects_invalid_arguments(call, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()
