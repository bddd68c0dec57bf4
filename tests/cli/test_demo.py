"""`recordmill demo`: with generated images and without training, and completely as a deep test."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import recordmill as rm
from recordmill.demo import images, run as run_module, steps
from recordmill.demo.contact_sheet import color_mask
from recordmill.demo.images import open_image
from tests.cli.conftest import Result

Run = Callable[..., Result]


def _digits(num_digits: int) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(5)
    pixels = generator.integers(0, 256, (num_digits, 8, 8)).astype(np.uint8)
    return pixels, np.arange(num_digits) % 10


def _photo(name: str) -> Image.Image:
    return Image.effect_noise((60 + len(name), 40), 60).convert("RGB")


def _segments(image: Image.Image) -> np.ndarray:
    return images.ignore_class_borders(
        (np.arange(image.height)[:, None] * 4 // image.height + np.zeros(image.width)).astype(np.uint8)
    )


@pytest.fixture
def generated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the images of scikit-learn and scikit-image by generated ones."""
    monkeypatch.setattr(run_module, "require_packages", lambda **_: None)
    monkeypatch.setattr(images, "_segment_by_brightness", _segments)
    monkeypatch.setattr(images, "load_digits", _digits)
    monkeypatch.setattr(images, "load_photo", _photo)


def test_demo_without_training_writes_shards_and_reports(run: Run, generated: None, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    result = run("demo", "--output", folder, "--digits", "96", "--no-train", "--json")
    assert result.code == 0 and result.json["ok"] is True
    assert "96 handwritten digits" in result.err and "What to try next:" in result.err
    assert result.json == json.loads((folder / "report.json").read_text())
    assert set(result.json["steps"]["Packing"]["packed"]) == {
        f"{what}/{name}" for what in ("digits", "photos") for name in ("tfrecord", "ofrecord", "recordio")
    }
    assert len(list((folder / "shards" / "digits" / "ofrecord").glob("part-*"))) == 5
    assert all(one["same"] for one in result.json["steps"]["Images with masks"]["pairs"].values())
    assert result.json["steps"]["Images with masks"]["indices"] == [*range(11), 255]
    assert open_image((folder / "contact-sheet.png").read_bytes()).width > 1000
    report = (folder / "report.md").read_text()
    assert "All results are as expected." in report and "| digits/ofrecord | 96 | 5 |" in report


def test_demo_prints_text_to_standard_output(run: Run, generated: None, tmp_path: Path) -> None:
    result = run("demo", "--output", tmp_path / "out", "--digits", "64", "--no-train")
    assert result.code == 0 and result.err == ""
    assert "\n5. Reading back\n" in result.out and "CC BY 4.0" in result.out
    label = rm.open(tmp_path / "out" / "shards" / "digits" / "tfrecord")[7]["label"]
    assert int(label) == 7


def test_demo_replaces_earlier_output_only_with_overwrite(run: Run, generated: None, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    command = ("demo", "--output", folder, "--digits", "64", "--no-train")
    assert run(*command).code == 0
    (folder / "mine.txt").write_text("keep me")
    (folder / "shards" / "old").write_text("an earlier demo's")
    result = run(*command)
    assert result.code == 2
    assert "hint: choose another folder with --output, or replace the output with --overwrite" in result.err
    assert run(*command, "--overwrite").code == 0
    assert (folder / "mine.txt").read_text() == "keep me" and not (folder / "shards" / "old").exists()


def test_demo_does_not_overwrite_folder_of_other_files(run: Run, generated: None, tmp_path: Path) -> None:
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "mine.jpg").write_bytes(b"precious")
    result = run("demo", "--output", tmp_path, "--overwrite", "--no-train")
    assert result.code == 2 and "files of other programs" in result.err
    assert [path.name for path in tmp_path.iterdir()] == ["images"]


def test_demo_rejects_too_few_digits(run: Run, generated: None, tmp_path: Path) -> None:
    result = run("demo", "--output", tmp_path / "out", "--digits", "5", "--no-train")
    assert result.code == 2 and "at least 64 digits" in result.err and not (tmp_path / "out").exists()


@pytest.mark.parametrize("train, missing", [(True, ["keras", "jax"]), (False, ["scikit-learn"])])
def test_demo_names_missing_packages_to_install(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, train: bool, missing: list[str]
) -> None:
    absent = {"keras", "jax"} if train else {"sklearn"}
    monkeypatch.setattr(images, "find_spec", lambda name: None if name in absent else object())
    result = run("demo", "--output", tmp_path / "out", *([] if train else ["--no-train"]))
    assert result.code == 2 and not (tmp_path / "out").exists()
    hint = result.err.splitlines()[-1]
    assert hint.startswith(f"hint: pip install {' '.join(missing)}")
    assert ("--no-train" in hint) is train


def test_read_back_reports_changed_image_file(generated: None, tmp_path: Path) -> None:
    printed: list[str] = []
    images.write_digits(tmp_path / "images", 64)
    images.write_photos(tmp_path / "images")
    steps.pack_images(tmp_path, printed.append)
    assert steps.compare_with_files(tmp_path, printed.append)["ok"] is True
    next((tmp_path / "images" / "digits").iterdir()).write_bytes(b"another")
    assert steps.compare_with_files(tmp_path, printed.append)["ok"] is False
    assert "DIFFER" in printed[-6]


def test_check_reports_corrupt_shard(generated: None, tmp_path: Path) -> None:
    printed: list[str] = []
    images.write_digits(tmp_path / "images", 64)
    images.write_photos(tmp_path / "images")
    steps.pack_images(tmp_path, printed.append)
    shard = tmp_path / "shards" / "photos" / "ofrecord" / "part-2"
    content = bytearray(shard.read_bytes())
    content[len(content) // 2] ^= 1
    shard.write_bytes(content)
    assert steps.verify_shards(tmp_path, printed.append)["ok"] is False
    assert "OFRecord" in printed[-2] and "1 FAULTS" in printed[-2]


def test_voc_palette_has_colors_of_pascal_voc() -> None:
    palette = images.voc_palette()
    known = {0: (0, 0, 0), 1: (128, 0, 0), 2: (0, 128, 0), 4: (0, 0, 128), 8: (64, 0, 0), 15: (192, 128, 128)}
    known |= {20: (0, 64, 128), 255: (224, 224, 192)}
    assert {index: tuple(palette[index].tolist()) for index in known} == known
    assert len({tuple(color) for color in palette.tolist()}) == 256


def test_mark_borders_marks_both_sides_of_a_border() -> None:
    indices = np.zeros((4, 5), np.uint8)
    indices[:, 3:] = 7
    assert images.ignore_class_borders(indices).tolist() == [[0, 0, 255, 255, 7]] * 4
    assert images.ignore_class_borders(np.full((3, 3), 4, np.uint8)).tolist() == [[4] * 3] * 3


def test_write_pairs_stores_indices_and_palette(generated: None, tmp_path: Path) -> None:
    written = images.write_pairs(tmp_path, 2)
    assert (tmp_path / "ImageSets" / "Segmentation" / "train.txt").read_text().split() == list(written)
    for name, indices in written.items():
        mask = open_image((tmp_path / "SegmentationClass" / f"{name}.png").read_bytes())
        assert mask.mode == "P" and np.array_equal(np.asarray(mask), indices)
        assert np.array_equal(np.asarray(mask.convert("RGB")), np.asarray(color_mask(indices)))
        assert open_image((tmp_path / "JPEGImages" / f"{name}.jpg").read_bytes()).size == mask.size


@pytest.mark.deep
def test_demo_trains_with_equal_falling_losses_on_all_formats(tmp_path: Path) -> None:
    folder = tmp_path / "demo-out"
    command = [sys.executable, "-m", "recordmill", "demo", "--json", "--output", str(folder)]
    result = subprocess.run([*command, "--digits", "640", "--epochs", "3"], capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    report = json.loads(result.stdout)
    training = report["steps"]["Training"]
    assert report["ok"] and training["equal"] and training["falling"]
    curves = [curve["losses"] for curve in training["curves"].values()]
    assert len(curves) == 3 and curves[0] == curves[1] == curves[2] and len(curves[0]) == 27
    assert training["curves"]["tfrecord"]["accuracy"] > 0.5
    first = rm.open(folder / "shards" / "digits" / "recordio")[0]
    assert open_image(first["image"]).size == (32, 32) and int(first["label"]) == 0
    assert report["steps"]["Image files"]["num_photos"] == 12
