"""Compare measured rates with the goals of the tasks and with the limits of the machine."""

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
    """One goal and its result; `reached` is None if a measurement is missing."""

    task: str
    demand: str
    measured: str
    reached: bool | None
    limit: str = ""
    share: str = ""


def judge(results: Results) -> Iterator[Verdict]:
    """Yield the verdicts on all goals of the tasks that were run.

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


def rate_of(task: Task, entry: Entry) -> float:
    """Return the items per second, or per core-second if the task compares those.

    Parameters
    ----------
    task : Task
    entry : dict

    Returns
    -------
    float
    """
    return median(entry, "rate_per_core" if task.per_core else "rate")


def _best(task: Task, entries: list[Entry]) -> Entry | None:
    usable = [entry for entry in entries if entry["runs"] and not entry["fault"]]
    return max(usable, key=lambda entry: rate_of(task, entry), default=None)


def _is_compared(entry: Entry, goal: Ratio) -> bool:
    """Return whether the goal refers to this entry; `limits` is a peer only if the goal names it."""
    if goal.peer == "":
        return entry["contender"] not in (OURS, "limits")
    return entry["contender"] == goal.peer and goal.theirs in ("", entry["variant"])


def _judge_ratio(task: Task, goal: Ratio, entries: list[Entry], results: Results) -> Verdict:
    mine = [entry for entry in entries if entry["contender"] == OURS and goal.ours in ("", entry["variant"])]
    ours, peer = _best(task, mine), _best(task, [entry for entry in entries if _is_compared(entry, goal)])
    theirs = ", ".join(word for word in (goal.peer or "the fastest peer", goal.theirs) if word)
    demand = f"≥ {goal.factor:.3g} × {theirs}{f' ({goal.ours})' if goal.ours else ''}"
    if ours is None or peer is None:
        return Verdict(task.name, demand, "", None)
    ratio = rate_of(task, ours) / rate_of(task, peer)
    name = f"{peer['contender']}, {peer['variant']}" if peer["variant"] else peer["contender"]
    limit, share = _limit(task, median(ours, "rate"), results)
    return Verdict(task.name, demand, f"{ratio:.2f} × {name}", ratio >= goal.factor, limit, share)


def _judge_bound(task: Task, goal: Bound, entries: list[Entry], results: Results) -> Verdict:
    sign = "≥" if goal.is_minimum else "≤"
    demand = f"{sign} {goal.value:,.10g} {goal.unit}"
    mine = [entry for entry in entries if entry["contender"] == OURS]
    if not mine or not all(entry["runs"] and not entry["fault"] for entry in mine):
        return Verdict(task.name, demand, "", None)
    if goal.figure == "gb_per_s":
        values = [median(entry, "rate") * results["bytes_per_item"][task.name] / 1e9 for entry in mine]
    else:
        values = [median(entry, goal.figure) for entry in mine]
    worst = min(values) if goal.is_minimum else max(values)
    reached = worst >= goal.value if goal.is_minimum else worst <= goal.value
    limit, share = _limit(task, median(mine[0], "rate"), results) if goal.is_minimum else ("", "")
    measured = f"{worst:,.0f}" if worst >= 1000 else f"{worst:.3g}"
    return Verdict(task.name, demand, f"{measured} {goal.unit}", reached, limit, share)


def _limit(task: Task, rate: float, results: Results) -> tuple[str, str]:
    """Return the rate that the separately measured stages of a task allow on all cores, and our share of it."""
    entries = {entry["variant"]: entry for entry in results["tasks"].get("limits", []) if entry["runs"]}
    if not task.limit or not all(name in entries for name in task.limit):
        return "", ""
    # Rates are bytes or photographs per second; those of stages with one thread are per core.
    seconds = sum(1 / median(entries[name], "rate") for name in task.limit)
    is_single = task.limit[0].endswith("1 thread")
    if is_single:
        seconds *= results["bytes_per_item"][task.name] / results["machine"]["cores"]
    most = 1 / seconds
    names = " + ".join(name.removesuffix(", 1 thread") for name in task.limit)
    return f"{most:,.0f}/s ({names})", f"{rate / most:.0%}"
