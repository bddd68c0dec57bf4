"""Programs with random augmentations of ImageDetRecordIter: each takes the module and a folder."""

from __future__ import annotations

import functools
import os

import numpy as np

from tests.compat.mxnet.value_programs import summarize

NUM_IMAGES = 12


def pack_images(mx, folder):
    """Pack images of several shapes with up to four boxes, one of them without area."""
    path = f"{folder}/drawn.rec"
    if os.path.exists(path):
        return path
    rng, record = np.random.RandomState(4), mx.recordio.MXRecordIO(path, "w")
    for number in range(NUM_IMAGES):
        y, x = np.mgrid[: 40 + 3 * number, : 70 - 2 * number]
        pixels = np.stack([x * 3 + number, y * 4, (x * y) // 9 + 17 * number], axis=-1) % 256
        label = [4, 6, 0.5, 7]
        for _ in range(number % 4 + 1):
            low = rng.rand(2) * 0.6
            label += [float(rng.randint(20)), *low, *(low + 0.05 + rng.rand(2) * 0.35), rng.rand()]
        label += [3, 0.5, 0.5, 0.5, 0.7, 1] if number % 5 == 2 else []
        header = mx.recordio.IRHeader(0, label, number, 0)
        record.write(mx.recordio.pack_img(header, pixels.astype(np.uint8), quality=3, img_fmt=".png"))
    record.close()
    return path


def batches(mx, folder, **options):
    """Return one epoch; one thread draws the random numbers."""
    parameters = {"data_shape": (3, 32, 40), "batch_size": 5, "preprocess_threads": 1, "verbose": False, **options}
    data = mx.io.ImageDetRecordIter(path_imgrec=pack_images(mx, folder), **parameters)
    return [
        [summarize(batch.data[0]), summarize(batch.label[0]), batch.label[0].asnumpy()[:, :4].tolist(), batch.pad]
        for batch in data
    ]


SSD = {
    "rand_crop_prob": 0.833333,
    "min_crop_scales": (0.0, 0.3, 0.3, 0.3, 0.3),
    "max_crop_scales": (1.0, 1.0, 1.0, 1.0, 1.0),
    "min_crop_aspect_ratios": (1.0, 0.5, 0.5, 0.5, 0.5),
    "max_crop_aspect_ratios": (1.0, 2.0, 2.0, 2.0, 2.0),
    "min_crop_overlaps": (0.0, 0.1, 0.3, 0.5, 0.7),
    "num_crop_sampler": 5,
    "rand_pad_prob": 0.5,
    "max_pad_scale": 4.0,
    "rand_mirror_prob": 0.5,
    "max_random_hue": 18,
    "random_hue_prob": 0.5,
    "max_random_saturation": 32,
    "random_saturation_prob": 0.5,
    "max_random_illumination": 32,
    "random_illumination_prob": 0.5,
    "max_random_contrast": 0.5,
    "random_contrast_prob": 0.5,
    "mean_r": 123.0,
    "mean_g": 117.0,
    "mean_b": 104.0,
}
STRICT = {
    "rand_crop_prob": 1.0,
    "min_crop_scales": (0.2,),
    "min_crop_aspect_ratios": (0.5,),
    "max_crop_aspect_ratios": (2.0,),
    **{f"min_crop_{name}": (0.05,) for name in ("overlaps", "sample_coverages", "object_coverages")},
    **{f"max_crop_{name}": (0.95,) for name in ("overlaps", "sample_coverages", "object_coverages")},
}
DRAWN = {
    "crops": {"rand_crop_prob": 1.0, "min_crop_scales": (0.3,)},
    "crops of several shapes": {**STRICT, "rand_crop_prob": 0.7, "min_crop_overlaps": (0.0,)},
    "crops with minimum overlap": STRICT,
    "few trials": {**STRICT, "max_crop_trials": (2,), "min_crop_overlaps": (0.4,)},
    "boxes kept by overlap": {"rand_crop_prob": 1.0, "crop_emit_mode": "overlap", "emit_overlap_thresh": 0.6},
    "several crop samplers": {
        "rand_crop_prob": 0.9,
        "num_crop_sampler": 3,
        "min_crop_scales": (0.1, 0.4, 0.7),
        "max_crop_trials": (5, 10, 25),
    },
    "padding": {"rand_pad_prob": 0.8, "max_pad_scale": 3.0, "fill_value": 200},
    "mirrors": {"rand_mirror_prob": 0.5},
    "hue": {"random_hue_prob": 0.8, "max_random_hue": 40},
    "colors": {
        "random_saturation_prob": 0.7,
        "max_random_saturation": 60,
        "random_illumination_prob": 0.7,
        "max_random_illumination": 50,
    },
    "contrast": {"random_contrast_prob": 0.8, "max_random_contrast": 0.6},
    "gray": {"data_shape": (1, 30, 30), "rand_crop_prob": 0.5, "random_contrast_prob": 0.5, "max_random_contrast": 0.4},
    "shorter side first": {"resize": 24, "rand_mirror_prob": 0.3, "rand_crop_prob": 0.5},
    "shrink": {"resize_mode": "shrink", "rand_crop_prob": 0.5},
    "random interpolation": {"inter_method": 10, "rand_crop_prob": 0.5, "resize": 50},
    "colors of the last columns": {
        "data_shape": (3, 59, 23),
        "batch_size": 12,
        "random_saturation_prob": 0.9969915895154586,
        "max_random_saturation": 48,
        "random_contrast_prob": 0.7,
        "max_random_contrast": 0.6564343985209574,
    },
    "parameters with many digits": {"rand_pad_prob": 0.8537270479102117, "max_pad_scale": 1.8810686319269774},
    "SSD": SSD,
    "SSD, area interpolation": {**SSD, "inter_method": 3, "resize": 64},
}


PROGRAMS = {name: functools.partial(batches, **options) for name, options in DRAWN.items()}
