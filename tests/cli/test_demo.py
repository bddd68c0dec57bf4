"""`recordmill demo`: all but the training with generated images, and the whole of it as a deep test."""

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
from recordmill.demo import data, masks, run as whole, steps
from recordmill.demo.sheet import colored, opened
from tests.cli.conftest import Done

Run = Callable[..., Done]


def _digits(num_digits: int) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(5)
    images = generator.integers(0, 256, (num_digits, 8, 8)).astype(np.uint8)
    return images, np.arange(num_digits) % 10


def _photo(place: str) -> Image.Image:
    return Image.effect_noise((60 + len(place), 40), 60).convert("RGB")


def _parts(image: Image.Image) -> np.ndarray:
    return masks.outline(
        (np.arange(image.height)[:, None] * 4 // image.height + np.zeros(image.width)).astype(np.uint8)
    )


@pytest.fixture
def generated(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put generated images in the place of those that scikit-learn and scikit-image carry."""
    monkeypatch.setattr(whole, "require_packages", lambda **_: None)
    monkeypatch.setattr(masks, "_by_brightness", _parts)
    for module in (data, masks):
        monkeypatch.setattr(module, "load_digits", _digits)
        monkeypatch.setattr(module, "load_photo", _photo)


def test_demo_when_run_without_training_then_everything_holds(run: Run, generated: None, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    done = run("demo", "--output", folder, "--digits", "96", "--no-train", "--json")
    assert done.code == 0 and done.json["ok"] is True
    assert "96 handwritten digits" in done.err and "What to try next:" in done.err
    assert done.json == json.loads((folder / "report.json").read_text())
    assert set(done.json["steps"]["Packing"]["packed"]) == {
        f"{what}/{name}" for what in ("digits", "photos") for name in ("tfrecord", "ofrecord", "recordio")
    }
    assert len(list((folder / "shards" / "digits" / "ofrecord").glob("part-*"))) == 5
    assert all(one["same"] for one in done.json["steps"]["Images with masks"]["pairs"].values())
    assert done.json["steps"]["Images with masks"]["indices"] == [*range(11), 255]
    assert opened((folder / "contact-sheet.png").read_bytes()).width > 1000
    report = (folder / "report.md").read_text()
    assert "All came out as it must." in report and "| digits/ofrecord | 96 | 5 |" in report


def test_demo_when_text_then_sentences_go_to_standard_output(run: Run, generated: None, tmp_path: Path) -> None:
    done = run("demo", "--output", tmp_path / "out", "--digits", "64", "--no-train")
    assert done.code == 0 and done.err == ""
    assert "\n5. Reading back\n" in done.out and "CC BY 4.0" in done.out
    label = rm.open(tmp_path / "out" / "shards" / "digits" / "tfrecord")[7]["label"]
    assert int(label) == 7


def test_demo_when_the_folder_is_there_then_refused_and_overwrite_replaces(
    run: Run, generated: None, tmp_path: Path
) -> None:
    folder = tmp_path / "out"
    command = ("demo", "--output", folder, "--digits", "64", "--no-train")
    assert run(*command).code == 0
    (folder / "mine.txt").write_text("keep me")
    (folder / "shards" / "old").write_text("an earlier demo's")
    done = run(*command)
    assert done.code == 2 and "hint: choose another folder with --output, or --overwrite" in done.err
    assert run(*command, "--overwrite").code == 0
    assert (folder / "mine.txt").read_text() == "keep me" and not (folder / "shards" / "old").exists()


def test_demo_when_the_folder_is_no_demos_then_nothing_in_it_is_touched(
    run: Run, generated: None, tmp_path: Path
) -> None:
    (tmp_path / "images").mkdir()
    (tmp_path / "images" / "mine.jpg").write_bytes(b"precious")
    done = run("demo", "--output", tmp_path, "--overwrite", "--no-train")
    assert done.code == 2 and "no demo made" in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["images"]


def test_demo_when_digits_are_too_few_then_refused(run: Run, generated: None, tmp_path: Path) -> None:
    done = run("demo", "--output", tmp_path / "out", "--digits", "5", "--no-train")
    assert done.code == 2 and "at least 64 digits" in done.err and not (tmp_path / "out").exists()


@pytest.mark.parametrize("train, missing", [(True, ["keras", "jax"]), (False, ["scikit-learn"])])
def test_demo_when_a_package_is_missing_then_says_what_to_install(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, train: bool, missing: list[str]
) -> None:
    absent = {"keras", "jax"} if train else {"sklearn"}
    monkeypatch.setattr(data, "find_spec", lambda name: None if name in absent else object())
    done = run("demo", "--output", tmp_path / "out", *([] if train else ["--no-train"]))
    assert done.code == 2 and not (tmp_path / "out").exists()
    hint = done.err.splitlines()[-1]
    assert hint.startswith(f"hint: pip install {' '.join(missing)}")
    assert ("--no-train" in hint) is train


def test_reading_back_when_a_file_differs_then_is_told(generated: None, tmp_path: Path) -> None:
    said: list[str] = []
    data.write_digits(tmp_path / "images", 64)
    data.write_photos(tmp_path / "images")
    steps.pack(tmp_path, said.append)
    assert steps.read_back(tmp_path, said.append)["ok"] is True
    next((tmp_path / "images" / "digits").iterdir()).write_bytes(b"another")
    assert steps.read_back(tmp_path, said.append)["ok"] is False
    assert "DIFFER" in said[-6]


def test_checking_when_a_shard_is_damaged_then_is_told(generated: None, tmp_path: Path) -> None:
    said: list[str] = []
    data.write_digits(tmp_path / "images", 64)
    data.write_photos(tmp_path / "images")
    steps.pack(tmp_path, said.append)
    shard = tmp_path / "shards" / "photos" / "ofrecord" / "part-2"
    content = bytearray(shard.read_bytes())
    content[len(content) // 2] ^= 1
    shard.write_bytes(content)
    assert steps.check(tmp_path, said.append)["ok"] is False
    assert "OFRecord" in said[-2] and "1 FAULTS" in said[-2]


def test_palette_when_made_then_has_the_colors_of_pascal_voc() -> None:
    palette = masks.voc_palette()
    known = {0: (0, 0, 0), 1: (128, 0, 0), 2: (0, 128, 0), 4: (0, 0, 128), 8: (64, 0, 0), 15: (192, 128, 128)}
    known |= {20: (0, 64, 128), 255: (224, 224, 192)}
    assert {index: tuple(palette[index].tolist()) for index in known} == known
    assert len({tuple(color) for color in palette.tolist()}) == 256


def test_outline_when_classes_touch_then_both_sides_are_marked() -> None:
    indices = np.zeros((4, 5), np.uint8)
    indices[:, 3:] = 7
    assert masks.outline(indices).tolist() == [[0, 0, 255, 255, 7]] * 4
    assert masks.outline(np.full((3, 3), 4, np.uint8)).tolist() == [[4] * 3] * 3


def test_mask_files_when_written_then_hold_the_indices_and_the_palette(generated: None, tmp_path: Path) -> None:
    written = masks.write_pairs(tmp_path, 2)
    assert (tmp_path / "ImageSets" / "Segmentation" / "train.txt").read_text().split() == list(written)
    for name, indices in written.items():
        mask = opened((tmp_path / "SegmentationClass" / f"{name}.png").read_bytes())
        assert mask.mode == "P" and np.array_equal(np.asarray(mask), indices)
        assert np.array_equal(np.asarray(mask.convert("RGB")), np.asarray(colored(indices)))
        assert opened((tmp_path / "JPEGImages" / f"{name}.jpg").read_bytes()).size == mask.size


@pytest.mark.deep
def test_demo_when_run_as_users_do_then_three_equal_curves_fall(tmp_path: Path) -> None:
    folder = tmp_path / "demo-out"
    command = [sys.executable, "-m", "recordmill", "demo", "--json", "--output", str(folder)]
    done = subprocess.run([*command, "--digits", "640", "--epochs", "3"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    training = report["steps"]["Training"]
    assert report["ok"] and training["equal"] and training["falling"]
    curves = [curve["losses"] for curve in training["curves"].values()]
    assert len(curves) == 3 and curves[0] == curves[1] == curves[2] and len(curves[0]) == 27
    assert training["curves"]["tfrecord"]["accuracy"] > 0.5
    first = rm.open(folder / "shards" / "digits" / "recordio")[0]
    assert opened(first["image"]).size == (32, 32) and int(first["label"]) == 0
    assert report["steps"]["Image files"]["num_photos"] == 12
