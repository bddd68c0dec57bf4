"""Print line and branch coverage per package of recordmill.

    coverage json                                           (writes coverage.json; `make coverage` does both)
    python -m tools.coverage_by_package coverage.json
    python -m tools.coverage_by_package before.json after.json   (with the difference in percentage points)

A package is the first folder below src/recordmill; modules beside the folders count as (modules).
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from pathlib import Path, PurePosixPath
from typing import Any

ROOT = PurePosixPath("src/recordmill")
TOTAL = "total"
COLUMNS = ("num_statements", "covered_lines", "num_branches", "covered_branches")
HEADER = ("package", "lines", "covered", "branches", "covered")


def sum_packages(report: dict[str, Any]) -> dict[str, Counter[str]]:
    """Return the numbers of lines and branches of each package and of all packages, in total and covered."""
    sums: dict[str, Counter[str]] = defaultdict(Counter)
    for name, file in report["files"].items():
        parts = PurePosixPath(name.replace("\\", "/")).parts
        at = parts.index(ROOT.name) + 1 if ROOT.name in parts else 0
        package = parts[at] if len(parts) - at > 1 else "(modules)"
        for column in COLUMNS:
            sums[package][column] += file["summary"][column]
            sums[TOTAL][column] += file["summary"][column]
    return {package: sums[package] for package in sorted(sums, key=lambda one: (one == TOTAL, one))}


def _percent(sums: Counter[str], covered: str, of: str) -> float:
    return 100 * sums[covered] / sums[of] if sums[of] else 100.0


def _cells(package: str, sums: Counter[str], before: Counter[str] | None) -> list[str]:
    cells = [package]
    for of, covered in (COLUMNS[:2], COLUMNS[2:]):
        percent = _percent(sums, covered, of)
        change = f" ({percent - _percent(before, covered, of):+.1f})" if before is not None else ""
        cells += [f"{sums[of]:,}", f"{percent:.1f} %{change}"]
    return cells


def format_table(report: dict[str, Any], before: dict[str, Any] | None = None) -> str:
    """Return a Markdown table; with an earlier report in `before`, the changes since then are in parentheses."""
    earlier = sum_packages(before) if before is not None else {}
    rows = [list(HEADER), ["---", "--:", "--:", "--:", "--:"]]
    rows += [_cells(package, sums, earlier.get(package)) for package, sums in sum_packages(report).items()]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def main() -> int:
    """Print the table of the reports on the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reports", nargs="+", type=Path, help="one JSON report, or an earlier and a later one")
    args = parser.parse_args()
    if len(args.reports) > 2:
        parser.error("at most two reports can be compared")
    *before, report = (json.loads(path.read_text("utf-8")) for path in args.reports)
    print(format_table(report, *before))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
