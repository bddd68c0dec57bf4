"""Repository rules that no linter checks: source files state their purpose, documented code blocks run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDERS = ("src", "rust", "tests", "tools", "benches", "examples")

# Blocks in these languages are run by the root conftest.py; the others are data, layouts or output.
RUN = {"python", "bash"}
SHOWN = {"text", "json", "toml", "csv", "c", "rust", "protobuf"}


def _sources(*suffixes: str) -> list[Path]:
    paths = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in suffixes)
    names = (path.relative_to(ROOT) for path in paths if path.is_file())
    return sorted(name for name in names if not {"target", "corpus", "__pycache__"} & set(name.parts))


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


def _states_its_purpose(name: Path) -> bool:
    lines = (ROOT / name).read_text("utf-8").splitlines()
    first = next((line for line in lines if not line.startswith("#!")), "")
    opening = "//! " if name.suffix == ".rs" else '"""'
    return first.startswith(opening) and len(first) > len(opening) + 3


def test_source_files_start_with_a_statement_of_purpose() -> None:
    assert [str(name) for name in _sources(".py", ".rs") if not _states_its_purpose(name)] == []


def test_code_blocks_name_a_language_that_is_run_or_only_shown() -> None:
    documents = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
    unknown = [
        f"{path.relative_to(ROOT)}:{number}: {language!r}"
        for path in documents
        for number, language in _fences(path.read_text("utf-8"))
        if language not in RUN | SHOWN
    ]
    assert unknown == [], f"use one of {sorted(RUN)} (run as tests) or {sorted(SHOWN)} (only shown)"
