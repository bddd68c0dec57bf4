"""Create photographs and digits from images in Python packages. Runs in the environment `data`.

Usage: python -m benches.photographs FOLDER KIND=COUNT...
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import cache, partial
from typing import Any

import numpy as np

Rows = list[tuple[str, int]]
_NUM_PROCESSES = 2


@cache
def _load_sources() -> list[np.ndarray]:
    import cv2
    import matplotlib
    import skimage
    import sklearn

    folder = os.path.join(os.path.dirname(skimage.__file__), "data")
    names = (
        "astronaut.png coffee.png chelsea.png rocket.jpg motorcycle_left.png motorcycle_right.png "
        "hubble_deep_field.jpg ihc.png retina.jpg"
    )
    paths = [os.path.join(folder, name) for name in names.split()]
    folder = os.path.join(os.path.dirname(sklearn.__file__), "datasets", "images")
    paths += [os.path.join(folder, name) for name in ("china.jpg", "flower.jpg")]
    paths.append(os.path.join(matplotlib.get_data_path(), "sample_data", "grace_hopper.jpg"))
    images = [cv2.imread(path) for path in paths]
    return [image for image in images if image is not None]


def _choose_window(random: np.random.Generator, image: np.ndarray) -> tuple[np.ndarray, tuple[int, int], float]:
    """Return a random part of an image, its output size (longer side about 500 pixels), and their ratio."""
    height, width = image.shape[:2]
    longer = int(np.clip(random.normal(500, 40), 320, 800))
    shorter = int(longer * random.uniform(0.62, 0.88))
    size = (longer, shorter) if random.random() < 0.75 else (shorter, longer)
    scale = min(width / size[0], height / size[1]) * random.uniform(0.75, 1.0)
    part_width, part_height = max(8, int(size[0] * scale)), max(8, int(size[1] * scale))
    left, top = random.integers(0, width - part_width + 1), random.integers(0, height - part_height + 1)
    return image[top : top + part_height, left : left + part_width], size, scale


def _generate_photo(number: int, suffix: str = ".jpg", **more: int) -> tuple[bytes, int]:
    """Return a photograph file and a label; the image is cropped, flipped, recolored and has sensor noise."""
    import cv2

    random = np.random.default_rng(1000 + number)
    sources = _load_sources()
    part, size, scale = _choose_window(random, sources[random.integers(len(sources))])
    pixels = cv2.resize(part, size, interpolation=cv2.INTER_AREA if scale > 1 else cv2.INTER_CUBIC).astype(np.float32)
    if random.random() < 0.5:
        pixels = pixels[:, ::-1]
    pixels = (pixels - 128) * random.uniform(0.8, 1.2) + 128 + random.uniform(-15, 15, 3)
    pixels += random.normal(0, random.uniform(4, 15), pixels.shape[:2])[..., None]
    pixels += random.normal(0, 2, pixels.shape)
    label, quality = int(random.integers(1000)), int(random.integers(90, 97))
    few = random.random() < 0.8
    sampling = cv2.IMWRITE_JPEG_SAMPLING_FACTOR_420 if few else cv2.IMWRITE_JPEG_SAMPLING_FACTOR_444
    options = [cv2.IMWRITE_JPEG_QUALITY, quality, cv2.IMWRITE_JPEG_SAMPLING_FACTOR, sampling]
    options += [word for name, value in more.items() for word in (getattr(cv2, name), value)]
    levels = np.clip(pixels, 0, 255).astype(np.uint8)
    return cv2.imencode(suffix, levels, options if suffix == ".jpg" else [])[1].tobytes(), label


def _generate_large_photo(number: int) -> tuple[bytes, int]:
    """Return a photograph enlarged to 12 megapixels, with sensor noise, as JPEG of quality 92 (4:2:0); and a label."""
    import cv2

    random = np.random.default_rng(5_000_000 + number)
    sources = _load_sources()
    source = sources[random.integers(len(sources))]
    height = min(source.shape[0], source.shape[1] * 3 // 4)
    part = source[:height, : height * 4 // 3]
    pixels = cv2.resize(part, (4000, 3000), interpolation=cv2.INTER_CUBIC).astype(np.float32)
    pixels += random.normal(0, random.uniform(3, 6), pixels.shape[:2])[..., None]
    options = [cv2.IMWRITE_JPEG_QUALITY, 92, cv2.IMWRITE_JPEG_SAMPLING_FACTOR, cv2.IMWRITE_JPEG_SAMPLING_FACTOR_420]
    encoded = cv2.imencode(".jpg", np.clip(pixels, 0, 255).astype(np.uint8), options)[1]
    return encoded.tobytes(), int(random.integers(1000))


@cache
def _load_digits() -> Any:
    from sklearn.datasets import load_digits

    return load_digits()


def _generate_digit(number: int) -> tuple[bytes, int]:
    """Return a handwritten digit, slightly rotated, scaled and shifted, as PNG of 28 x 28 pixels; and its label."""
    import cv2

    digits = _load_digits()
    random = np.random.default_rng(9_000_000 + number)
    which = int(random.integers(len(digits.target)))
    canvas = np.zeros((28, 28), np.uint8)
    gray = (digits.images[which] * 15.9).astype(np.uint8)
    canvas[4:24, 4:24] = cv2.resize(gray, (20, 20), interpolation=cv2.INTER_CUBIC)
    turn = cv2.getRotationMatrix2D((14, 14), random.uniform(-15, 15), random.uniform(0.85, 1.15))
    turn[:, 2] += random.uniform(-2, 2, 2)
    canvas = cv2.warpAffine(canvas, turn, (28, 28), flags=cv2.INTER_LINEAR)
    canvas[canvas < 24] = 0
    return cv2.imencode(".png", canvas)[1].tobytes(), int(digits.target[which])


_GENERATORS: dict[str, Callable[[int], tuple[bytes, int]]] = {
    "photos": _generate_photo,
    "digits": _generate_digit,
    "large": _generate_large_photo,
    "progressive": partial(_generate_photo, IMWRITE_JPEG_PROGRESSIVE=1),
    "pngs": partial(_generate_photo, suffix=".png"),
}


def _write_part(folder: str, kind: str, num_images: int, part: int) -> Rows:
    make = _GENERATORS[kind]
    return [write_image(folder, kind, number, make) for number in range(part, num_images, _NUM_PROCESSES)]


def write_image(folder: str, kind: str, number: int, make: Callable[[int], tuple[bytes, int]]) -> tuple[str, int]:
    """Write one image file.

    Parameters
    ----------
    folder : str
    kind : {"photos", "digits", "large", "progressive", "pngs"}
    number : int
    make : callable
        Function from the number to the bytes of the file and the label.

    Returns
    -------
    path : str
        Path relative to the folder.
    label : int
    """
    data, label = make(number)
    label_name = str(label) if kind == "digits" else f"{label:03d}"
    name = f"{kind}/{label_name}/{number:05d}.{'png' if kind in ('digits', 'pngs') else 'jpg'}"
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)
    return name, label


def save_rows(folder: str, kind: str, rows: Rows) -> None:
    """Write paths and labels to a JSON file, in the order of the file numbers, which mixes the labels."""
    rows = sorted(rows, key=lambda row: os.path.basename(row[0]))
    with open(os.path.join(folder, f"{kind}.json"), "w", encoding="utf-8") as file:
        json.dump(rows, file)


def main() -> None:
    """Create the kinds of images that are missing."""
    folder = sys.argv[1]
    for kind, num_images in ((kind, int(count)) for kind, count in (word.split("=") for word in sys.argv[2:])):
        if os.path.exists(os.path.join(folder, f"{kind}.json")):
            continue
        with ProcessPoolExecutor(_NUM_PROCESSES) as pool:
            parts = pool.map(partial(_write_part, folder, kind, num_images), range(_NUM_PROCESSES))
            save_rows(folder, kind, [row for rows in parts for row in rows])


if __name__ == "__main__":
    main()
