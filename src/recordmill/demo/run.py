"""Runs the demo from image files to a trained network, and says in plain sentences what it does."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import recordmill as rm
from recordmill.demo.data import require_packages, write_digits, write_photos
from recordmill.demo.pictures import draw
from recordmill.demo.report import write_report
from recordmill.demo.steps import FAMILIES, Say, check, pack, pack_pairs, read_back, show_info, train_all

_MARK = ".recordmill-demo"
_MADE = ("images", "shards", "contact-sheet.png", "report.md", "report.json", _MARK)
_LEAST_DIGITS = 64
_MOST_SCENES = 24


def run_demo(
    output: str | os.PathLike[str],
    *,
    num_digits: int = 1797,
    epochs: int = 5,
    train: bool = True,
    overwrite: bool = False,
    say: Say,
) -> dict[str, Any]:
    """Run the whole demo."""
    if num_digits < _LEAST_DIGITS:
        raise ValueError(f"the demo needs at least {_LEAST_DIGITS} digits, not {num_digits}")
    require_packages(train=train)
    folder = prepare(Path(output), overwrite=overwrite)
    begun = time.perf_counter()
    report: dict[str, Any] = {"recordmill": rm.__version__, "formats": list(FAMILIES)}
    timed = _Timer(report, say)
    timed("Image files", _write_files, folder, min(num_digits, 1797), say)
    for title, step in (
        ("Packing", pack),
        ("Checking", check),
        ("Looking inside", show_info),
        ("Reading back", read_back),
    ):
        timed(title, step, folder, say)
    if train:
        timed("Training", train_all, folder, epochs, say)
    timed("Images with masks", pack_pairs, folder, min(_MOST_SCENES, num_digits // 16), say)
    timed("Picture", draw, folder, say)
    report["seconds"] = round(time.perf_counter() - begun, 1)
    report["ok"] = all(step.get("ok", True) for step in report["steps"].values())
    write_report(folder, report)
    _end(folder, report, say)
    return report


def prepare(folder: Path, *, overwrite: bool) -> Path:
    """Make the folder, or empty that of an earlier demo."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        made_here = (folder / _MARK).exists()
        if not (overwrite and made_here):
            raise rm.OutputExistsError(
                "the output is already there" if made_here else "the output holds something that no demo made",
                shard=os.fspath(folder),
                hint="choose another folder with output=..." + (", or overwrite=True" if made_here else ""),
            )
        for name in _MADE:
            _remove(folder / name)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _MARK).touch()
    return folder


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


class _Timer:
    """Runs steps, announces them, and notes what they return and how long they took."""

    def __init__(self, report: dict[str, Any], say: Say) -> None:
        self._steps: dict[str, Any] = report.setdefault("steps", {})
        self._say = say

    def __call__(self, title: str, step: Callable[..., dict[str, Any]], *args: Any) -> None:
        self._say(f"{'' if not self._steps else chr(10)}{len(self._steps) + 1}. {title}")
        begun = time.perf_counter()
        found = step(*args)
        self._steps[title] = found | {"seconds": round(time.perf_counter() - begun, 2)}


def _write_files(folder: Path, num_digits: int, say: Say) -> dict[str, Any]:
    images = folder / "images"
    digits, photos = write_digits(images, num_digits), write_photos(images)
    say(
        f"Wrote {digits:,} handwritten digits as PNG files of 32 x 32 pixels, and a label file, "
        "digits.txt, with a line of JSON for each."
    )
    say("They are from the UCI set Optical Recognition of Handwritten Digits (CC BY 4.0), as scikit-learn ships it.")
    say(f"Wrote {photos} photographs that scikit-image and scikit-learn ship as JPEG files, in class folders.")
    return {"num_digits": digits, "num_photos": photos}


def _end(folder: Path, report: dict[str, Any], say: Say) -> None:
    wrong = [title for title, step in report["steps"].items() if not step.get("ok", True)]
    say("")
    if wrong:
        say(f"NOT as it must be: {', '.join(wrong)}. See {folder / 'report.json'}.")
    else:
        say(f"All came out as it must, in {report['seconds']:.0f} seconds.")
        say(f"The picture is {folder / 'contact-sheet.png'}, the report {folder / 'report.md'}.")
    shards, images = folder / "shards", folder / "images"
    say("What to try next:")
    say(f"  recordmill info {shards / 'digits' / 'recordio'}")
    say(f"  recordmill head -n 3 {shards / 'photos' / 'tfrecord'}")
    say(f"  recordmill verify --json {shards / 'digits' / 'ofrecord'}")
    say(f"  recordmill pack {images / 'photos'} my/photos --format recordio --encode jpeg --resize 128")
    say(f'  python -c \'import recordmill as rm; print(rm.open("{shards / "digits" / "tfrecord"}")[0]["label"])\'')
    say("and then the same with a folder of your own.")
