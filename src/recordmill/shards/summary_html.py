"""HTML that notebooks show for the results of `info` and `verify`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recordmill.html import format_block, format_classes, format_details, format_lines, format_table
from recordmill.value_text import format_number

if TYPE_CHECKING:
    from recordmill.shards.info import Info
    from recordmill.shards.statistics import Statistics
    from recordmill.shards.verify import Report


def format_info_html(info: Info) -> str:
    """Return HTML with sizes, features, classes, problems and statistics, and a collapsed table of the shards."""
    problems = [f"damaged: {shard.path}: {shard.damage}" for shard in info.shards if shard.damage is not None]
    problems += [f"incomplete: {problem}" for problem in info.problems]
    features = [(name, str(feature)) for name, feature in (info.schema or {}).items()]
    shards = [
        (shard.path, shard.compression or "", f"{shard.num_records:,}", f"{shard.num_bytes:,}") for shard in info.shards
    ]
    return format_block(
        str(info).partition("\n")[0],
        format_lines(problems[:10]),
        format_lines([f"and {len(problems) - 10:,} more problems"] if len(problems) > 10 else []),
        format_table((f"feature of payload {info.payload}", "kind"), features),
        format_classes(info.classes),
        "" if info.statistics is None else _format_statistics(info.statistics),
        format_details(f"shards: {len(shards):,}", format_table(("path", "compression", "records", "bytes"), shards)),
    )


def _format_statistics(statistics: Statistics) -> str:
    rows = [
        (
            name,
            f"{one.num_values:,}",
            f"{one.num_missing:,}",
            *map(format_number, (one.minimum, one.maximum, one.mean)),
        )
        for name, one in statistics.features.items()
    ]
    header = ("feature", "values", "missing in records", "minimum", "maximum", "mean")
    title = f"statistics of all records: {statistics.num_records:,} read, {statistics.num_damaged:,} damaged"
    return format_details(title, format_table(header, rows))


def format_report_html(report: Report) -> str:
    """Return HTML with the numbers of records and faults, the first faults, and what verification can detect."""
    rows = [
        (
            fault.shard,
            "" if fault.record is None else f"{fault.record:,}",
            "" if fault.offset is None else f"{fault.offset:,}",
            fault.kind,
            fault.message,
        )
        for fault in report.faults
    ]
    guarantees = [f"{name}: {text}" for name, texts in report.guarantees.items() for text in texts]
    return format_block(
        str(report).partition("\n")[0],
        format_table(("shard", "record", "offset", "kind", "message"), rows, 20),
        format_details("What this verification can detect", format_lines(guarantees)),
    )
