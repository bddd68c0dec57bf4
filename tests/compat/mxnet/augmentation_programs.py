"""Programs with random augmentations and orders of long files."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.compat.mxnet.programs import digest

BASE = {
    "path_imgrec": "images.rec",
    "data_shape": (3, 28, 28),
    "batch_size": 4,
    "dtype": "uint8",
    "seed_aug": 7,
    "verbose": False,
}
_AREA = {"random_resized_crop": True, "min_random_area": 0.3}
_CROP = {"rand_crop": True, "rand_mirror": True}
DRAWN = {
    "mirrors": {"rand_mirror": True},
    "crops": _CROP,
    "crops with another seed": {**_CROP, "seed_aug": -3},
    "padded crops": {**_CROP, "pad": 4, "fill_value": 127},
    "crops after resize": {**_CROP, "resize": 29},
    "crops with index": {**_CROP, "path_imgidx": "images.idx"},
    "crops with index, shuffled": {**_CROP, "path_imgidx": "images.idx", "shuffle": True, "seed": 3},
    "crops, shuffled": {**_CROP, "shuffle": True, "seed": 3},
    "crops of enlarged images": {**_CROP, "data_shape": (3, 64, 50)},
    "gray crops": {**_CROP, "data_shape": (1, 28, 28)},
    "crops, normalized": {**_CROP, "dtype": "float32", "mean_r": 120.5, "std_g": 58.0, "scale": 0.02},
    "crops, int8": {**_CROP, "dtype": "int8", "mean_r": 100.5, "mean_g": 50.0},
    "random areas": {**_AREA, "rand_mirror": True},
    "random areas and aspect ratios": {
        **_AREA,
        "max_aspect_ratio": 4 / 3,
        "min_aspect_ratio": 3 / 4,
        "max_random_area": 0.9,
    },
    "random areas, max_aspect_ratio": {**_AREA, "max_aspect_ratio": 0.25},
    "random areas, interpolation by size": {**_AREA, "inter_method": 9},
    "random areas, random interpolation": {**_AREA, "inter_method": 10},
    "random areas after resize": {**_AREA, "resize": 40},
    "random areas after padding": {**_AREA, "pad": 3},
    "random areas larger than the image": {
        **_AREA,
        "min_random_area": 1.0,
        "max_aspect_ratio": 4.0,
        "min_aspect_ratio": 3.5,
    },
    "random_resized_crop with defaults": {"random_resized_crop": True},
    "square crops": {**_CROP, "min_crop_size": 15, "max_crop_size": 29},
    "centered square crops": {"rand_mirror": True, "min_crop_size": 15, "max_crop_size": 29},
    "square crops, random interpolation": {"min_crop_size": 15, "max_crop_size": 29, "inter_method": 10},
    "resize, random interpolation": {"resize": 31, "inter_method": 10, "rand_crop": True},
    "rotated": {"rotate": 30},
    "rotated, gray": {"rotate": 25, "data_shape": (1, 28, 28)},
    "rotated, four channels": {"rotate": 25, "path_imgrec": "alpha.rec", "data_shape": (4, 16, 16), "batch_size": 2},
    "rotated, cubic": {"rotate": 25, "inter_method": 2},
    "rotated, area": {"rotate": 25, "inter_method": 3},
    "rotated, Lanczos": {"rotate": 25, "inter_method": 4},
    "randomly rotated": {**_CROP, "max_rotate_angle": 40, "fill_value": 0},
    "randomly rotated, random interpolation": {"max_rotate_angle": 25, "inter_method": 10},
    "randomly rotated, random areas": {**_AREA, "max_rotate_angle": 25},
    "randomly rotated, square crops": {
        "max_rotate_angle": 25,
        "min_crop_size": 15,
        "max_crop_size": 29,
        "rand_crop": True,
    },
    "sheared": {"max_shear_ratio": 0.3, "rand_crop": True},
    "scaled": {"max_random_scale": 1.2, "min_random_scale": 0.9, "rand_crop": True},
    "scaled, by size": {"max_random_scale": 1.3, "min_random_scale": 0.8, "inter_method": 9, "rotate": 20},
    "aspect ratios": {"max_aspect_ratio": 0.25, "rand_crop": True},
    "aspect ratios in a range": {"max_aspect_ratio": 1.3, "min_aspect_ratio": 0.7, "rand_crop": True},
    "limited sizes": {"min_img_size": 60, "max_img_size": 70, "rand_crop": True},
    "all geometric options": {
        **_CROP,
        "resize": 44,
        "max_rotate_angle": 10,
        "max_shear_ratio": 0.1,
        "max_aspect_ratio": 0.25,
        "pad": 2,
        "max_random_scale": 1.1,
        "min_random_scale": 0.8,
    },
    "hue": {"random_h": 36},
    "saturation shift": {"random_s": 50},
    "lightness": {"random_l": 50},
    "hue, odd widths": {"random_h": 20, "random_s": 40, "random_l": 30, "data_shape": (3, 29, 31)},
    "brightness": {"brightness": 0.4},
    "contrast": {"contrast": 0.4},
    "saturation": {"saturation": 0.4},
    "jitter": {"brightness": 0.4, "contrast": 0.4, "saturation": 0.4},
    "PCA noise": {"pca_noise": 0.5},
    "all color options": {
        **_CROP,
        "brightness": 0.4,
        "random_h": 10,
        "random_s": 20,
        "random_l": 30,
        "pca_noise": 0.1,
    },
    "contrast and illumination": {
        "dtype": "float32",
        "max_random_contrast": 0.2,
        "max_random_illumination": 20,
        "std_r": 3.0,
    },
    "contrast and illumination, mirrored": {
        **_CROP,
        "dtype": "float32",
        "max_random_contrast": 0.2,
        "max_random_illumination": 20,
        "scale": 1 / 255,
    },
}


def drawn_iterations(mx, name):
    """Digests of the batches of one configuration's first epoch."""
    found = mx.io.ImageRecordIter(**{**BASE, **DRAWN[name]})
    return [[digest(batch.data[0].asnumpy()), batch.label[0].asnumpy().tolist(), batch.pad] for batch in found]


