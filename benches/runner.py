"""Run contenders in alternating rounds (A B C, A B C, …), each in a new process, and reject wrong results."""

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
# Seconds between two samples of the memory, for the tasks that measure it. Sampling takes CPU time.
_WATCH_S = {"memory": 0.02, "P6a": 0.1}


@dataclass(frozen=True)
class Options:
    """Options of a benchmark run.

    Parameters
    ----------
    data : str
    rounds : int
    seconds : float
        Duration of each timed run.
    calm : float
        Number of cores that other processes may use during a run; otherwise it is repeated.
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
    """One variant of a contender in a task, and its results.

    Parameters
    ----------
    module, contender, variant : str
        Name of the module, name of the contender in tables, and variant.
    python : str
        Path of the interpreter.
    runs : list of dict
        Measured figures of each round.
    versions : dict
    fault : str
        Why the entry has no valid results; empty if they are valid.
    digest : dict
        Digest of the delivered results.
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
        """Return the results as plain values."""
        return {name: getattr(self, name) for name in ("contender", "variant", "runs", "versions", "fault")}


def measure_task(task: Task, options: Options) -> list[dict[str, Any]]:
    """Measure all selected contenders in one task.

    Parameters
    ----------
    task : Task
    options : Options

    Returns
    -------
    list of dict
        Contender, variant, runs, versions, fault.
    """
    entries = _create_entries(task, options)
    is_compared = bool(task.compare) or task.name in ("index", "check")
    jobs = [
        Job(task.name, entry.module, entry.variant, options.data, options.seconds, check=is_compared)
        for entry in entries
    ]
    wanted = expected(jobs[0]) if jobs else None
    for entry, job in zip(entries, jobs, strict=True):
        if not entry.fault:
            entry.fault = _run_worker(entry, job, "prepare").get("error", "")
    for round_ in range(options.rounds):
        for entry, job in zip(entries, jobs, strict=True):
            if not entry.fault:
                _measure_round(entry, replace(job, check=job.check and round_ == 0), wanted, options)
                _print_progress(task, round_, entry)
    if task.compare == "twin":
        _compare_twins(entries)
    for job in jobs:
        shutil.rmtree(job.out, ignore_errors=True)
    return [entry.to_json() for entry in entries]


def _create_entries(task: Task, options: Options) -> list[Entry]:
    entries = []
    for name, module in modules(options.contenders):
        fault = ""
        variants = module.VARIANTS.get(task.name, ())
        try:
            python = _find_interpreter(module) if variants else ""
        except environments.UnavailableError as error:
            python, fault = "", f"the environment cannot be created: {error}"
        settings = getattr(module, "SETTINGS", {})
        entries += [Entry(name, label(module), variant, python, settings, fault=fault) for variant in variants]
    return entries


def _find_interpreter(module: Any) -> str:
    if hasattr(module, "interpreter"):
        return str(module.interpreter())
    return environments.interpreter(module.ENVIRONMENT, module.REQUIREMENTS, getattr(module, "BUILT", ()))


def _measure_round(entry: Entry, job: Job, wanted: dict[str, Any] | None, options: Options) -> None:
    """Measure once, repeat the run while other processes disturb it, and keep the least disturbed run."""
    best: dict[str, float] | None = None
    for _ in range(1 + options.retries):
        _wait_until_calm(options.calm)
        result = _run_worker(entry, job, "measure")
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
        return f"wrong results: {fault}" if fault else ""
    return "" if wanted is None or digest == wanted else f"wrong results: expected {wanted}, got {digest}"


def _compare_twins(entries: list[Entry]) -> None:
    """Reject results that differ from those of the framework that the program was written for."""
    theirs = [entry.digest for entry in entries if entry.contender != OURS and not entry.fault]
    for entry in entries:
        if theirs and not entry.fault and entry.digest != theirs[0]:
            entry.fault = f"wrong results: expected {theirs[0]}, got {entry.digest}"


def _wait_until_calm(calm: float, patience_s: float = 30) -> None:
    """Wait until other processes use few cores, at most `patience_s` seconds."""
    if calm >= (os.cpu_count() or 1):
        return
    end = time.monotonic() + patience_s
    while time.monotonic() < end:
        before = busy_seconds()
        time.sleep(0.5)
        if busy_seconds() - before <= calm * 0.5:
            return


def _run_worker(entry: Entry, job: Job, action: str) -> dict[str, Any]:
    """Run a worker process; return the result that it printed, or a dict with the key `error`."""
    process = subprocess.Popen(
        [entry.python, "-m", "benches.worker", action, job.to_json()],
        env=os.environ | _build_environment() | entry.settings,
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
        return {"error": f"not finished after {_LIMIT_S} s"}
    finally:
        _kill_group(process)
    lines = [line for line in output.splitlines() if line.startswith("RESULT ")]
    if not lines:
        return {"error": (errors.strip().splitlines() or [f"exit code {process.returncode}"])[-1]}
    result: dict[str, Any] = json.loads(lines[-1][7:])
    if memory is not None:
        figures = result["figures"]
        figures["peak_mb"] = memory.peak_bytes / 1e6
        if "in_flight_mb" in figures:
            figures["beyond_mb"] = figures["peak_mb"] - figures["in_flight_mb"]
    return result


def _build_environment() -> dict[str, str]:
    """Return environment variables for a worker: the path of our packages, and its start time."""
    paths = os.pathsep.join((ROOT, os.path.join(ROOT, "src")))
    return {"PYTHONPATH": paths, "PYTHONWARNINGS": "ignore", "RECORDMILL_BENCH_STARTED": repr(time.monotonic())}


def _kill_group(process: subprocess.Popen[str]) -> None:
    """Kill the remaining processes of a worker's process group."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _print_progress(task: Task, round_: int, entry: Entry) -> None:
    name = f"{entry.contender} {entry.variant}".strip()
    figures = entry.runs[-1] if entry.runs and not entry.fault else {}
    text = entry.fault or ", ".join(f"{key} {value:,.2f}" for key, value in figures.items())
    print(f"{task.name} round {round_ + 1}: {name}: {text}", file=sys.stderr, flush=True)


def median(entry: dict[str, Any], figure: str) -> float:
    """Return the median of a figure over the rounds.

    Parameters
    ----------
    entry : dict
    figure : str

    Returns
    -------
    float
    """
    return statistics.median(run[figure] for run in entry["runs"])
