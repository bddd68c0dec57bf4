"""Run all steps of the demo, print their results and write the report."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import recordmill as rm
from recordmill.demo.contact_sheet import write_contact_sheet
from recordmill.demo.images import NUM_DIGITS, require_packages, write_digits, write_photos
from recordmill.demo.report import write_report
from recordmill.demo.steps import (
    DEMO_FORMATS,
    PrintLine,
    compare_with_files,
    pack_and_compare_pairs,
    pack_images,
    print_features,
    train_on_all_formats,
    verify_shards,
)

# An empty file that marks a folder as the output of a demo.
_MARKER = ".recordmill-demo"
_OUTPUT_NAMES = ("images", "shards", "contact-sheet.png", "report.md", "report.json", _MARKER)
_MIN_DIGITS = 64
_MAX_SCENES = 24


def run_demo(
    output: str | os.PathLike[str],
    *,
    num_digits: int = NUM_DIGITS,
    epochs: int = 5,
    train: bool = True,
    overwrite: bool = False,
    print_line: PrintLine,
) -> dict[str, Any]:
    """Run all steps of the demo and return the report."""
    if num_digits < _MIN_DIGITS:
        raise ValueError(f"the demo needs at least {_MIN_DIGITS} digits, got {num_digits}")
    require_packages(train=train)
    folder = _prepare_folder(Path(output), overwrite=overwrite)
    start = time.perf_counter()
    report: dict[str, Any] = {"recordmill": rm.__version__, "formats": list(DEMO_FORMATS)}
    run_step = _StepRunner(report, print_line)
    run_step("Image files", _write_image_files, folder, min(num_digits, NUM_DIGITS), print_line)
    run_step("Packing", pack_images, folder, print_line)
    run_step("Checking", verify_shards, folder, print_line)
    run_step("Looking inside", print_features, folder, print_line)
    run_step("Reading back", compare_with_files, folder, print_line)
    if train:
        run_step("Training", train_on_all_formats, folder, epochs, print_line)
    run_step("Images with masks", pack_and_compare_pairs, folder, min(_MAX_SCENES, num_digits // 16), print_line)
    run_step("Picture", write_contact_sheet, folder, print_line)
    report["seconds"] = round(time.perf_counter() - start, 1)
    report["ok"] = all(step.get("ok", True) for step in report["steps"].values())
    write_report(folder, report)
    _print_summary(folder, report, print_line)
    return report


def _prepare_folder(folder: Path, *, overwrite: bool) -> Path:
    """Create the output folder, or remove the output of an earlier demo from it."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        is_demo_output = (folder / _MARKER).exists()
        if not (overwrite and is_demo_output):
            raise rm.OutputExistsError(
                "the output already exists" if is_demo_output else "the output folder contains files of other programs",
                shard=os.fspath(folder),
                hint="choose another folder with output=..."
                + (", or replace the output with overwrite=True" if is_demo_output else ""),
            )
        for name in _OUTPUT_NAMES:
            _remove_path(folder / name)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _MARKER).touch()
    return folder


def _remove_path(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


class _StepRunner:
    """Runs the steps of the demo, prints their titles, and adds their results and durations to the report."""

    def __init__(self, report: dict[str, Any], print_line: PrintLine) -> None:
        self._steps: dict[str, Any] = report.setdefault("steps", {})
        self._print_line = print_line

    def __call__(self, title: str, step: Callable[..., dict[str, Any]], *args: Any) -> None:
        self._print_line(f"{chr(10) if self._steps else ''}{len(self._steps) + 1}. {title}")
        start = time.perf_counter()
        result = step(*args)
        self._steps[title] = result | {"seconds": round(time.perf_counter() - start, 2)}


def _write_image_files(folder: Path, num_digits: int, print_line: PrintLine) -> dict[str, Any]:
    images = folder / "images"
    digits, photos = write_digits(images, num_digits), write_photos(images)
    print_line(
        f"Wrote {digits:,} handwritten digits as PNG files of 32 x 32 pixels, and a label file, "
        "digits.txt, with a line of JSON for each."
    )
    print_line("They are from the UCI dataset Optical Recognition of Handwritten Digits (CC BY 4.0) in scikit-learn.")
    print_line(f"Wrote {photos} photographs from scikit-image and scikit-learn as JPEG files, in class folders.")
    return {"num_digits": digits, "num_photos": photos}


def _print_summary(folder: Path, report: dict[str, Any], print_line: PrintLine) -> None:
    failed = [title for title, step in report["steps"].items() if not step.get("ok", True)]
    print_line("")
    if failed:
        print_line(f"Steps with unexpected results: {', '.join(failed)}. See {folder / 'report.json'}.")
    else:
        print_line(f"All results are as expected, after {report['seconds']:.0f} seconds.")
        print_line(f"Contact sheet: {folder / 'contact-sheet.png'}. Report: {folder / 'report.md'}.")
    shards, images = folder / "shards", folder / "images"
    print_line("What to try next:")
    print_line(f"  recordmill info {shards / 'digits' / 'recordio'}")
    print_line(f"  recordmill head -n 3 {shards / 'photos' / 'tfrecord'}")
    print_line(f"  recordmill verify --json {shards / 'digits' / 'ofrecord'}")
    print_line(f"  recordmill pack {images / 'photos'} my/photos --format recordio --encode jpeg --resize 128")
    print_line(
        f'  python -c \'import recordmill as rm; print(rm.open("{shards / "digits" / "tfrecord"}")[0]["label"])\''
    )
    print_line("Then use a folder of your own images.")
