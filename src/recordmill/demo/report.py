"""Write the results of the demo to ``report.md`` and ``report.json``."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any


def write_report(folder: Path, report: dict[str, Any]) -> None:
    """Write the results of the demo to ``report.json`` (for programs) and to ``report.md`` (for people)."""
    (folder / "report.json").write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    (folder / "report.md").write_text("\n".join(_format_markdown(report)) + "\n", encoding="utf-8")


def _format_markdown(report: dict[str, Any]) -> Iterator[str]:
    steps = report["steps"]
    verdict = "All results are as expected." if report["ok"] else "Some results are NOT as expected."
    yield "# Results of the demo"
    yield ""
    versions = f"recordmill {report['recordmill']}, Python {platform.python_version()}"
    yield f"{verdict} {versions}, {report['seconds']} seconds."
    yield ""
    yield "![Digits, photographs and masks, read from the shards](contact-sheet.png)"
    header: tuple[str, ...] = ("dataset", "records", "shards", "bytes", "seconds")
    yield from _format_section("Packed", header, _format_packing_rows(steps["Packing"]["packed"]))
    header = ("format", "records", "faults", "checks")
    yield from _format_section("Verified", header, _format_verification_rows(steps["Checking"]["reports"]))
    header = ("dataset", "same bytes and labels", "seconds")
    yield from _format_section("Read back", header, _format_reading_rows(steps["Reading back"]["sets"]))
    if "Training" in steps:
        training = steps["Training"]
        header = ("format", "loss per epoch", "accuracy")
        yield from _format_section("Trained", header, _format_training_rows(training["curves"]))
        yield ""
        yield f"Equal in every step: {_format_bool(training['equal'])}. Falling: {_format_bool(training['falling'])}."
    header = ("format", "pixels", "same class indices")
    yield from _format_section("Masks", header, _format_mask_rows(steps["Images with masks"]["pairs"]))
    yield ""
    yield "The digits are from the UCI dataset Optical Recognition of Handwritten Digits"
    yield "by E. Alpaydin and C. Kaynak (CC BY 4.0)."
    yield "The photographs are part of scikit-image and scikit-learn; `china` and `flower` are CC BY 2.0."


def _format_section(title: str, header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> Iterator[str]:
    yield ""
    yield f"## {title}"
    yield ""
    for row in (header, ("---",) * len(header), *rows):
        yield f"| {' | '.join(row)} |"


def _format_packing_rows(packed: dict[str, Any]) -> list[tuple[str, ...]]:
    return [
        (
            name,
            f"{result['num_records']:,}",
            str(len(result["paths"])),
            f"{result['num_bytes']:,}",
            str(result["pack_seconds"]),
        )
        for name, result in packed.items()
    ]


def _format_verification_rows(reports: dict[str, Any]) -> list[tuple[str, ...]]:
    return [
        (name, f"{report['num_records']:,}", str(report["num_faults"]), "; ".join(report["guarantees"][name]))
        for name, report in reports.items()
    ]


def _format_reading_rows(results: dict[str, Any]) -> list[tuple[str, ...]]:
    return [(name, _format_bool(result["same"]), str(result["read_seconds"])) for name, result in results.items()]


def _format_training_rows(curves: dict[str, Any]) -> list[tuple[str, ...]]:
    return [
        (name, " ".join(f"{loss:.3f}" for loss in curve["epoch_losses"]), f"{curve['accuracy']:.1%}")
        for name, curve in curves.items()
    ]


def _format_mask_rows(pairs: dict[str, Any]) -> list[tuple[str, ...]]:
    return [(name, f"{result['num_pixels']:,}", _format_bool(result["same"])) for name, result in pairs.items()]


def _format_bool(value: bool) -> str:
    return "yes" if value else "NO"
