"""Programs for MXNet and recordmill: each takes the module and returns plain values."""

from __future__ import annotations

import hashlib
import random
from pathlib import Path

import numpy as np


def digest(array):
    """Shape, dtype and hash of an array."""
    array = np.ascontiguousarray(array)
    return [list(array.shape), array.dtype.name, hashlib.sha256(array.tobytes()).hexdigest()[:24]]


def summarize(values):
    """Numbers as text that tells every bit of a float32."""
    return np.asarray(values, np.float32).astype(np.float64).tolist()


BASE = {"path_imgrec": "images.rec", "data_shape": (3, 32, 40), "batch_size": 4, "verbose": False}
WIDE = {"mean_r": 123.68, "mean_g": 116.28, "mean_b": 103.53, "std_r": 58.395, "std_g": 57.12, "std_b": 57.375}
# Configurations whose first epoch is the same to the bit.
EXACT = {
    "original size, cropped or enlarged": {},
    "uint8": {"dtype": "uint8"},
    "int8": {"dtype": "int8", "mean_r": 130, "mean_g": 99.6, "mean_b": 20.5},
    "normalized": {**WIDE, "scale": 1.0},
    "normalized and scaled": {**WIDE, "scale": 0.017},
    "scale only": {"scale": 1 / 255},
    "std only": {"std_r": 3.0, "std_g": 7.0, "std_b": 11.0},
    "gray": {"data_shape": (1, 32, 40), "mean_r": 100.0, "std_r": 50.0},
    "gray uint8": {"data_shape": (1, 20, 20), "dtype": "uint8"},
    "resized bilinear": {"resize": 36, "data_shape": (3, 32, 32), "dtype": "uint8"},
    "resized nearest": {"resize": 36, "inter_method": 0, "data_shape": (3, 32, 32), "dtype": "uint8"},
    "resized area": {"resize": 36, "inter_method": 3, "data_shape": (3, 32, 32), "dtype": "uint8"},
    "resized Lanczos": {"resize": 37, "inter_method": 4, "data_shape": (3, 32, 32), "dtype": "uint8"},
    "reduced, interpolation by size": {"resize": 29, "inter_method": 9, "data_shape": (3, 29, 29), "dtype": "uint8"},
    "resized and enlarged": {"resize": 36, "data_shape": (3, 40, 64), "dtype": "uint8"},
    "enlarged twice": {"data_shape": (3, 90, 110), "dtype": "uint8"},
    "enlarged with area": {"data_shape": (3, 70, 110), "inter_method": 3, "dtype": "uint8"},
    "padded": {"pad": 4, "data_shape": (3, 40, 44), "dtype": "uint8", "fill_value": 127},
    "padded widely": {"pad": 30, "data_shape": (3, 75, 91), "dtype": "uint8"},
    "resized, padded": {"resize": 35, "pad": 5, "data_shape": (3, 44, 44), "dtype": "uint8", "fill_value": 0},
    "mirrored": {"mirror": True, "resize": 40, "data_shape": (3, 32, 32)},
    "square crops": {"max_crop_size": 24, "min_crop_size": 24, "data_shape": (3, 32, 32), "dtype": "uint8"},
    "square crops, reduced": {"resize": 60, "max_crop_size": 60, "min_crop_size": 60, "data_shape": (3, 31, 20)},
    "listed labels": {"path_imglist": "images.lst", "label_width": 3},
    "one listed label": {"path_imglist": "images.lst"},
    "two threads": {"preprocess_threads": 2, "resize": 36, "data_shape": (3, 32, 32)},
    "with index": {"path_imgidx": "images.idx"},
    "without round_batch": {"round_batch": False},
    "four channels": {
        "path_imgrec": "alpha.rec",
        "data_shape": (4, 16, 16),
        "batch_size": 2,
        "mean_a": 3.0,
        "std_g": 2.0,
    },
    "several labels": {"path_imgrec": "vectors.rec", "label_width": 2, "data_shape": (3, 16, 16), "batch_size": 3},
}
# OpenCV 3.4's bicubic kernel differs from later versions by at most one level: pixels are recorded, not digests.
CLOSE = {
    "resized bicubic": {"resize": 24, "inter_method": 2, "data_shape": (3, 24, 24), "dtype": "uint8"},
    "enlarged by size": {"inter_method": 9, "data_shape": (3, 64, 64), "dtype": "uint8", "batch_size": 2},
}


