"""Folders of small generated images for the tests of packing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.images import encode_palette_mask
from tests.packing.helpers import smooth_jpeg


@pytest.fixture
def class_folders(tmp_path: Path) -> Path:
    """Three classes with 7, 3 and 4 images, one of them in a folder inside its class."""
    root = tmp_path / "images"
    for number, name in enumerate(["B", "a", "b"]):
        (root / name).mkdir(parents=True)
        for index in range([7, 3, 3][number]):
            ending = ".JPG" if index == 1 else ".jpg"
            (root / name / f"{index:03}{ending}").write_bytes(smooth_jpeg(10 * number + index))
    (root / "b" / "more").mkdir()
    (root / "b" / "more" / "000.jpeg").write_bytes(smooth_jpeg(99))
    (root / "b" / "notes.txt").write_text("not an image")
    return root


@pytest.fixture
def flat_folder(tmp_path: Path) -> Path:
    """Twelve images ``00.jpg`` to ``11.jpg`` of different sizes."""
    root = tmp_path / "flat"
    root.mkdir()
    for index in range(12):
        (root / f"{index:02}.jpg").write_bytes(smooth_jpeg(index, 16 + index, 12 + index))
    return root


@pytest.fixture
def voc(tmp_path: Path) -> Path:
    """A Pascal VOC layout with five pairs, four of which are listed."""
    root = tmp_path / "VOC"
    for folder in ("JPEGImages", "SegmentationClass", "ImageSets/Segmentation"):
        (root / folder).mkdir(parents=True)
    for index in range(5):
        (root / "JPEGImages" / f"2007_{index}.jpg").write_bytes(smooth_jpeg(index, 20 + index))
        (root / "SegmentationClass" / f"2007_{index}.png").write_bytes(encode_palette_mask(index, 20 + index)[0])
    (root / "JPEGImages" / "unlabeled.jpg").write_bytes(smooth_jpeg(7))
    (root / "ImageSets" / "Segmentation" / "train.txt").write_text("2007_3\n2007_0\n2007_1\n2007_4\n")
    return root
