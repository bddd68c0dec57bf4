"""Repository rules that no linter checks: purposes of source files, languages of code blocks, width of Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = ("src", "rust", "tests", "tools", "benches", "examples")

# The root conftest.py runs blocks in these languages as tests; the other blocks are data, layouts or output.
RUN = {"python", "bash"}
MARKDOWN_WIDTH = 100
SHOWN = {"text", "json", "toml", "csv", "c", "rust", "protobuf"}


def _sources(*suffixes: str) -> list[Path]:
    paths = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in suffixes)
    names = (path.relative_to(ROOT) for path in paths if path.is_file())
    return sorted(name for name in names if not {"target", "corpus", "__pycache__"} & set(name.parts))


def _fences(text: str) -> Iterator[tuple[int, str]]:
    """Yield the line number and the language of every fenced block."""
    opening = ""
    for number, line in enumerate(text.splitlines(), 1):
        fence = re.match(r"\s*(`{3,}|~{3,})\s*([^\s`]*)", line)
        if fence is None:
            continue
        if not opening:
            opening = fence[1]
            yield number, fence[2]
        elif fence[1].startswith(opening) and not fence[2]:
            opening = ""


def _prose(text: str) -> Iterator[tuple[int, str]]:
    """Yield the numbered lines outside of code blocks, tables, headings and comments."""
    inside = False
    for number, line in enumerate(text.splitlines(), 1):
        if re.match(r"\s*(```|~~~)", line):
            inside = not inside
        elif not inside and not re.match(r"\s*(\||#|<!--)", line):
            yield number, line


def _can_be_wrapped(line: str) -> bool:
    """Whether a line that is too long holds more than one word; code between backticks is one word."""
    return len(line) > MARKDOWN_WIDTH and len(re.sub(r"`[^`]+`", "x", line.lstrip(" -*")).split()) > 1


def _states_its_purpose(name: Path) -> bool:
    lines = (ROOT / name).read_text("utf-8").splitlines()
    first = next((line for line in lines if not line.startswith("#!")), "")
    opening = "//! " if name.suffix == ".rs" else '"""'
    return first.startswith(opening) and len(first) > len(opening) + 3


def test_source_files_start_with_a_statement_of_purpose() -> None:
    assert [str(name) for name in _sources(".py", ".rs") if not _states_its_purpose(name)] == []


def test_code_blocks_name_a_known_language() -> None:
    documents = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    unknown = [
        f"{path.relative_to(ROOT)}:{number}: {language!r}"
        for path in documents
        for number, language in _fences(path.read_text("utf-8"))
        if language not in RUN | SHOWN
    ]
    assert unknown == [], f"use one of {sorted(RUN)} (run as tests) or {sorted(SHOWN)} (only shown)"


def test_markdown_wraps_at_100_columns() -> None:
    documents = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "tests").rglob("*.md")]
    long = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in documents
        for number, line in _prose(path.read_text("utf-8"))
        if _can_be_wrapped(line)
    ]
    assert long == []
