"""The images of the demo as files: handwritten digits with a label file, photographs in class folders.

Nothing is downloaded: scikit-learn and scikit-image carry these images. The digits are the test part of "Optical
Recognition of Handwritten Digits" by E. Alpaydin and C. Kaynak (UCI Machine Learning Repository, CC BY 4.0). The
photographs are in the public domain or CC0, but for ``china`` and ``flower``, which are CC BY 2.0.
"""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recordmill as rm

DIGIT_PIXELS = 32
_NEEDED = {"sklearn": "scikit-learn", "skimage": "scikit-image", "PIL": "Pillow"}
_TRAINING = {"keras": "keras", "jax": "jax"}
_LONGER_SIDE = 512
# Class folder: where its photographs lie.
_PHOTOS = {
    "animal": ("skimage/data/chelsea.png",),
    "building": ("sklearn/datasets/images/china.jpg",),
    "ground": ("skimage/data/brick.png", "skimage/data/grass.png", "skimage/data/gravel.png"),
    "person": ("skimage/data/astronaut.png", "skimage/data/camera.png"),
    "plant": ("sklearn/datasets/images/flower.jpg",),
    "sky": ("skimage/data/hubble_deep_field.jpg", "skimage/data/rocket.jpg"),
    "thing": ("skimage/data/coffee.png", "skimage/data/coins.png"),
}


def require_packages(*, train: bool) -> None:
    """Refuse to begin without what the demo needs."""
    needed = _NEEDED | (_TRAINING if train else {})
    missing = [package for module, package in needed.items() if find_spec(module) is None]
    if missing:
        rest = "" if set(missing) & set(_NEEDED.values()) else "; or leave the training out with train=False"
        raise rm.MissingExtraError(
            f"the demo needs {', '.join(missing)}", hint=f"pip install {' '.join(missing)}{rest}"
        )


def load_digits(num_digits: int) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Handwritten digits in gray levels."""
    from sklearn.datasets import load_digits as load

    found: Any = load()
    levels = found.images[:num_digits].astype(np.int64)
    return (levels * 255 // 16).astype(np.uint8), found.target[:num_digits].astype(np.int64)


def enlarge(image: NDArray[np.uint8]) -> Any:
    """Picture of a digit, four times as wide and high."""
    from PIL import Image

    return Image.fromarray(image).resize((DIGIT_PIXELS, DIGIT_PIXELS), Image.Resampling.BICUBIC)


def write_digits(folder: Path, num_digits: int) -> int:
    """Write ``digits/00000000_0.png``, … and ``digits.txt``, a label file of JSON lines with bare names."""
    images, labels = load_digits(num_digits)
    (folder / "digits").mkdir(parents=True)
    lines = []
    for position, (image, label) in enumerate(zip(images, labels.tolist(), strict=True)):
        name = f"{position:08}_{label}.png"
        enlarge(image).save(folder / "digits" / name)
        lines.append(json.dumps({name: label}) + "\n")
    (folder / "digits.txt").write_text("".join(lines), encoding="utf-8")
    return len(lines)


def load_photo(place: str) -> Any:
    """One of the photographs, no side longer than 512 pixels."""
    from PIL import Image

    package, _, rest = place.partition("/")
    found = find_spec(package)
    if found is None or not found.submodule_search_locations:
        raise rm.MissingExtraError(f"the demo needs {_NEEDED[package]}", hint=f"pip install {_NEEDED[package]}")
    with Image.open(Path(found.submodule_search_locations[0]) / rest) as image:
        photo = image.convert("L" if image.mode in ("L", "I;16") else "RGB")
    photo.thumbnail((_LONGER_SIDE, _LONGER_SIDE))
    return photo


def write_photos(folder: Path) -> int:
    """Write the photographs as JPEG files in class folders, ``photos/animal/chelsea.jpg``."""
    places = [(name, place) for name, found in _PHOTOS.items() for place in found]
    for name, place in places:
        target = folder / "photos" / name / f"{Path(place).stem}.jpg"
        target.parent.mkdir(parents=True, exist_ok=True)
        load_photo(place).save(target, quality=95)
    return len(places)
