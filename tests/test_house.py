"""The house rules that no linter knows: files are short and say what they are for, documentation runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FOLDERS = ("src", "rust", "tests", "tools", "benches", "examples")
MAX_LINES = 300

# path from the root: why it may be longer
LONGER: dict[str, str] = {}

# Blocks in these languages are run by the root conftest.py; the others are data, layouts or output.
RUN = {"python", "bash"}
SHOWN = {"text", "json", "toml", "csv", "c", "rust", "protobuf"}


def _sources(*suffixes: str) -> list[str]:
    paths = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in suffixes)
    names = (path.relative_to(ROOT) for path in paths if path.is_file())
    return sorted(str(name) for name in names if not {"target", "corpus", "__pycache__"} & set(name.parts))


def _documents() -> list[str]:
    paths = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    return sorted(str(path.relative_to(ROOT)) for path in paths)


def _fences(text: str) -> Iterator[tuple[int, str]]:
    """Yield the line number and the language of every fenced block."""
    inside = ""
    for number, line in enumerate(text.splitlines(), 1):
        found = re.match(r"\s*(`{3,}|~{3,})\s*([^\s`]*)", line)
        if found is None:
            continue
        if not inside:
            inside = found[1]
            yield number, found[2]
        elif found[1].startswith(inside) and not found[2]:
            inside = ""


@pytest.mark.parametrize("name", _sources(".py", ".pyi", ".rs"))
def test_source_file_when_counted_then_is_not_too_long(name: str) -> None:
    num_lines = len((ROOT / name).read_text("utf-8").splitlines())
    assert num_lines <= MAX_LINES or name in LONGER, (
        f"{name} has {num_lines} lines, more than {MAX_LINES}: look for the second idea inside it"
    )


def test_exceptions_to_the_length_when_listed_then_are_needed() -> None:
    lengths = {name: len((ROOT / name).read_text("utf-8").splitlines()) for name in LONGER}
    assert [name for name, num_lines in lengths.items() if num_lines <= MAX_LINES] == []


@pytest.mark.parametrize("name", _sources(".py", ".rs"))
def test_source_file_when_opened_then_says_what_it_is_for(name: str) -> None:
    lines = (ROOT / name).read_text("utf-8").splitlines()
    first = next((line for line in lines if not line.startswith("#!")), "")
    opening = "//! " if name.endswith(".rs") else '"""'
    assert first.startswith(opening) and len(first) > len(opening) + 3, f"{name} starts with {first!r}"


@pytest.mark.parametrize("name", _documents())
def test_code_block_when_fenced_then_names_a_language_that_is_run_or_only_shown(name: str) -> None:
    unknown = [
        f"{name}:{number}: {language!r}"
        for number, language in _fences((ROOT / name).read_text("utf-8"))
        if language not in RUN | SHOWN
    ]
    assert unknown == [], f"use one of {sorted(RUN)} (run as tests) or {sorted(SHOWN)} (only shown)"
