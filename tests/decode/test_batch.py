"""Batches equal the single-image steps, and do not depend on threads or on how an epoch is divided."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from PIL import Image

import recordmill as rm
from recordmill.decode.geometry import plan_geometry
from tests.images import encode_image, encode_jpeg, encode_oriented_jpeg, encode_palette_mask, encode_png

MIXED = [
    encode_jpeg(0, 40, 30),
    encode_png(1, 33, 47),
    encode_jpeg(2, 31, 31, mode="L"),
    encode_png(3, 50, 32, mode="RGBA"),
    encode_jpeg(4, 64, 40),
    encode_png(5),
]
RANDOM = {
    "image": rm.Image(
        crop=rm.RandomResizedCrop((12, 16), scale=(0.2, 1)),
        flip=rm.Flip(0.5, 0.3),
        affine=rm.RandomAffine(15, (0.1, 0.1), (0.8, 1.2), 5, kernel="bilinear", fill=(1, 2, 3)),
        color=[rm.ColorJitter(0.4, 0.4, 0.4, 0.1), rm.RandomGrayscale(0.3), rm.PCANoise(0.5), rm.RandomErasing(0.5)],
        mean=rm.IMAGENET_MEAN,
        std=rm.IMAGENET_STD,
    )
}


@given(st.integers(0, 2**64 - 1), st.integers(0, 9), st.lists(st.integers(1, 5), max_size=3))
@settings(max_examples=15)
def test_decode_batch_does_not_depend_on_batch_boundaries(seed: int, epoch: int, cuts: list[int]) -> None:
    whole = rm.decode_batch(MIXED, RANDOM, rng=seed, epoch=epoch)["image"]
    bounds = sorted({0, *cuts, len(MIXED)})
    parts = [
        rm.decode_batch(MIXED[start:stop], RANDOM, rng=rm.Draws(seed, epoch), positions=range(start, stop))["image"]
        for start, stop in pairwise(bounds)
    ]
    np.testing.assert_array_equal(np.concatenate(parts), whole)


def test_decode_batch_does_not_depend_on_threads() -> None:
    alone = rm.decode_batch(MIXED * 3, RANDOM, rng=5)["image"]
    for threads in (0, 2, 5, 64):
        np.testing.assert_array_equal(rm.decode_batch(MIXED * 3, RANDOM, rng=5, threads=threads)["image"], alone)


def test_decode_batch_draws_by_position_not_by_row() -> None:
    first = rm.decode_batch(MIXED, RANDOM, rng=5, positions=[9, 8, 7, 3, 2, 1])["image"]
    second = rm.decode_batch(MIXED[::-1], RANDOM, rng=5, positions=[1, 2, 3, 7, 8, 9])["image"]
    np.testing.assert_array_equal(first, second[::-1])


def test_decode_batch_depends_on_seed_and_epoch() -> None:
    seen = [rm.decode_batch(MIXED, RANDOM, rng=s, epoch=e)["image"].tobytes() for s in (0, 1) for e in (0, 1)]
    assert len(set(seen)) == 4


LIKES = st.sampled_from(["pillow", "opencv", "tensorflow", "mxnet"])
CROPS = st.sampled_from(
    [
        rm.RandomResizedCrop((9, 13)),
        rm.CenterCrop((10, 11), small="pad", fill=50),
        rm.CenterCrop(40, small="enlarge"),
        rm.RandomCrop((12, 9), padding=(0, 1, 2, 3), fill=(10, 20, 30)),
        rm.RandomCrop(10, padding=4, mode="reflect"),
        rm.RandomCrop(45, mode="edge", small="pad"),
    ]
)


@given(LIKES, CROPS, st.booleans(), st.sampled_from(["chw", "hwc"]), st.sampled_from(["float16", "float32"]), st.data())
@settings(max_examples=40)
def test_decode_batch_equals_the_single_image_steps(like, crop, turn, layout, dtype, data) -> None:
    resize = (
        None
        if isinstance(crop, rm.RandomResizedCrop)
        else data.draw(st.sampled_from([None, rm.Resize((21, 17)), rm.Resize(shorter=19)]))
    )
    spec = rm.Image(
        crop=crop,
        resize=resize,
        flip=rm.Flip(0.5, 0.5),
        affine=rm.RandomAffine(20, fill=9) if turn else None,
        like=like,
        dct="accurate",
        channels="rgb",
        mean=rm.IMAGENET_MEAN,
        std=rm.IMAGENET_STD,
        layout=layout,
        dtype=dtype,
    )
    files, seed = (
        [encode_jpeg(1, 40, 30), encode_oriented_jpeg(6, 2, 33, 47), encode_png(3, 15, 52)],
        data.draw(st.integers(0, 99)),
    )
    batch = rm.decode_batch(files, {"image": spec}, rng=seed, threads=2)["image"]
    whole = [rm.decode_image(file, like=like, dct="accurate", channels="rgb") for file in files]
    sizes = np.array([pixels.shape[1::-1] for pixels in whole])
    geometry, _ = plan_geometry(sizes, spec, rm.Draws(seed), np.arange(3))
    for row, pixels in enumerate(whole):
        x, y, w, h = geometry.windows[row].tolist()
        width, height = geometry.resized[row].tolist()
        step = rm.crop(pixels, (x, y, w, h))
        step = step if (w, h) == (width, height) else rm.resize(step, (height, width), like=like)
        mode = crop.mode if isinstance(crop, rm.RandomCrop) else "constant"
        fill = getattr(crop, "fill", 0)
        step = rm.crop(step, tuple(geometry.crops[row].tolist()), mode=mode, fill=fill)
        step = rm.flip(step, horizontal=geometry.flips[row, 0], vertical=geometry.flips[row, 1])
        if turn:
            step = rm.affine(step, geometry.matrices[row], fill=9)
        step = rm.normalize(step, rm.IMAGENET_MEAN, rm.IMAGENET_STD, layout=layout, dtype=dtype)
        np.testing.assert_array_equal(batch[row], step)


@given(st.integers(0, 99), st.sampled_from([1, 6]))
@settings(max_examples=20)
def test_reduce_auto_picks_the_smallest_size_that_is_large_enough(seed: int, orientation: int) -> None:
    crop = rm.RandomResizedCrop((16, 20), scale=(0.02, 1))
    spec = rm.Image(crop=crop, reduce="auto", orientation="apply", layout="hwc")
    files = [encode_oriented_jpeg(orientation, number, 331, 257) for number in range(3)]
    batch = rm.decode_batch(files, {"image": spec}, rng=seed)["image"]
    sizes = np.array([rm.decode_image(file, orientation="apply").shape[1::-1] for file in files])
    geometry, _ = plan_geometry(sizes, rm.Image(crop=crop), rm.Draws(seed), np.arange(3))
    for row, file in enumerate(files):
        x, y, w, h = geometry.windows[row].tolist()
        scale = max(s for s in (1, 2, 4, 8) if s == 1 or (w // s >= 20 and h // s >= 16))
        x0, y0, x1, y1 = x // scale, y // scale, -(-(x + w) // scale), -(-(y + h) // scale)
        part = rm.decode_image(file, orientation="apply", scale=scale, window=(x0, y0, x1 - x0, y1 - y0))
        np.testing.assert_array_equal(batch[row], rm.resize(part, (16, 20)))


def test_reduce_auto_does_not_move_masks_boxes_or_other_formats() -> None:
    geometry = {"resize": rm.Resize((16, 20)), "flip": rm.Flip(1)}
    data, _ = encode_palette_mask(0, 331, 257)
    columns = {
        "image": [encode_jpeg(0, 331, 257)],
        "other": [encode_png(0, 331, 257)],
        "mask": [data],
        "box": [np.array([9, 9, 200, 99])],
    }
    follow = {"mask": rm.Mask(), "box": rm.Boxes()}
    one, auto = (
        rm.decode_batch(columns, {"image": spec, "other": spec, **follow})
        for spec in (rm.Image(**geometry), rm.Image(**geometry, reduce="auto"))
    )
    for name in ("other", "mask"):
        np.testing.assert_array_equal(one[name], auto[name])
    np.testing.assert_array_equal(one["box"].data, auto["box"].data)
    assert (one["image"] != auto["image"]).any()


def test_color_steps_equal_the_single_image_functions() -> None:
    spec = rm.Image(
        color=[rm.ColorJitter(brightness=(0.5, 0.5)), rm.ColorJitter(contrast=(1.5, 1.5)), rm.RandomGrayscale(1)],
        layout="hwc",
    )
    expected = rm.grayscale(rm.adjust_contrast(rm.adjust_brightness(rm.decode_image(MIXED[0]), 0.5), 1.5))
    np.testing.assert_array_equal(rm.decode_batch(MIXED[:1], {"image": spec}, rng=0)["image"][0], expected)


def test_color_steps_round_fractional_levels_first() -> None:
    color = [rm.ColorJitter(brightness=(0.5, 0.5))]
    spec = rm.Image(resize=rm.Resize((9, 11)), color=color, like="tensorflow", dct="accurate", layout="hwc")
    scaled = rm.resize(rm.decode_image(MIXED[0]), (9, 11), like="tensorflow")
    expected = rm.adjust_brightness(np.rint(scaled).astype(np.uint8), 0.5)
    np.testing.assert_array_equal(rm.decode_batch(MIXED[:1], {"image": spec}, rng=0)["image"][0], expected)


def test_color_jitter_changes_images_with_its_probability() -> None:
    spec = {"image": rm.Image(color=[rm.ColorJitter(0.5, 0.5, 0.5, 0.2, probability=0.25)], layout="hwc")}
    batch = rm.decode_batch(MIXED[:1] * 200, spec, rng=1)["image"]
    changed = (batch != rm.decode_image(MIXED[0])).any(axis=(1, 2, 3)).mean()
    assert 0.15 < changed < 0.35


def test_random_erasing_paints_one_rectangle_within_its_scale() -> None:
    spec = {"image": rm.Image(color=[rm.RandomErasing(1, scale=(0.1, 0.3), fill=(0, 255, 7))], layout="hwc")}
    image = encode_png(3, 40, 30)
    for painted in rm.decode_batch([image] * 40, spec, rng=1)["image"]:
        where = (painted == (0, 255, 7)).all(axis=2)
        rows, columns = np.flatnonzero(where.any(axis=1)), np.flatnonzero(where.any(axis=0))
        area = (rows[-1] - rows[0] + 1) * (columns[-1] - columns[0] + 1)
        assert where.sum() == area and 0.08 < area / 1200 < 0.33
        np.testing.assert_array_equal(painted[~where], rm.decode_png(image)[~where])


def test_pca_noise_shifts_all_pixels_of_an_image_equally() -> None:
    spec = {"image": rm.Image(color=[rm.PCANoise(0.3)], layout="hwc")}
    flat = encode_image(Image.fromarray(np.full((4, 4, 3), 128, np.uint8)))
    batch = rm.decode_batch([flat] * 300, spec, rng=2)["image"].astype(float)
    assert (batch == batch[:, :1, :1]).all()
    shifts = batch[:, 0, 0] - 128
    assert abs(shifts.mean(axis=0)).max() < 3
    expected = 0.3 * 255 * np.array([0.1246, 0.1264, 0.1277])  # norms of the axes, weighted by the deviations
    np.testing.assert_allclose(shifts.std(axis=0), expected, rtol=0.15)


def test_equal_specs_of_a_sample_share_random_parameters() -> None:
    columns = {"left": MIXED[:4], "right": MIXED[:4]}
    spec = RANDOM["image"]
    batch = rm.decode_batch(columns, {"left": spec, "right": spec}, rng=3)
    np.testing.assert_array_equal(batch["left"], batch["right"])


@pytest.mark.parametrize("kernel", ["opencv:bilinear", "tensorflow:bilinear", "pillow:bilinear", "opencv:area"])
@pytest.mark.parametrize("size", [(9, 7), (40, 31), (100, 20), (20, 100)])
def test_fused_decode_and_resize_equals_separate_steps(kernel: str, size: tuple[int, int]) -> None:
    files = [encode_jpeg(seed, *shape) for seed, shape in enumerate([(301, 230), (128, 333), (77, 55)])]
    for channels, like, mode in (
        ("rgb", "pillow", "accurate"),
        ("rgb", "opencv", "accurate"),
        ("gray", "tensorflow", "fast"),
    ):
        options = {"channels": channels, "kernel": kernel, "dtype": "float32", "white": 255.0, "layout": "hwc"}
        image = rm.Image(like=like, resize=size, **options)
        for file, found in zip(files, rm.decode_batch(files, {"image": image})["image"], strict=True):
            pixels = rm.decode_jpeg(file, channels=channels, mode=mode)
            whole = rm.resize(pixels, size, kernel=kernel).astype(np.float32)
            np.testing.assert_array_equal(found.reshape(whole.shape), whole)