def batches_of(mx, **parameters):
    """Labels, pad and data of the first epoch's batches; rows that only fill the batch are dropped."""
    count = parameters.pop("count")
    found = []
    for batch in mx.io.ImageRecordIter(**{**BASE, **parameters}):
        data, label = batch.data[0].asnumpy(), batch.label[0].asnumpy()
        left = min(count, len(data)) if parameters.get("round_batch") is False else len(data)
        count -= len(data)
        found.append((data[:left], label[:left], batch.pad))
    return found


def exact_iterations(mx, name):
    """Digests of one configuration's batches."""
    parameters = dict(EXACT[name])
    rows = batches_of(mx, count=NUM_IMAGES, **parameters)
    keeps_pad = parameters.get("round_batch", True)
    return [[digest(data), summarize(label), pad if keeps_pad else None] for data, label, pad in rows]


NUM_IMAGES = 11


def parts(mx, num_parts, with_index):
    """Which images each part has, by their labels; None for a part without images."""
    found = []
    for part in range(num_parts):
        extra = {"path_imgidx": "images.idx"} if with_index else {}
        try:
            data = mx.io.ImageRecordIter(
                **{**BASE, **extra, "num_parts": num_parts, "part_index": part, "batch_size": 1}
            )
        except (mx.base.MXNetError, StopIteration):
            found.append(None)
            continue
        found.append([int(batch.label[0].asnumpy()[0]) for batch in data])
    return found


def shuffled(mx, seed, with_index, batch_size):
    """Labels of two epochs, and the rows that the first one's last batch borrows."""
    extra = {"path_imgidx": "shuffle.idx"} if with_index else {}
    options = {**BASE, **extra, "path_imgrec": "shuffle.rec", "data_shape": (3, 4, 4), "shuffle": True, "seed": seed}
    data = mx.io.ImageRecordIter(**{**options, "batch_size": batch_size})
    first = [[batch.label[0].asnumpy().astype(int).tolist(), batch.pad] for batch in data]
    data = mx.io.ImageRecordIter(**{**options, "batch_size": 1})
    epochs = []
    for _ in range(3):
        epochs.append([int(batch.label[0].asnumpy()[0]) for batch in data])
        data.reset()
    return [first, epochs]


def detections(mx, **parameters):
    """Data and labels of an epoch of the detection iterator."""
    base = {"path_imgrec": "boxes.rec", "data_shape": (3, 16, 24), "batch_size": 3, "verbose": False}
    found = mx.io.ImageDetRecordIter(**{**base, **parameters})
    return [[digest(batch.data[0].asnumpy()), summarize(batch.label[0].asnumpy()), batch.pad] for batch in found]


DETECTIONS = {
    "plain": {},
    "padded": {"label_pad_width": 20, "label_pad_value": -2.0},
    "normalized": {"mean_r": 10.0, "mean_g": 5.5, "scale": 0.5, "std_r": 2.0, "std_g": 3.0, "std_b": 4.0},
    "second part": {"num_parts": 2, "part_index": 1},
    "gray": {"data_shape": (1, 20, 20)},
    "nearest": {"inter_method": 0},
}


def image_steps(mx, image):
    """Apply functions of mx.image to an image (uint8, NDArray) with one seed."""
    random.seed(5)
    np.random.seed(5)
    steps = mx.image
    results = {
        "resize": steps.imresize(image, 33, 21, interp=1),
        "nearest": steps.imresize(image, 33, 21, interp=0),
        "area": steps.imresize(image, 20, 11, interp=3),
        "Lanczos": steps.imresize(image, 50, 33, interp=4),
        "shorter": steps.resize_short(image, 23, interp=1),
        "fixed crop": steps.fixed_crop(image, 2, 3, 20, 10, (13, 9), interp=1),
        "center crop": steps.center_crop(image, (31, 29), interp=1)[0],
        "center crop of a small image": steps.center_crop(image, (200, 120), interp=1)[0],
        "random": steps.random_crop(image, (17, 19), interp=1)[0],
        "random size": steps.random_size_crop(image, (20, 20), (0.1, 0.9), (0.7, 1.4), interp=1)[0],
    }
    return {name: digest(array.asnumpy()) for name, array in results.items()}


