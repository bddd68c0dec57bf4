"""Compute digests of what the library delivers, so that results before and after a refactoring can be compared.

    python -m tools.record_behavior                      print all digests as JSON
    python -m tools.record_behavior --write              replace tests/behavior/expected.json
    python -m tools.record_behavior --check              compare with it; exit with 1 if a result differs
    python -m tools.record_behavior --show orders/...    print a result in full, to find out what changed

Results are exact, except those that depend on NumPy's exp, log and cos, which are rounded to five decimals.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from typing import Any

from tools.behavior.commands import record_commands
from tools.behavior.digest import Results, compute_digest
from tools.behavior.loaders import record_states
from tools.behavior.orders import record_orders
from tools.behavior.packed import record_packed
from tools.behavior.pixels import record_decoded, record_random
from tools.behavior.reading import record_reading
from tools.behavior.steps import record_steps

GROUPS: dict[str, Callable[[Path], Results]] = {
    "orders": record_orders,
    "random": record_random,
    "decoded": record_decoded,
    "steps": record_steps,
    "states": record_states,
    "reading": record_reading,
    "packed": record_packed,
    "commands": record_commands,
}
EXPECTED = Path(__file__).parents[1] / "tests" / "behavior" / "expected.json"


def compute_group(group: str) -> dict[str, str]:
    """Return the digests of a group by the name of the result."""
    return {name: compute_digest(value) for name, value in compute_results(group).items()}


def compute_results(group: str) -> dict[str, Any]:
    """Return the results of a group, computed with a temporary folder as working directory."""
    results: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        for name, value in GROUPS[group](Path()):
            if name in results:
                raise ValueError(f"two results of {group} have the name {name!r}")
            results[name] = value
    return results


def find_differences(expected: dict[str, str], found: dict[str, str]) -> list[str]:
    """Return the names of results that are missing, new or different."""
    names = dict.fromkeys([*expected, *found])
    return [name for name in names if expected.get(name) != found.get(name)]


def main() -> int:
    """Print, write or compare the digests."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--write", action="store_true", help="replace the expected digests")
    choice.add_argument("--check", action="store_true", help="compare with the expected digests")
    choice.add_argument("--show", metavar="GROUP/NAME", help="print one result in full")
    args = parser.parse_args()
    if args.show:
        group, _, name = args.show.partition("/")
        print(compute_results(group)[name])
        return 0
    found = {group: compute_group(group) for group in GROUPS}
    if args.check:
        expected = json.loads(EXPECTED.read_text("utf-8"))
        different = [
            f"{group}/{name}" for group in GROUPS for name in find_differences(expected.get(group, {}), found[group])
        ]
        print("\n".join(different) or "no differences")
        return int(bool(different))
    text = json.dumps(found, indent=1) + "\n"
    if args.write:
        EXPECTED.write_text(text, "utf-8")
    else:
        print(text, end="")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
