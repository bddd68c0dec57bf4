"""The command `python -m benches`, which creates the data, measures all tasks and prints the tables."""

from __future__ import annotations

import argparse
import compileall
import fnmatch
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benches import chart, data, environments, machine, report
from benches.contenders import MODULES, RARE, USUAL
from benches.jobs import rows as image_rows, shards
from benches.recipes import QUICK, Sizes
from benches.runner import Options, measure_task
from benches.tasks import TASKS

DOCUMENT = chart.PAGE


def _parse_arguments(words: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benches", description="Measure recordmill against its peers.")
    add = parser.add_argument
    add("--tasks", default="*", metavar="NAME,…", help=f"names or patterns from: {', '.join(TASKS)}")
    add("--contenders", help=f"from: {','.join(USUAL)} (all of these), {', '.join(RARE)}")
    add("--rounds", type=int, default=3, help="alternating rounds (%(default)s)")
    add("--seconds", type=float, default=6, help="of each timed run (%(default)s)")
    add("--calm", type=float, default=0.15, help="cores that others may use during a run (%(default)s)")
    add("--retries", type=int, default=2, help="repetitions of a disturbed run (%(default)s)")
    add("--data", type=Path, help="folder of the datasets, 9 GB (datasets beside the environments)")
    add("--json", type=Path, metavar="FILE", help="keep all figures in this file, after each task")
    add("--from", type=Path, metavar="FILE", dest="saved", help="measure nothing: use figures that were kept")
    add(
        "--update-docs",
        action="store_true",
        help="put the tables into docs/performance.md and draw the chart",
    )
    add(
        "--quick",
        action="store_true",
        help="tiny data, short runs, recordmill alone if nobody is named: does it all work?",
    )
    options = parser.parse_args(words)
    options.words = list(sys.argv[1:] if words is None else words)
    options.contenders = options.contenders or ("ours,limits" if options.quick else ",".join(USUAL))
    options.tasks = ",".join(
        name for word in options.tasks.split(",") for name in fnmatch.filter(TASKS, word) or [word]
    )
    unknown = set(options.tasks.split(",")) - set(TASKS) | set(options.contenders.split(",")) - set(MODULES)
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    return options


def _measure(arguments: argparse.Namespace, folder: str) -> dict[str, Any]:
    """Create the missing datasets, and measure the selected tasks."""
    for package in ("benches", "src/recordmill"):
        compileall.compile_dir(os.path.join(data.ROOT, package), quiet=2)  # as pip does on installation
    tasks = [TASKS[name] for name in arguments.tasks.split(",")]
    options = Options(
        data=os.path.abspath(folder),
        rounds=arguments.rounds,
        seconds=arguments.seconds,
        calm=arguments.calm,
        retries=arguments.retries,
        contenders=tuple(arguments.contenders.split(",")),
    )
    kinds = {kind for task in tasks for kind in (task.data, *task.more_data)}
    python = None
    if not arguments.quick and any(not (Path(folder) / f"{kind}.json").exists() for kind in kinds & set(data.IMAGES)):
        python = environments.interpreter("data", environments.DATA)
    data.ensure(options.data, sorted(kinds), QUICK if arguments.quick else Sizes(), python)
    results: dict[str, Any] = {
        "machine": machine.describe(),
        "command": " ".join(["python -m benches", *_describe_command(arguments)]),
        "options": asdict(options) | {"data": ""},
        "bytes_per_item": {task.name: _bytes_per_item(options.data, task.data) for task in tasks},
        "tasks": {},
    }
    for task in tasks:
        results["tasks"][task.name] = measure_task(task, options)
        if arguments.json:
            arguments.json.write_text(json.dumps(results, indent=1), "utf-8")
    return results


def _describe_command(arguments: argparse.Namespace) -> list[str]:
    """Return the arguments that determine what is measured, without paths of data and output."""
    words, kept = iter(arguments.words), []
    for word in words:
        if word in ("--data", "--json"):
            next(words)
        elif word != "--update-docs" and not word.startswith(("--data=", "--json=")):
            kept.append(word)
    return kept


def _bytes_per_item(folder: str, kind: str) -> float:
    """Return the mean size in bytes of a record, or of a photograph file."""
    if kind == "photos":
        sizes = [os.path.getsize(path) for path, _ in image_rows(folder, kind)]
        return sum(sizes) / len(sizes)
    return sum(map(os.path.getsize, shards(folder, kind))) / getattr(Sizes.load(folder), kind)


def main(words: Sequence[str] | None = None) -> int:
    """Run the command, and return its exit code.

    Parameters
    ----------
    words : sequence of str, optional
        Command line arguments; by default those of the process.

    Returns
    -------
    int
        1 if a contender delivered wrong results or could not be run, else 0.
    """
    arguments = _parse_arguments(words)
    if arguments.quick:
        arguments.rounds, arguments.seconds = 1, 0.05
        arguments.calm, arguments.retries = 1e9, 0
    if arguments.saved:
        results = json.loads(arguments.saved.read_text("utf-8"))
    elif arguments.quick and arguments.data is None:
        with tempfile.TemporaryDirectory(prefix="recordmill-bench-") as folder:
            results = _measure(arguments, folder)
    else:
        results = _measure(arguments, str(arguments.data or environments.home() / "datasets"))
    text = report.render(results)
    print(text)
    if arguments.update_docs:
        report.update_document(DOCUMENT, text)
        chart.main()
    return int(any(entry["fault"] for entries in results["tasks"].values() for entry in entries))


if __name__ == "__main__":
    sys.exit(main())
