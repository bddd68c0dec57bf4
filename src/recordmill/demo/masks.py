"""Image and mask pairs in the layout of Pascal VOC: scenes of digits, and photographs cut by brightness."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.demo.data import DIGIT_PIXELS, enlarge, load_digits, load_photo

BORDER = 255
_INK = 96
_PER_SIDE = 4
_NUM_CLASSES = 4
_SEGMENTED = (
    "skimage/data/coins.png",
    "skimage/data/chelsea.png",
    "skimage/data/coffee.png",
    "skimage/data/camera.png",
)


def voc_palette() -> NDArray[np.uint8]:
    """Color of each class index, as the Pascal VOC development kit assigns them."""
    indices = np.arange(256)
    palette = np.zeros((256, 3), np.uint8)
    for bit in range(8):
        for channel in range(3):
            palette[:, channel] |= ((indices >> (3 * bit + channel) & 1) << (7 - bit)).astype(np.uint8)
    return palette


def outline(indices: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Mark pixels that touch another class with 255, as VOC marks what is not to be judged."""
    differs = np.zeros(indices.shape, np.bool_)
    rows, columns = indices[1:] != indices[:-1], indices[:, 1:] != indices[:, :-1]
    differs[1:] |= rows
    differs[:-1] |= rows
    differs[:, 1:] |= columns
    differs[:, :-1] |= columns
    return np.where(differs, np.uint8(BORDER), indices)


def make_pairs(num_scenes: int) -> Iterator[tuple[str, Any, NDArray[np.uint8]]]:
    """Images with the class index of every pixel."""
    per_scene = _PER_SIDE**2
    images, labels = load_digits(num_scenes * per_scene)
    for scene in range(len(images) // per_scene):
        chosen = slice(scene * per_scene, (scene + 1) * per_scene)
        yield f"scene_{scene:03}", *_scene(images[chosen], labels[chosen])
    for place in _SEGMENTED:
        image = load_photo(place)
        image.thumbnail((256, 256))
        yield Path(place).stem, image, _by_brightness(image)


def _scene(images: NDArray[np.uint8], labels: NDArray[np.int64]) -> tuple[Any, NDArray[np.uint8]]:
    from PIL import Image

    side = DIGIT_PIXELS * _PER_SIDE
    canvas, indices = Image.new("L", (side, side)), np.zeros((side, side), np.uint8)
    for place, (image, label) in enumerate(zip(images, labels.tolist(), strict=True)):
        top, left = (DIGIT_PIXELS * number for number in divmod(place, _PER_SIDE))
        digit = enlarge(image)
        canvas.paste(digit, (left, top))
        ink = np.asarray(digit) >= _INK
        indices[top : top + DIGIT_PIXELS, left : left + DIGIT_PIXELS][ink] = label + 1
    return canvas, outline(indices)


def _by_brightness(image: Any) -> NDArray[np.uint8]:
    from skimage.filters import gaussian, threshold_multiotsu

    smooth = gaussian(np.asarray(image.convert("L"), np.float64), sigma=2)
    limits = threshold_multiotsu(smooth, classes=_NUM_CLASSES)
    return outline(np.digitize(smooth, limits).astype(np.uint8))


def write_pairs(folder: Path, num_scenes: int) -> dict[str, NDArray[np.uint8]]:
    """Write the pairs: ``JPEGImages``, ``SegmentationClass`` (palette PNG) and ``ImageSets/Segmentation/train.txt``."""
    from PIL import Image

    images, masks, sets = (folder / name for name in ("JPEGImages", "SegmentationClass", "ImageSets/Segmentation"))
    for place in (images, masks, sets):
        place.mkdir(parents=True)
    palette, written = voc_palette().tobytes(), {}
    for name, image, indices in make_pairs(num_scenes):
        image.save(images / f"{name}.jpg", quality=95)
        mask = Image.fromarray(indices).convert("P")
        mask.putpalette(palette)
        mask.save(masks / f"{name}.png")
        written[name] = indices
    (sets / "train.txt").write_text("".join(f"{name}\n" for name in written), encoding="utf-8")
    return written