# Options of orders, for files of several chunks.
ORDERS = [
    {"shuffle": True, "seed": 3},
    {"shuffle_chunk_size": 4},
    {"shuffle_chunk_size": 1, "shuffle_chunk_seed": 9},
    {"shuffle_chunk_size": 4, "shuffle_chunk_seed": 5, "shuffle": True, "seed": 3},
    {"shuffle_chunk_size": 5, "num_parts": 2, "part_index": 1},
    {"num_parts": 3, "part_index": 0, "shuffle": True},
]
COUNT = 200


def write_long(mx, image):
    """Write a file of 20 MB: records of a small PNG followed by zeros."""
    record = mx.recordio.MXRecordIO("long.rec", "w")
    for number in range(COUNT):
        data = image + bytes(90_000 + 97 * number)
        record.write(mx.recordio.pack(mx.recordio.IRHeader(0, float(number), number, 0), data))
    record.close()


def long_orders(mx, number):
    """Labels of three epochs."""
    options = {"path_imgrec": "long.rec", "data_shape": (3, 4, 4), "batch_size": 1, "verbose": False}
    data, epochs = mx.io.ImageRecordIter(**options, **ORDERS[number]), []
    for _ in range(3):
        epochs.append(np.concatenate([batch.label[0].asnumpy() for batch in data]).astype(int).tolist())
        data.reset()
    return epochs


def seeded_across_chunks(mx):
    """Digests of random mirrors of a file of several chunks, whose chunks end within batches."""
    options = {"path_imgrec": "long.rec", "data_shape": (3, 4, 4), "batch_size": 7, "verbose": False, "seed_aug": 5}
    found = {}
    for name, extra in {"in order": {}, "shuffled": {"shuffle": True, "seed": 2}}.items():
        data = mx.io.ImageRecordIter(**options, **extra, rand_mirror=True, rand_crop=True)
        found[name] = [digest(batch.data[0].asnumpy()[: 7 - batch.pad]) for batch in data]
    return found


MEANS = {
    "plain": {},
    "of random crops": {"rand_crop": True, "rand_mirror": True, "shuffle": True},
    "by index": {"rand_mirror": True, "path_imgidx": "images.idx"},
    "normalized": {"scale": 1 / 255, "std_r": 2.0, "std_g": 3.0, "rand_mirror": True, "mean_r": 99.0},
    "gray": {"data_shape": (1, 28, 28)},
    "contrast and illumination": {"max_random_contrast": 0.2, "max_random_illumination": 9, "rand_mirror": True},
}


def mean_images(mx, name, folder):
    """Return digests of batches when the mean image is computed and when it is read, and of its file.

    With an index file, MXNet returns batches of other sizes once after it has computed the image.
    """
    path = Path(folder) / "mean.bin"
    found = []
    for dtype in ("float32", "float32", "float32" if name == "contrast and illumination" else "int8"):
        data = mx.io.ImageRecordIter(**{**BASE, **MEANS[name], "dtype": dtype, "mean_img": str(path)})
        found.append([digest(batch.data[0].asnumpy()) for batch in data])
    if "path_imgidx" in MEANS[name]:
        del found[0]
    return [*found, digest(np.frombuffer(path.read_bytes(), np.uint8))]
