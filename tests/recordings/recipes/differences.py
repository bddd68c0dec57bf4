"""Compares what a framework read with what was expected, and says where they part."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


def shorten(value: Any) -> str:
    """Return a value as JSON, cut to a readable length."""
    text = json.dumps(value)
    return text if len(text) < 160 else f"{text[:150]}... ({len(text)} characters)"


def differences(where: str, expected: Any, found: Any) -> list[str]:
    """Return one line for every place at which two JSON values differ."""
    if isinstance(expected, list) and isinstance(found, list):
        lines = [] if len(expected) == len(found) else [f"{where}: expected {len(expected)} items, found {len(found)}"]
        pairs = enumerate(zip(expected, found, strict=False))
        return lines + [line for place, pair in pairs for line in differences(f"{where}[{place}]", *pair)]
    if isinstance(expected, dict) and isinstance(found, dict):
        keys = sorted(expected.keys() | found.keys())
        return [line for key in keys for line in differences(f"{where}.{key}", expected.get(key), found.get(key))]
    return [] if expected == found else [f"{where}: expected {shorten(expected)}, found {shorten(found)}"]


def check(folder: Path, part: str, look: Callable[[Path, dict[str, Any]], list[str]]) -> int:
    """Run `look` for each item of expected.json's list `part`; print the differences; return the exit status."""
    items = json.loads((folder / "expected.json").read_text(encoding="utf-8"))[part]
    lines = [line for item in items for line in look(folder, item)]
    for line in lines[:50]:
        print(line)
    print(f"{len(items)} checked, {len(lines)} differences", file=sys.stderr)
    return 1 if lines or not items else 0
