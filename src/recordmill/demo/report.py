"""Writes what the demo did as ``report.md`` and ``report.json``."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any


def write_report(folder: Path, report: dict[str, Any]) -> None:
    """Write both files."""
    (folder / "report.json").write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    (folder / "report.md").write_text("\n".join(_lines(report)) + "\n", encoding="utf-8")


def _lines(report: dict[str, Any]) -> Iterator[str]:
    steps = report["steps"]
    verdict = "All came out as it must." if report["ok"] else "NOT all came out as it must."
    yield "# What the demo did"
    yield ""
    versions = f"recordmill {report['recordmill']}, Python {platform.python_version()}"
    yield f"{verdict} {versions}, {report['seconds']} seconds."
    yield ""
    yield "![Digits, photographs and masks, read from the shards](contact-sheet.png)"
    yield from _section("Packed", ("set", "records", "shards", "bytes", "seconds"), _packed(steps["Packing"]["packed"]))
    yield from _section(
        "Checked", ("format", "records", "faults", "what was checked"), _checked(steps["Checking"]["reports"])
    )
    yield from _section("Read back", ("set", "same bytes and labels", "seconds"), _read(steps["Reading back"]["sets"]))
    if "Training" in steps:
        found = steps["Training"]
        yield from _section("Trained: loss per epoch", ("format", "losses", "recognized"), _trained(found["curves"]))
        yield ""
        yield f"Equal in every step: {_yes(found['equal'])}. Falling: {_yes(found['falling'])}."
    pairs = steps["Images with masks"]["pairs"]
    rows = [(name, f"{one['num_pixels']:,}", _yes(one["same"])) for name, one in pairs.items()]
    yield from _section("Masks", ("format", "pixels", "every index survived"), rows)
    yield ""
    yield "The digits are from the UCI set Optical Recognition of Handwritten Digits"
    yield "by E. Alpaydin and C. Kaynak (CC BY 4.0)."
    yield "The photographs come with scikit-image and scikit-learn; `china` and `flower` are CC BY 2.0."


def _section(title: str, header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    yield ""
    yield f"## {title}"
    yield ""
    for row in (header, ("---",) * len(header), *rows):
        yield f"| {' | '.join(row)} |"


def _packed(found: dict[str, Any]) -> list[tuple[str, ...]]:
    return [
        (name, f"{one['num_records']:,}", str(len(one["paths"])), f"{one['num_bytes']:,}", str(one["pack_seconds"]))
        for name, one in found.items()
    ]


def _checked(found: dict[str, Any]) -> list[tuple[str, ...]]:
    return [
        (name, f"{one['num_records']:,}", str(one["num_faults"]), "; ".join(one["guarantees"][name]))
        for name, one in found.items()
    ]


def _read(found: dict[str, Any]) -> list[tuple[str, ...]]:
    return [(name, _yes(one["same"]), str(one["read_seconds"])) for name, one in found.items()]


def _trained(found: dict[str, Any]) -> list[tuple[str, ...]]:
    return [
        (name, " ".join(f"{loss:.3f}" for loss in one["epoch_losses"]), f"{one['accuracy']:.1%}")
        for name, one in found.items()
    ]


def _yes(value: bool) -> str:
    return "yes" if value else "NO"
