"""The speed chart: `python -m benches.chart` draws docs/images/speed.svg from the tables of docs/performance.md."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from pathlib import Path

from benches.data import ROOT

PAGE = Path(ROOT) / "docs" / "performance.md"
CHART = Path(ROOT) / "docs" / "images" / "speed.svg"
# For each task: its title in the chart, the unit, and the variant of recordmill that does the same work as the peers.
TASKS = {
    "P4a": ("JPEG photos to random crops of 224, normalized", "images/s", "ours, files as they are"),
    "P5": ("PNG digits of 28 × 28", "images/s", "ours"),
    "P3a": ("parse tabular Example records in file order", "records/s", "ours, file order"),
    "P2a": ("read records of 64 KiB", "records/s", "ours, ragged"),
    "P1a": ("pack 4,000 JPEG files", "files/s", "ours"),
}
_NAMES = {
    "ours": "recordmill",
    "tensorflow": "TensorFlow",
    "mxnet": "MXNet",
    "array_record": "ArrayRecord",
    "tfrecord": "tfrecord",
    "ffcv": "ffcv",
}
# The text and the bars contrast with white and with black, so that one file serves light and dark pages.
_TEXT, _OURS, _PEER = "#6e7781", "#1a9e8c", "#a0a8b0"
_WIDTH, _LEFT, _BAR_WIDTH, _ROW = 720, 104, 470, 20


def read_rates(page: str, task: str) -> dict[str, float]:
    """Return the rate of each contender in the table of a task, by the name in the table."""
    section = re.search(rf"^### {re.escape(task)}: .*?(?=^### |\Z)", page, re.MULTILINE | re.DOTALL)
    if section is None:
        raise ValueError(f"the page has no table of task {task}")
    rows = re.findall(r"^\| ([a-z][^|]*?) \| ([\d,]+) \|", section[0], re.MULTILINE)
    return {name: float(rate.replace(",", "")) for name, rate in rows}


def best_rates(rates: dict[str, float], ours: str) -> dict[str, float]:
    """Return recordmill's rate in the variant `ours`, then the best rate of each peer, in descending order."""
    peers: dict[str, float] = {}
    for name, rate in rates.items():
        family = name.split(",")[0]
        if family in _NAMES and family != "ours":
            peers[_NAMES[family]] = max(rate, peers.get(_NAMES[family], 0))
    return {"recordmill": rates[ours]} | dict(sorted(peers.items(), key=lambda item: -item[1]))


def draw(page: str) -> str:
    """Return the chart as SVG.

    Parameters
    ----------
    page : str
        Markdown with the tables that `python -m benches` writes.

    Returns
    -------
    str
        SVG with one group of bars per task; bars are scaled to the fastest, labels show rates.

    Raises
    ------
    ValueError
        If a task of the chart has no table.
    """
    body: list[str] = []
    top = 0
    for task, (title, unit, ours) in TASKS.items():
        rates = best_rates(read_rates(page, task), ours)
        body += _draw_group(f"{title} ({unit})", rates, top)
        top += _ROW * (len(rates) + 1) + 14
    label = "Throughput of recordmill and its peers"
    start = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {top}" role="img" aria-label="{label}" '
        f'font-family="system-ui, sans-serif" font-size="13" fill="{_TEXT}">'
    )
    return "\n".join([start, f"  <title>{label}</title>", *body, "</svg>", ""])


def _draw_group(title: str, rates: dict[str, float], top: int) -> Iterator[str]:
    longest = max(rates.values())
    yield f'  <text x="0" y="{top + 15}" font-weight="600">{escape(title)}</text>'
    for row, (name, rate) in enumerate(rates.items(), 1):
        y, width = top + row * _ROW, max(2, round(_BAR_WIDTH * rate / longest))
        color, weight = (_OURS, ' font-weight="600"') if row == 1 else (_PEER, "")
        yield f'  <text x="{_LEFT - 8}" y="{y + 15}" text-anchor="end"{weight}>{name}</text>'
        yield f'  <rect x="{_LEFT}" y="{y + 4}" width="{width}" height="{_ROW - 6}" rx="2" fill="{color}"/>'
        yield f'  <text x="{_LEFT + width + 8}" y="{y + 15}"{weight}>{rate:,.0f}</text>'


def main() -> None:
    """Write the chart of the recorded rates."""
    CHART.write_text(draw(PAGE.read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
