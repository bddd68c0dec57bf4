"""Format results as Markdown tables, and write them to the documentation."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benches.contenders import OURS
from benches.goals import Verdict, judge, rate_of
from benches.runner import median
from benches.tasks import TASKS, Task

Results = dict[str, Any]
Entry = dict[str, Any]
_BEGIN, _END = "<!-- results: begin -->", "<!-- results: end -->"


def name_of(entry: Entry) -> str:
    """Return the name of an entry in tables: contender and variant."""
    return f"{entry['contender']}, {entry['variant']}" if entry["variant"] else str(entry["contender"])


def select_rated(entries: list[Entry]) -> list[Entry]:
    """Return the entries with a valid rate."""
    return [entry for entry in entries if entry["runs"] and not entry["fault"] and "rate" in entry["runs"][0]]


def render(results: Results) -> str:
    """Format all tables of one benchmark run.

    Parameters
    ----------
    results : dict
        ``machine``, ``command``, ``options``, ``bytes_per_item`` and ``tasks``.

    Returns
    -------
    str
        Markdown.
    """
    tasks = {name: entries for name, entries in results["tasks"].items() if entries}
    lines = [*_format_setting(results), "", "### What had to be reached", "", *_format_goals(results)]
    for name, entries in tasks.items():
        table = _TABLES.get(name, _format_rates)(TASKS[name], entries, results)
        lines += ["", f"### {name}: {TASKS[name].title}", "", *table, *_format_failures(entries)]
    lines += ["", *_format_disturbances(results)]
    return "\n".join(lines).rstrip() + "\n"


def _format_setting(results: Results) -> Iterator[str]:
    machine, options = results["machine"], results["options"]
    yield (
        f"{machine['processor']}, {machine['cores']} cores ({machine['vectors']}), {machine['memory_gib']} GiB, "
        f"{machine['system']}, CPython {machine['python']}, {machine['day']}. {options['rounds']} alternating rounds, "
        f"{options['seconds']:g} s each."
    )
    yield ""
    yield f"Command: `{results['command']}`"
    yield ""
    versions: dict[str, dict[str, str]] = {}
    for entries in results["tasks"].values():
        for entry in entries:
            versions.setdefault(entry["contender"], {}).update(entry["versions"])
    yield "| contender | versions |"
    yield "|---|---|"
    for contender, found in versions.items():
        if found:
            yield f"| {contender} | {', '.join(f'{name} {version}' for name, version in found.items())} |"


def _format_goals(results: Results) -> Iterator[str]:
    yield "| task | must reach | measured | reached | most that the machine allows | share of it |"
    yield "|---|---|---|---|---|---|"
    for verdict in judge(results):
        yield _format_row(
            verdict.task,
            verdict.demand,
            verdict.measured,
            _format_reached(verdict),
            verdict.limit,
            verdict.share,
        )


def _format_reached(verdict: Verdict) -> str:
    return "not measured" if verdict.reached is None else "yes" if verdict.reached else "**no**"


def _format_rates(task: Task, entries: list[Entry], results: Results) -> Iterator[str]:
    """Yield the table of rates, fastest first; rates are per core if the task compares those."""
    ranked = sorted(select_rated(entries), key=lambda entry: -rate_of(task, entry))
    ours = {entry["variant"]: rate_of(task, entry) for entry in ranked if entry["contender"] == OURS}
    best = max(ours.values(), default=None)
    yield (
        f"| contender | items/{'core-s' if task.per_core else 's'} | least … most | GB/s | cores busy | recordmill is "
        "| calm runs |"
    )
    yield "|---|---|---|---|---|---|---|"
    for entry in ranked:
        rates = [run["rate_per_core" if task.per_core else "rate"] for run in entry["runs"]]
        rate = rate_of(task, entry)
        calm = sum(run["others"] <= results["options"]["calm"] for run in entry["runs"])
        yield _format_row(
            name_of(entry),
            _format_number(rate),
            f"{_format_number(min(rates))} … {_format_number(max(rates))}",
            f"{rate * results['bytes_per_item'][task.name] / 1e9:.2f}",
            f"{median(entry, 'cores'):.2f}",
            "" if best is None or entry["contender"] == OURS else f"{ours.get(entry['variant'], best) / rate:.1f} ×",
            f"{calm} of {len(rates)}",
        )
    peers = [entry for entry in ranked if entry["contender"] not in (OURS, "limits")]
    faster = [name_of(entry) for entry in peers if best is not None and rate_of(task, entry) > best]
    if faster:
        yield ""
        yield f"Faster than recordmill here: {'; '.join(faster)}."


def _format_limits(_: Task, entries: list[Entry], __: Results) -> Iterator[str]:
    yield "| alone | median | least … most | cores busy |"
    yield "|---|---|---|---|"
    for entry in entries:
        if not entry["runs"] or entry["fault"]:
            continue
        rates = [run["rate"] for run in entry["runs"]]
        photos = entry["variant"].startswith("photos")
        scale, unit = (1, "photos/s") if photos else (1e9, "GB/s")
        show = _format_number if photos else "{:.2f}".format
        span = f"{show(min(rates) / scale)} … {show(max(rates) / scale)}"
        rate = f"{show(median(entry, 'rate') / scale)} {unit}"
        yield _format_row(entry["variant"], rate, span, f"{median(entry, 'cores'):.2f}")


_UNITS = {
    "open_ms": "ms",
    "bytes_per_record": "bytes per record",
    "first_s": "s",
    "peak_mb": "MB at most",
    "beyond_mb": "MB beyond the batches in flight",
    "waiting_percent": "% of a core",
}


def _format_figures(_: Task, entries: list[Entry], __: Results) -> Iterator[str]:
    yield "| what | figures, median (least … most) |"
    yield "|---|---|"
    for entry in entries:
        if not entry["runs"] or entry["fault"]:
            continue
        parts = []
        for figure, unit in _UNITS.items():
            values = [run[figure] for run in entry["runs"] if figure in run]
            if values:
                digits = 2 if unit == "s" else 1
                span = f"{min(values):.{digits}f} … {max(values):.{digits}f}"
                parts.append(f"{median(entry, figure):.{digits}f} {unit} ({span})")
        yield _format_row(name_of(entry), "; ".join(parts))


_TABLES: dict[str, Any] = {"limits": _format_limits} | dict.fromkeys(
    ("open", "memory", "P6a", "waiting"), _format_figures
)


def _format_failures(entries: list[Entry]) -> Iterator[str]:
    for entry in entries:
        if entry["fault"]:
            yield ""
            yield f"Not measured: {name_of(entry)}: {entry['fault']}"


def _format_disturbances(results: Results) -> Iterator[str]:
    calm = results["options"]["calm"]
    disturbed = [
        f"{name} {name_of(entry)} ({max(run['others'] for run in entry['runs']):.2f})"
        for name, entries in results["tasks"].items()
        for entry in select_rated(entries)
        if any(run["others"] > calm for run in entry["runs"])
    ]
    if disturbed:
        yield f"Other processes took more than {calm:g} cores (most in brackets) during: {', '.join(disturbed)}."


def _format_row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _format_number(value: float) -> str:
    """Format a number with three or four significant digits and thousands separators."""
    if value < 10:
        return f"{value:.2f}"
    digits = max(len(str(int(value))) - 4, 0)
    return f"{int(round(value, -digits)):,}"


def update_document(path: Path, text: str) -> None:
    """Replace the text between the two marker lines of a document.

    Parameters
    ----------
    path : Path
    text : str

    Raises
    ------
    ValueError
        If the document does not have each marker line exactly once.
    """
    document = path.read_text("utf-8")
    if document.count(_BEGIN) != 1 or document.count(_END) != 1:
        raise ValueError(f"{path} must contain each of the lines {_BEGIN} and {_END} exactly once")
    head, rest = document.split(_BEGIN)
    path.write_text(f"{head}{_BEGIN}\n\n{text}\n{_END}{rest.split(_END)[1]}", "utf-8")
