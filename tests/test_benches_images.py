"""The image tasks of the benchmark accept images within a tolerance that wrong crops and colors exceed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import recordmill as rm
from benches import data, goals, windows
from benches.__main__ import main
from benches.contenders import ours_images
from benches.expected import expected
from benches.jobs import Job
from benches.likeness import Likeness, centers, find_fault
from benches.recipes import QUICK
from benches.steps import MEAN, STD, center_box
from benches.worker import _check, _digits

KINDS = ("photos", "digits", "progressive", "arrays", "pngs", "large", "sorted")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("benches"))
    data.ensure(path, KINDS, QUICK, None)
    return path


@pytest.fixture(scope="module")
def crops(folder: str) -> tuple[np.ndarray, np.ndarray]:
    """Center crops, resized with another method than the reference uses, and their labels."""
    images, labels = [], []
    for path, label in Job("P4c", "x", "", folder, 0.0).rows():
        with Image.open(path) as image:
            x, y, width, height = center_box(image.height, image.width)
            part = image.convert("RGB").crop((x, y, x + width, y + height))
            images.append(np.asarray(part.resize((224, 224), Image.Resampling.BICUBIC), np.float32))
            labels.append(label)
    return (np.array(images) - np.float32(MEAN)) / np.float32(STD), np.array(labels)


def _fault(folder: str, tmp_path: Path, images: Any, labels: Any, recipe: Any = "center") -> str | None:
    likeness = Likeness(recipe)
    likeness.add(images[:5], labels[:5])
    likeness.add(images[5:], labels[5:])
    likeness.save(str(tmp_path / "delivered.npz"))
    sources = centers(Job("P4c", "x", "", folder, 0.0).rows(), str(tmp_path / "centers.npz"))
    return find_fault(sources, str(tmp_path / "delivered.npz"), recipe)


def test_find_fault_accepts_center_crops_with_other_resize_method_and_order(
    folder: str, tmp_path: Path, crops: tuple[np.ndarray, np.ndarray]
) -> None:
    images, labels = crops
    order = np.random.default_rng(0).permutation(len(labels))
    assert _fault(folder, tmp_path, images[order], labels[order]) is None
    assert _fault(folder, tmp_path, images[order].transpose(0, 3, 1, 2), labels[order]) is None


@pytest.mark.parametrize(
    "spoil, message",
    [
        (lambda images, labels: (images[..., ::-1], labels), "levels on average"),
        (lambda images, labels: (images[:, :, ::-1], labels), "levels on average"),
        (lambda images, labels: (np.roll(images, 20, axis=1), labels), "levels on average"),
        (lambda images, labels: (images + np.float32(0.1), labels), "levels on average"),
        (lambda images, labels: (images[:-1], labels[:-1]), "labels are not those"),
        (lambda images, labels: (images, np.roll(labels, 1)), "levels on average"),
        (lambda images, labels: (images[np.r_[0, 0, 2 : len(images)]], labels), "levels on average"),
        (lambda images, labels: (images.astype(np.float64), labels), "got float64"),
    ],
)
def test_find_fault_refuses_wrong_center_crops(
    folder: str, tmp_path: Path, crops: tuple[np.ndarray, np.ndarray], spoil: Any, message: str
) -> None:
    fault = _fault(folder, tmp_path, *spoil(*crops))
    assert fault is not None
    assert message in fault


def test_find_fault_refuses_center_crops_and_flat_images_as_random_crops(
    folder: str, tmp_path: Path, crops: tuple[np.ndarray, np.ndarray]
) -> None:
    images, labels = crops
    assert _fault(folder, tmp_path, images, labels, "crop") == "every image is the center of its source"
    means = images.mean((1, 2), keepdims=True)
    fault = _fault(folder, tmp_path, means.repeat(224, 1).repeat(224, 2), labels, "crop")
    assert fault is not None
    assert fault.startswith("contrast is 0.00")


def test_digits_refuses_wrong_range_or_dtype() -> None:
    levels = np.arange(28 * 28).reshape(1, 28, 28) % 256
    right = (levels * np.float32(1 / 255)).astype(np.float32)
    assert list(_digits(right, [3])) == [(levels.astype(np.uint8).tobytes(), 3)]
    for wrong in (right.astype(np.float64), right + np.float32(0.001)):
        with pytest.raises(ValueError, match="must be float32"):
            list(_digits(wrong, [3]))


def test_window_digest_equals_pillow(folder: str) -> None:
    job = Job("image-windows", "ours_engine", "", folder, 0.0)
    windows.write_list(job)
    targets = windows.read_list(job)
    assert len(targets) == 3 * QUICK.photos
    assert len(set(targets)) == len(targets)
    delivered = windows.digest_of(rm.decode_jpeg(file, window=window) for file, window in targets)
    assert delivered == expected(job)
    others = windows.digest_of(rm.decode_jpeg(file, window=(*window[:2], 1, 1)) for file, window in targets if window)
    assert others != delivered


def test_sorted_digits_digest_equals_files_in_any_order(folder: str) -> None:
    labels = [label for _, label in Job("sorted", "ours", "", folder, 0.0).rows()]
    assert len(labels) == QUICK.sorted and labels == sorted(labels) and len(set(labels)) == 10
    for variant in ("file order", "shuffled"):
        job = Job("sorted", "ours_images", variant, folder, 0.0)
        assert _check(ours_images, job) == expected(job)


@pytest.mark.parametrize("task", ["image-whole", "image-progressive", "image-png-digits", "image-png-photos"])
def test_whole_image_digest_equals_pillow(folder: str, task: str) -> None:
    job = Job(task, "ours_engine", "", folder, 0.0)
    windows.write_list(job)
    decode = rm.decode_png if "png" in task else rm.decode_jpeg
    assert windows.digest_of(decode(file) for file, _ in windows.read_list(job)) == expected(job)


def test_judge_compares_rates_per_core_and_ignores_limits() -> None:
    def entry(contender: str, variant: str, rate: float, cores: float) -> dict[str, Any]:
        runs = [{"rate": rate, "cores": cores, "rate_per_core": rate / cores}]
        return {"contender": contender, "variant": variant, "fault": "", "runs": runs}

    def reached(task: str, *entries: dict[str, Any]) -> list[bool | None]:
        return [verdict.reached for verdict in goals.judge({"tasks": {task: list(entries)}})]

    assert reached("image-progressive", entry("ours", "", 100, 0.5), entry("libjpeg_turbo", "", 150, 1.0)) == [True]
    assert reached("image-progressive", entry("ours", "", 100, 1.0), entry("libjpeg_turbo", "", 80, 0.5)) == [False]
    threads = (entry("ours", "1 thread", 100, 1), entry("ours", "2 threads", 195, 2))
    assert reached("image-threads", *threads) == [True]
    ours = (entry("ours", "one", 100, 1), entry("ours", "batch", 90, 1))
    limit = entry("limits", "page cache read, batches of 128", 100, 1)
    assert reached("P6b", *ours, limit) == [None, True]
    assert reached("P6b", *ours, limit, entry("mxnet", "one", 60, 1)) == [False, True]


@pytest.mark.deep
def test_quick_run_measures_images_first_batches_random_access_and_waiting(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    figures = tmp_path / "figures.json"
    words = ["--quick", "--tasks", "P5,P6?,wait*", "--json", str(figures)]
    assert main(words) == 0
    tables = capsys.readouterr().out
    results = json.loads(figures.read_text("utf-8"))
    assert list(results["tasks"]) == ["P5", "P6a", "P6b", "waiting"]
    assert all(entry["runs"] and not entry["fault"] for entries in results["tasks"].values() for entry in entries)
    run = results["tasks"]["P6a"][0]["runs"][0]
    assert run["first_s"] > 0
    assert run["beyond_mb"] < run["peak_mb"]
    assert "MB beyond the batches in flight" in tables
    assert "% of a core" in tables
