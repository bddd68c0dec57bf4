"""Write the completion scripts of the command line to completions/: `python -m tools.completions`."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import shtab

from recordmill.cli.main import build_parser

FOLDER = Path(__file__).parents[1] / "completions"
NAMES = {"bash": "recordmill.bash", "zsh": "_recordmill", "fish": "recordmill.fish"}
# Placeholders of arguments and options whose values are names of files.
_FILES = ("SHARD", "SOURCE", "DEST", "FOLDER", "FILE", "A", "B")


def create_scripts() -> dict[str, str]:
    """Return the content of each completion script by its file name."""
    return {NAMES[shell]: shtab.complete(_create_parser(), shell=shell) for shell in NAMES}


def _create_parser() -> argparse.ArgumentParser:
    """Create the parser, and mark the arguments that are names of files, because the command does not need shtab."""
    parser = build_parser()
    for action in _list_actions(parser):
        if action.metavar in _FILES:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
    return parser


def _list_actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield from _list_actions(command)


def main() -> None:
    """Write the scripts."""
    FOLDER.mkdir(exist_ok=True)
    for name, text in create_scripts().items():
        (FOLDER / name).write_text(text, "utf-8")


if __name__ == "__main__":
    main()
