"""Compares what was measured with what had to be reached, and with what the machine allows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from benches.contenders import OURS
from benches.runner import median
from benches.tasks import TASKS, Bound, Ratio, Task

Results = dict[str, Any]
Entry = dict[str, Any]


@dataclass(frozen=True)
class Verdict:
    """One demand and what became of it; `reached` is None where something was not measured."""

    task: str
    demand: str
    measured: str
    reached: bool | None
    limit: str = ""
    share: str = ""


def judge(results: Results) -> Iterator[Verdict]:
    """Verdicts on all demands of the tasks that were run.

    Parameters
    ----------
    results : dict

    Yields
    ------
    Verdict
    """
    for name, entries in results["tasks"].items():
        task = TASKS[name]
        for goal in task.goals:
            if isinstance(goal, Ratio):
                yield _judge_ratio(task, goal, entries, results)
            else:
                yield _judge_bound(task, goal, entries, results)


def _best(entries: list[Entry]) -> Entry | None:
    usable = [entry for entry in entries if entry["runs"] and not entry["fault"]]
    return max(usable, key=lambda entry: median(entry, "rate"), default=None)


def _judge_ratio(task: Task, goal: Ratio, entries: list[Entry], results: Results) -> Verdict:
    mine = [entry for entry in entries if entry["contender"] == OURS and goal.ours in ("", entry["variant"])]
    others = [entry for entry in entries if entry["contender"] != OURS and goal.peer in ("", entry["contender"])]
    ours, peer = _best(mine), _best(others)
    what = f" as {goal.ours}" if goal.ours else ""
    demand = f"≥ {goal.factor:g} × {goal.peer or 'the fastest peer'}{what}"
    if ours is None or peer is None:
        return Verdict(task.name, demand, "", None)
    ratio = median(ours, "rate") / median(peer, "rate")
    name = f"{peer['contender']}, {peer['variant']}" if peer["variant"] else peer["contender"]
    limit, share = _limit(task, median(ours, "rate"), results)
    return Verdict(task.name, demand, f"{ratio:.2f} × {name}", ratio >= goal.factor, limit, share)


def _judge_bound(task: Task, goal: Bound, entries: list[Entry], results: Results) -> Verdict:
    sign = "≥" if goal.least else "≤"
    demand = f"{sign} {goal.value:,.0f} {goal.unit}"
    mine = [entry for entry in entries if entry["contender"] == OURS]
    if not mine or not all(entry["runs"] and not entry["fault"] for entry in mine):
        return Verdict(task.name, demand, "", None)
    if goal.figure == "gb_per_s":
        values = [median(entry, "rate") * results["bytes_per_item"][task.name] / 1e9 for entry in mine]
    else:
        values = [median(entry, goal.figure) for entry in mine]
    worst = min(values) if goal.least else max(values)
    reached = worst >= goal.value if goal.least else worst <= goal.value
    limit, share = _limit(task, median(mine[0], "rate"), results) if goal.least else ("", "")
    measured = f"{worst:,.0f}" if worst >= 1000 else f"{worst:.1f}"
    return Verdict(task.name, demand, f"{measured} {goal.unit}", reached, limit, share)


def _limit(task: Task, rate: float, results: Results) -> tuple[str, str]:
    """Most items per second that the stages of the task, each measured alone, allow on all cores; our share of it."""
    entries = {entry["variant"]: entry for entry in results["tasks"].get("limits", []) if entry["runs"]}
    if not task.limit or not all(name in entries for name in task.limit):
        return "", ""
    # Bytes or photographs per second, of one core for the stages with one thread.
    seconds = sum(1 / median(entries[name], "rate") for name in task.limit)
    is_single = task.limit[0].endswith("1 thread")
    if is_single:
        seconds *= results["bytes_per_item"][task.name] / results["machine"]["cores"]
    most = 1 / seconds
    names = " + ".join(name.removesuffix(", 1 thread") for name in task.limit)
    return f"{most:,.0f}/s ({names})", f"{rate / most:.0%}"
