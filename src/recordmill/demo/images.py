"""Write the demo's image files: digits with a label file, photographs in class folders, and image-mask pairs.

Nothing is downloaded: scikit-learn and scikit-image contain these images. The digits are the test part of "Optical
Recognition of Handwritten Digits" by E. Alpaydin and C. Kaynak (UCI Machine Learning Repository, CC BY 4.0). The
photographs are in the public domain or CC0, except ``china`` and ``flower``, which are CC BY 2.0.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recordmill as rm

NUM_DIGITS = 1797
IGNORED_CLASS = 255

_PACKAGES = {"sklearn": "scikit-learn", "skimage": "scikit-image", "PIL": "Pillow"}
_TRAINING_PACKAGES = {"keras": "keras", "jax": "jax"}
_DIGIT_SIDE = 32
_MAX_PHOTO_SIDE = 512
# Photographs of each class, as paths relative to site-packages.
_PHOTOS = {
    "animal": ("skimage/data/chelsea.png",),
    "building": ("sklearn/datasets/images/china.jpg",),
    "ground": ("skimage/data/brick.png", "skimage/data/grass.png", "skimage/data/gravel.png"),
    "person": ("skimage/data/astronaut.png", "skimage/data/camera.png"),
    "plant": ("sklearn/datasets/images/flower.jpg",),
    "sky": ("skimage/data/hubble_deep_field.jpg", "skimage/data/rocket.jpg"),
    "thing": ("skimage/data/coffee.png", "skimage/data/coins.png"),
}
_SEGMENTED_PHOTOS = (
    "skimage/data/coins.png",
    "skimage/data/chelsea.png",
    "skimage/data/coffee.png",
    "skimage/data/camera.png",
)
_NUM_SEGMENTS = 4
# The mask assigns pixels of at least this gray level to the digit, and darker pixels to the background.
_INK_LEVEL = 96
_DIGITS_PER_SIDE = 4


def require_packages(*, train: bool) -> None:
    """Raise MissingExtraError if a package that the demo needs is not installed."""
    needed = _PACKAGES | (_TRAINING_PACKAGES if train else {})
    missing = [package for module, package in needed.items() if find_spec(module) is None]
    if missing:
        alternative = "" if set(missing) & set(_PACKAGES.values()) else "; or skip the training with train=False"
        raise rm.MissingExtraError(
            f"the demo requires {', '.join(missing)}", hint=f"pip install {' '.join(missing)}{alternative}"
        )


def load_digits(num_digits: int) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return handwritten digits in gray levels, 8 x 8 pixels each, and their labels."""
    from sklearn.datasets import load_digits as load

    digits: Any = load()
    levels = digits.images[:num_digits].astype(np.int64)
    return (levels * 255 // 16).astype(np.uint8), digits.target[:num_digits].astype(np.int64)


def load_photo(name: str) -> Any:
    """Load a photograph from an installed package, scaled down to at most 512 pixels per side."""
    from PIL import Image

    package, _, path = name.partition("/")
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise rm.MissingExtraError(f"the demo requires {_PACKAGES[package]}", hint=f"pip install {_PACKAGES[package]}")
    with Image.open(Path(spec.submodule_search_locations[0]) / path) as image:
        photo = image.convert("L" if image.mode in ("L", "I;16") else "RGB")
    photo.thumbnail((_MAX_PHOTO_SIDE, _MAX_PHOTO_SIDE))
    return photo


def write_digits(folder: Path, num_digits: int) -> int:
    """Write ``digits/00000000_0.png``, … and the label file ``digits.txt``; return the number of digits."""
    images, labels = load_digits(num_digits)
    (folder / "digits").mkdir(parents=True)
    lines = []
    for position, (image, label) in enumerate(zip(images, labels.tolist(), strict=True)):
        name = f"{position:08}_{label}.png"
        _enlarge_digit(image).save(folder / "digits" / name)
        lines.append(json.dumps({name: label}) + "\n")
    (folder / "digits.txt").write_text("".join(lines), encoding="utf-8")
    return len(lines)


def write_photos(folder: Path) -> int:
    """Write JPEG files such as ``photos/animal/chelsea.jpg``; return their number."""
    photos = [(class_name, name) for class_name, names in _PHOTOS.items() for name in names]
    for class_name, name in photos:
        path = folder / "photos" / class_name / f"{Path(name).stem}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        load_photo(name).save(path, quality=95)
    return len(photos)


def write_pairs(folder: Path, num_scenes: int) -> dict[str, NDArray[np.uint8]]:
    """Write image and mask pairs in the layout of Pascal VOC; return the class indices of each mask."""
    from PIL import Image

    images, masks, lists = (folder / name for name in ("JPEGImages", "SegmentationClass", "ImageSets/Segmentation"))
    for subfolder in (images, masks, lists):
        subfolder.mkdir(parents=True)
    palette, indices_of = voc_palette().tobytes(), {}
    for name, image, indices in _make_pairs(num_scenes):
        image.save(images / f"{name}.jpg", quality=95)
        mask = Image.fromarray(indices).convert("P")
        mask.putpalette(palette)
        mask.save(masks / f"{name}.png")
        indices_of[name] = indices
    (lists / "train.txt").write_text("".join(f"{name}\n" for name in indices_of), encoding="utf-8")
    return indices_of


def open_image(data: bytes) -> Any:
    """Decode an image with Pillow, which keeps the palette indices of masks."""
    from PIL import Image

    image = Image.open(io.BytesIO(data))
    image.load()
    return image


def voc_palette() -> NDArray[np.uint8]:
    """Return the color of each class index, as the Pascal VOC development kit defines it."""
    indices = np.arange(256)
    palette = np.zeros((256, 3), np.uint8)
    for bit in range(8):
        for channel in range(3):
            palette[:, channel] |= ((indices >> (3 * bit + channel) & 1) << (7 - bit)).astype(np.uint8)
    return palette


def ignore_class_borders(indices: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Set pixels at the border between two classes to 255, the index that VOC excludes from evaluation."""
    differs = np.zeros(indices.shape, np.bool_)
    rows, columns = indices[1:] != indices[:-1], indices[:, 1:] != indices[:, :-1]
    differs[1:] |= rows
    differs[:-1] |= rows
    differs[:, 1:] |= columns
    differs[:, :-1] |= columns
    return np.where(differs, np.uint8(IGNORED_CLASS), indices)


def _make_pairs(num_scenes: int) -> Iterator[tuple[str, Any, NDArray[np.uint8]]]:
    """Yield (name, image, class indices) for scenes with digits, and for photographs segmented by brightness."""
    per_scene = _DIGITS_PER_SIDE**2
    images, labels = load_digits(num_scenes * per_scene)
    for scene in range(len(images) // per_scene):
        rows = slice(scene * per_scene, (scene + 1) * per_scene)
        yield f"scene_{scene:03}", *_make_digit_scene(images[rows], labels[rows])
    for name in _SEGMENTED_PHOTOS:
        image = load_photo(name)
        image.thumbnail((256, 256))
        yield Path(name).stem, image, _segment_by_brightness(image)


def _make_digit_scene(images: NDArray[np.uint8], labels: NDArray[np.int64]) -> tuple[Any, NDArray[np.uint8]]:
    """Return an image with a grid of digits, and the class index of each pixel: the digit + 1, or 0 for background."""
    from PIL import Image

    side = _DIGIT_SIDE * _DIGITS_PER_SIDE
    canvas, indices = Image.new("L", (side, side)), np.zeros((side, side), np.uint8)
    for cell, (image, label) in enumerate(zip(images, labels.tolist(), strict=True)):
        top, left = (_DIGIT_SIDE * number for number in divmod(cell, _DIGITS_PER_SIDE))
        digit = _enlarge_digit(image)
        canvas.paste(digit, (left, top))
        ink = np.asarray(digit) >= _INK_LEVEL
        indices[top : top + _DIGIT_SIDE, left : left + _DIGIT_SIDE][ink] = label + 1
    return canvas, ignore_class_borders(indices)


def _segment_by_brightness(image: Any) -> NDArray[np.uint8]:
    from skimage.filters import gaussian, threshold_multiotsu

    smooth = gaussian(np.asarray(image.convert("L"), np.float64), sigma=2)
    thresholds = threshold_multiotsu(smooth, classes=_NUM_SEGMENTS)
    return ignore_class_borders(np.digitize(smooth, thresholds).astype(np.uint8))


def _enlarge_digit(image: NDArray[np.uint8]) -> Any:
    from PIL import Image

    return Image.fromarray(image).resize((_DIGIT_SIDE, _DIGIT_SIDE), Image.Resampling.BICUBIC)
