"""Argument parser that suggests the right name for a misspelled command, option or value."""

from __future__ import annotations

import argparse
import re
from typing import NoReturn

from recordmill.suggestions import suggest_name

_INVALID_CHOICE = re.compile(r"invalid choice: '([^']*)' \(choose from ([^)]*)\)")
_UNRECOGNIZED = re.compile(r"unrecognized arguments: (--?[^\s=]+)")


class Parser(argparse.ArgumentParser):
    """Argument parser with suggestions. The parsers of subcommands are instances of this class, too."""

    def error(self, message: str) -> NoReturn:
        """Print the usage, the message and a suggestion, and exit with code 2."""
        similar = self._find_similar_name(message)
        super().error(f"{message}\nhint: did you mean {similar}?" if similar else message)

    def _find_similar_name(self, message: str) -> str | None:
        if match := _INVALID_CHOICE.search(message):
            return suggest_name(match[1], (choice.strip("'\" ") for choice in match[2].split(",")))
        if match := _UNRECOGNIZED.search(message):
            return suggest_name(match[1], self._option_string_actions)
        return None
