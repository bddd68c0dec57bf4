"""Runs contenders in turns, A B C, A B C, …, each run a fresh process, and refuses results that differ."""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import shutil
import signal
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field, replace
from typing import Any

from benches import environments, likeness
from benches.contenders import OURS, label, modules
from benches.data import ROOT
from benches.expected import expected
from benches.jobs import Job
from benches.tasks import Task
from benches.usage import PeakMemory, busy_seconds

_LIMIT_S = 1200
# Seconds between two looks at the memory, which cost time themselves, of the tasks in which memory counts.
_WATCH_S = {"memory": 0.02, "P6a": 0.1}


@dataclass(frozen=True)
class Options:
    """How measurements are made.

    Parameters
    ----------
    data : str
    rounds : int
    seconds : float
        Of each timed run.
    calm : float
        Cores that others may use while a run is timed; a run that is disturbed more is repeated.
    retries : int
    contenders : tuple of str
    """

    data: str
    rounds: int
    seconds: float
    calm: float
    retries: int
    contenders: tuple[str, ...]


@dataclass
class Entry:
    """One variant of a contender at a task, and what was measured.

    Parameters
    ----------
    module, contender, variant : str
        Name of the module, and of the contender in tables.
    python : str
        Interpreter.
    runs : list of dict
        Figures of each round.
    versions : dict
    fault : str
        Why nothing of it counts; empty if nothing is wrong.
    digest : dict
        Of what it delivered.
    """

    module: str
    contender: str
    variant: str
    python: str
    settings: dict[str, str] = field(default_factory=dict)
    runs: list[dict[str, float]] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    fault: str = ""
    digest: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Plain form."""
        return {name: getattr(self, name) for name in ("contender", "variant", "runs", "versions", "fault")}


def measure_task(task: Task, options: Options) -> list[dict[str, Any]]:
    """Measure all chosen contenders at one task.

    Parameters
    ----------
    task : Task
    options : Options

    Returns
    -------
    list of dict
        Contender, variant, runs, versions, fault.
    """
    entries = _entries(task, options)
    is_compared = bool(task.compare) or task.name in ("index", "check")
    jobs = [
        Job(task.name, entry.module, entry.variant, options.data, options.seconds, check=is_compared)
        for entry in entries
    ]
    wanted = expected(jobs[0]) if jobs else None
    for entry, job in zip(entries, jobs, strict=True):
        if not entry.fault:
            entry.fault = _start(entry, job, "prepare").get("error", "")
    for round_ in range(options.rounds):
        for entry, job in zip(entries, jobs, strict=True):
            if not entry.fault:
                _add_round(entry, replace(job, check=job.check and round_ == 0), wanted, options)
                _tell(task, round_, entry)
    if task.compare == "twin":
        _compare_twins(entries)
    for job in jobs:
        shutil.rmtree(job.out, ignore_errors=True)
    return [entry.to_json() for entry in entries]


def _entries(task: Task, options: Options) -> list[Entry]:
    entries = []
    for name, module in modules(options.contenders):
        fault = ""
        variants = module.VARIANTS.get(task.name, ())
        try:
            python = _interpreter(module) if variants else ""
        except environments.UnavailableError as error:
            python, fault = "", f"its environment cannot be made: {error}"
        settings = getattr(module, "SETTINGS", {})
        entries += [Entry(name, label(module), variant, python, settings, fault=fault) for variant in variants]
    return entries


def _interpreter(module: Any) -> str:
    if hasattr(module, "interpreter"):
        return str(module.interpreter())
    return environments.interpreter(module.ENVIRONMENT, module.REQUIREMENTS, getattr(module, "BUILT", ()))


def _add_round(entry: Entry, job: Job, wanted: dict[str, Any] | None, options: Options) -> None:
    """Measure once, again while others disturb, and keep the calmest run."""
    best: dict[str, float] | None = None
    for _ in range(1 + options.retries):
        _await_calm(options.calm)
        result = _start(entry, job, "measure")
        entry.fault = result.get("error", "") or _compare(job, result["digest"], wanted)
        if entry.fault:
            return
        entry.digest = result["digest"] or entry.digest
        entry.versions = result["versions"]
        figures = result["figures"]
        if best is None or figures.get("others", 0) < best.get("others", 0):
            best = figures
        if figures.get("others", 0) <= options.calm:
            break
        job = replace(job, check=False)
    assert best is not None
    entry.runs.append(best)


def _compare(job: Job, digest: dict[str, Any], wanted: dict[str, Any] | None) -> str:
    if job.task_name == "P1b":
        from benches import pixels

        module = importlib.import_module(f"benches.contenders.{job.contender}")
        return pixels.find_fault(job.rows(), module.images(job)) or ""
    if not job.check:
        return ""
    if job.task.compare in ("crops", "center"):
        sources = likeness.centers(job.rows(), job.packed("-centers.npz"))
        fault = likeness.find_fault(sources, job.delivered, job.task.recipe)
        return f"refused: {fault}" if fault else ""
    return "" if wanted is None or digest == wanted else f"refused: delivered {digest}, not {wanted}"


def _compare_twins(entries: list[Entry]) -> None:
    """Refuse what differs from the results of the framework that the program was written for."""
    theirs = [entry.digest for entry in entries if entry.contender != OURS and not entry.fault]
    for entry in entries:
        if theirs and not entry.fault and entry.digest != theirs[0]:
            entry.fault = f"refused: delivered {entry.digest}, not {theirs[0]}"


def _await_calm(calm: float, patience_s: float = 30) -> None:
    """Wait until other processes let go of the processor, but not for ever."""
    if calm >= (os.cpu_count() or 1):
        return
    end = time.monotonic() + patience_s
    while time.monotonic() < end:
        before = busy_seconds()
        time.sleep(0.5)
        if busy_seconds() - before <= calm * 0.5:
            return


def _start(entry: Entry, job: Job, action: str) -> dict[str, Any]:
    """Run a worker to its end; what it printed last, or `error`."""
    process = subprocess.Popen(
        [entry.python, "-m", "benches.worker", action, job.to_json()],
        env=os.environ | _settings() | entry.settings,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        if job.task_name in _WATCH_S:
            with PeakMemory(process.pid, _WATCH_S[job.task_name]) as memory:
                output, errors = process.communicate(timeout=_LIMIT_S)
        else:
            memory = None
            output, errors = process.communicate(timeout=_LIMIT_S)
    except subprocess.TimeoutExpired:
        return {"error": f"not ready after {_LIMIT_S} s"}
    finally:
        _end(process)
    lines = [line for line in output.splitlines() if line.startswith("RESULT ")]
    if not lines:
        return {"error": (errors.strip().splitlines() or [f"ended with {process.returncode}"])[-1]}
    result: dict[str, Any] = json.loads(lines[-1][7:])
    if memory is not None:
        figures = result["figures"]
        figures["peak_mb"] = memory.peak_bytes / 1e6
        if "in_flight_mb" in figures:
            figures["beyond_mb"] = figures["peak_mb"] - figures["in_flight_mb"]
    return result


def _settings() -> dict[str, str]:
    """Environment of a worker: where our packages are, and when it was started."""
    paths = os.pathsep.join((ROOT, os.path.join(ROOT, "src")))
    return {"PYTHONPATH": paths, "PYTHONWARNINGS": "ignore", "RECORDMILL_BENCH_STARTED": repr(time.monotonic())}


def _end(process: subprocess.Popen[str]) -> None:
    """End what is left of a worker's process group."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _tell(task: Task, round_: int, entry: Entry) -> None:
    name = f"{entry.contender} {entry.variant}".strip()
    figures = entry.runs[-1] if entry.runs and not entry.fault else {}
    text = entry.fault or ", ".join(f"{key} {value:,.2f}" for key, value in figures.items())
    print(f"{task.name} round {round_ + 1}: {name}: {text}", file=sys.stderr, flush=True)


def median(entry: dict[str, Any], figure: str) -> float:
    """Median of a figure over the rounds.

    Parameters
    ----------
    entry : dict
    figure : str

    Returns
    -------
    float
    """
    return statistics.median(run[figure] for run in entry["runs"])
