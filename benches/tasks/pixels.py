"""Tasks that measure only image decoding and resizing, per core."""

from __future__ import annotations

from benches.tasks.base import Bound, Ratio, Task
from benches.tasks.images import AS_THEY_ARE, WITH_POINTS

# Our variants of the task `image-large`, and the limit with which they are compared.
CROP, QUICK_CROP, ROWS = "crop of 224", "crop of 224, scale auto", "entropy decoding of the rows down to the crop"

# Variants of the task `image-resize`.
RESIZES = tuple(f"{kernel}, {layout}" for kernel in ("Pillow bilinear", "two taps") for layout in ("NHWC", "NCHW"))

PIXEL_TASKS = (
    Task(
        "image-whole",
        "JPEG photos, whole images",
        "pass",
        "photos",
        goals=(Ratio("libjpeg_turbo", 1.5), Ratio("pillow", 1.5)),
        compare="pixels",
        per_core=True,
    ),
    Task(
        "image-windows",
        "JPEG photos, windows of random-resized crops",
        "pass",
        "photos",
        goals=(Ratio("libjpeg_turbo", 1.65, AS_THEY_ARE), Ratio("libjpeg_turbo", 2, WITH_POINTS)),
        compare="pixels",
        per_core=True,
    ),
    Task(
        "image-progressive",
        "progressive JPEG photos, whole images",
        "pass",
        "progressive",
        goals=(Ratio("libjpeg_turbo", 1),),
        compare="pixels",
        per_core=True,
    ),
    Task(
        "image-png-digits",
        "PNG, 28 x 28 gray",
        "pass",
        "digits",
        goals=(Bound("rate_per_core", True, 180_000, "images/s"), Ratio("png_crate", 1)),
        compare="pixels",
        per_core=True,
    ),
    Task(
        "image-png-photos",
        "PNG, photographs",
        "pass",
        "pngs",
        goals=(Ratio("png_crate", 1),),
        compare="pixels",
        per_core=True,
    ),
    Task(
        "image-resize",
        "windows of the photos resized to 224, mirrored, normalized, float32, beside decoding whole photos",
        "pass",
        "photos",
        goals=tuple(Ratio("libjpeg_turbo", 1 / 0.13, variant) for variant in RESIZES),
        per_core=True,
    ),
    Task(
        "image-threads",
        "photos to random-resized crops of 224, float32, in batch memory, one native call for 128",
        "pass",
        "photos",
        128,
        (Ratio("ours", 1.9, "2 threads", "1 thread"),),
        recipe="crop",
    ),
    Task(
        "image-large",
        "photographs of 12 megapixels to a shorter side of 256, center crop of 224, float32",
        "pass",
        "large",
        1,
        (Ratio("limits", 1 / 1.3, CROP, ROWS), Ratio("limits", 1 / 1.3, QUICK_CROP, ROWS)),
        recipe="center",
        per_core=True,
    ),
)
