"""Format the statistics that `recordmill info --stats` prints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from recordmill.cli.printer import format_count, format_table
from recordmill.value_text import LABEL_FEATURES, find_class_name, format_number

_MAX_LISTED_VALUES = 20


def format_statistics(plain: dict[str, Any], classes: list[str] | None) -> Iterator[str]:
    """Format the statistics of all records as lines; `plain` is the result of `Statistics.to_json`."""
    skipped = f"; {format_count(plain['num_damaged'], 'damaged record')} skipped" if plain["num_damaged"] else ""
    yield f"statistics of all records: {format_count(plain['num_records'], 'record')} read{skipped}"
    features = plain["features"]
    if not features:
        return
    header = ("name", "values", "per record", "missing", "minimum", "maximum", "mean", "not finite", "bytes")
    yield from (f"  {line}" for line in format_table(header, map(_format_feature_row, features, features.values())))
    for name, feature in features.items():
        if feature["images"] is not None:
            yield f"  {name}: {_format_image_statistics(feature['images'])}"
    for name, feature in features.items():
        if feature["value_counts"]:
            yield f"  {name}: {format_count(len(feature['value_counts']), 'distinct value')}"
            names = classes if name in LABEL_FEATURES else None
            yield from (f"    {line}" for line in _format_value_counts(feature["value_counts"], names))


def _format_feature_row(name: str, feature: dict[str, Any]) -> tuple[str, ...]:
    numbers = [format_number(feature[key]) for key in ("minimum", "maximum", "mean")]
    counts = format_range(feature["num_per_record"]), f"{feature['num_missing']:,}"
    num_nonfinite = "" if feature["kinds"] == ["bytes"] else f"{feature['num_nonfinite']:,}"
    lengths = "" if feature["num_bytes"] is None else format_range(feature["num_bytes"])
    return name, f"{feature['num_values']:,}", *counts, *numbers, num_nonfinite, lengths


def format_range(limits: tuple[int, int]) -> str:
    """Format a minimum and a maximum; if they are equal, return a single number."""
    low, high = limits
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def _format_image_statistics(images: dict[str, Any]) -> str:
    parts = [f"{count:,} {name}" for name, count in images["formats"].items()]
    if images["widths"] is not None:
        parts += [f"width {format_range(images['widths'])}", f"height {format_range(images['heights'])}"]
    if images["num_unreadable"]:
        parts.append(format_count(images["num_unreadable"], "unreadable header"))
    return ", ".join(parts)


def _format_value_counts(counts: list[dict[str, Any]], classes: list[str] | None) -> Iterator[str]:
    rows = [
        (f"{entry['count']:,}", _format_value_and_class(entry["value"], classes))
        for entry in (counts if len(counts) <= _MAX_LISTED_VALUES else counts[: _MAX_LISTED_VALUES - 1])
    ]
    yield from format_table(("", ""), rows)[1:]
    if len(rows) < len(counts):
        yield f"… and {len(counts) - len(rows):,} more (--json lists all)"


def _format_value_and_class(value: float | str, classes: list[str] | None) -> str:
    if isinstance(value, str):
        return repr(value)
    name = find_class_name(value, classes)
    text = format_number(value)
    return text if name is None else f"{text} ({name})"