AUGMENTERS = {
    "default": {},
    "resized": {"resize": 40, "inter_method": 1},
    "random": {"resize": 40, "rand_crop": True, "rand_mirror": True, "inter_method": 1},
    "random size": {"rand_crop": True, "rand_resize": True, "rand_mirror": True, "inter_method": 1},
    "normalized": {"mean": True, "std": True, "inter_method": 1},
    "brightness": {"brightness": 0.3, "inter_method": 1},
}
# Sums of floats, whose last bits depend on their order.
CLOSE_AUGMENTERS = {
    "gray": {"rand_gray": 0.5},
    "contrast": {"contrast": 0.4},
    "saturation": {"saturation": 0.4},
    "jitter": {"brightness": 0.2, "contrast": 0.3, "saturation": 0.4},
    "hue": {"hue": 0.3},
    "lighting": {"pca_noise": 0.2},
}


def augmented(mx, image, name):
    """An image through the augmenters of one configuration, four times."""
    random.seed(7)
    np.random.seed(7)
    results = []
    augmenters = mx.image.CreateAugmenter(data_shape=(3, 24, 28), **AUGMENTERS[name])
    for _ in range(4):
        pixels = image
        for augmenter in augmenters:
            pixels = augmenter(pixels)
        results.append(pixels.asnumpy())
    return [[type(one).__name__ for one in augmenters], [digest(one) for one in results]]


def nearly_augmented(mx, image, name):
    """Some pixels of an image that went through the augmenters of one configuration, four times."""
    random.seed(3)
    np.random.seed(3)
    augmenters = mx.image.CreateAugmenter(data_shape=(3, 24, 28), inter_method=1, **CLOSE_AUGMENTERS[name])
    results = []
    for _ in range(4):
        pixels = image
        for augmenter in augmenters:
            pixels = augmenter(pixels)
        results.append(summarize(pixels.asnumpy()[10:12, 9:12]))
    return results


def orientations(mx):
    """Files with an EXIF orientation, with and without a JFIF segment in front of it, read in every way."""
    found = {}
    for name in ("exif_first.jpg", "jfif_first.jpg"):
        path = "pictures/" + name
        data = Path(path).read_bytes()
        read = [mx.image.imread(path), mx.image.imdecode(data), mx.image.imdecode(data, flag=0)]
        found[name] = [digest(one.asnumpy()) for one in [*read, mx.image.imdecode(data, to_rgb=False)]]
    return found


ITERATIONS = {
    "sequential": {"path_imgrec": "images.rec"},
    "indexed": {"path_imgrec": "images.rec", "path_imgidx": "images.idx"},
    "discarded": {"path_imgrec": "images.rec", "path_imgidx": "images.idx", "last_batch_handle": "discard"},
    "rolled over": {"path_imgrec": "images.rec", "path_imgidx": "images.idx", "last_batch_handle": "roll_over"},
    "shuffled": {"path_imgrec": "images.rec", "path_imgidx": "images.idx", "shuffle": True},
    "second part": {"path_imgrec": "images.rec", "path_imgidx": "images.idx", "num_parts": 2, "part_index": 1},
    "listed": {"path_imglist": "pictures.lst", "path_root": "pictures", "label_width": 2},
    "imglist": {"imglist": [[3.0, "a.jpg"], [4.0, "b.png"]], "path_root": "pictures", "batch_size": 1},
    "random": {"path_imgrec": "images.rec", "rand_crop": True, "rand_mirror": True, "mean": True},
}


def python_iterations(mx, name):
    """Three epochs of ImageIter."""
    random.seed(11)
    np.random.seed(11)
    options = {"batch_size": 4, "data_shape": (3, 24, 28), "inter_method": 1, **ITERATIONS[name]}
    data = mx.image.ImageIter(**options)
    epochs = []
    for _ in range(3):
        rows = [[digest(one.data[0].asnumpy()), summarize(one.label[0].asnumpy()), one.pad] for one in data]
        epochs.append(rows)
        data.reset()
    return epochs
