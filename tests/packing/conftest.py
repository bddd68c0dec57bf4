"""Small generated pictures for the tests of packing."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

Make = Callable[..., bytes]


def encode(image: Image.Image, encoding: str = "PNG", **options) -> bytes:
    out = io.BytesIO()
    image.save(out, encoding, **options)
    return out.getvalue()


def jpeg(seed: int, width: int = 20, height: int = 14) -> bytes:
    """Encode a smooth picture that differs from seed to seed."""
    y, x = np.mgrid[:height, :width]
    pixels = np.stack([(x * 9 + seed * 31) % 256, (y * 13 + seed * 7) % 256, (x + y + seed) % 256], -1)
    return encode(Image.fromarray(pixels.astype(np.uint8)), "JPEG", quality=90)


def palette_mask(seed: int = 0, width: int = 20, height: int = 14, num_classes: int = 21) -> tuple[bytes, np.ndarray]:
    """Encode class indices 0 to 20 and 255 as VOC does, with a palette of 256 colours."""
    indices = np.random.default_rng(seed).integers(0, num_classes, (height, width)).astype(np.uint8)
    indices[:, -1] = 255
    image = Image.fromarray(indices)
    image.putpalette(np.random.default_rng(1).integers(0, 256, 768).astype(np.uint8).tobytes())
    return encode(image), indices


@pytest.fixture
def class_folders(tmp_path: Path) -> Path:
    """Three classes with 7, 3 and 4 images, one of them in a folder inside its class."""
    root = tmp_path / "images"
    for number, name in enumerate(["B", "a", "b"]):
        (root / name).mkdir(parents=True)
        for index in range([7, 3, 3][number]):
            ending = ".JPG" if index == 1 else ".jpg"
            (root / name / f"{index:03}{ending}").write_bytes(jpeg(10 * number + index))
    (root / "b" / "more").mkdir()
    (root / "b" / "more" / "000.jpeg").write_bytes(jpeg(99))
    (root / "b" / "notes.txt").write_text("no image")
    return root


@pytest.fixture
def flat_folder(tmp_path: Path) -> Path:
    """Twelve images ``00.jpg`` to ``11.jpg`` of different sizes."""
    root = tmp_path / "flat"
    root.mkdir()
    for index in range(12):
        (root / f"{index:02}.jpg").write_bytes(jpeg(index, 16 + index, 12 + index))
    return root


@pytest.fixture
def voc(tmp_path: Path) -> Path:
    """A Pascal VOC layout with five pairs, of which the list names four."""
    root = tmp_path / "VOC"
    for folder in ("JPEGImages", "SegmentationClass", "ImageSets/Segmentation"):
        (root / folder).mkdir(parents=True)
    for index in range(5):
        (root / "JPEGImages" / f"2007_{index}.jpg").write_bytes(jpeg(index, 20 + index))
        (root / "SegmentationClass" / f"2007_{index}.png").write_bytes(palette_mask(index, 20 + index)[0])
    (root / "JPEGImages" / "unlabelled.jpg").write_bytes(jpeg(7))
    (root / "ImageSets" / "Segmentation" / "train.txt").write_text("2007_3\n2007_0\n2007_1\n2007_4\n")
    return root
