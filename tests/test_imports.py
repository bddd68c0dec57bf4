"""The package imports only NumPy, and its command line only the standard library; public names are documented."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import recordmill

DOCS = Path(__file__).parents[1] / "docs"

# Prints the top-level modules outside the standard library that the code in its argument imports.
PROBE = """
import sys
before = set(sys.modules)
exec(sys.argv[1])
loaded = {name for name in set(sys.modules) - before}
tops = {name.partition(".")[0] for name in loaded} - {*sys.stdlib_module_names, "__mp_main__"}
print(*sorted(tops - {"recordmill"} | ({"recordmill._core"} & loaded)), file=sys.__stdout__)
"""

HELP = """
import contextlib, io
from recordmill.cli.main import main
with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
    main(["--help"])
"""


def _imported_by(code: str) -> set[str]:
    process = subprocess.run(
        [sys.executable, "-I", "-c", PROBE, code], capture_output=True, text=True, check=False, timeout=60
    )
    assert process.returncode == 0, process.stderr
    return set(process.stdout.split())


def _documented_names() -> set[str]:
    pages = [*DOCS.glob("reference*.md"), *DOCS.glob("reference/**/*.md")]
    text = "\n".join(page.read_text("utf-8") for page in pages)
    return set(re.findall(r"^::: recordmill\.(\w+)\s*$", text, re.MULTILINE))


def test_public_names_import_only_numpy() -> None:
    loaded = _imported_by("import recordmill\nfor name in recordmill.__all__: getattr(recordmill, name)")
    assert loaded <= {"numpy", "recordmill._core"}


def test_help_imports_only_the_standard_library() -> None:
    assert _imported_by(HELP) == set()


def test_command_modules_import_only_the_standard_library() -> None:
    assert _imported_by("import recordmill.cli.main") == set()


@pytest.mark.parametrize("name", recordmill.__all__)
def test_public_name_resolves_and_has_a_docstring_names(name: str) -> None:
    value = getattr(recordmill, name)
    assert not callable(value) or value.__doc__, f"recordmill.{name} has no docstring"


def test_reference_lists_exactly_the_public_names() -> None:
    public = {name for name in recordmill.__all__ if not name.startswith("__")}
    assert public == _documented_names()


def test_public_names_are_sorted_and_unique() -> None:
    assert list(recordmill.__all__) == sorted(set(recordmill.__all__))


def test_dir_lists_the_public_names() -> None:
    assert set(dir(recordmill)) >= set(recordmill.__all__)


@pytest.mark.parametrize(
    "old,new", [("ColourJitter", "ColorJitter"), ("RandomGrey", "RandomGrayscale"), ("greyscale", "grayscale")]
)
def test_british_spelling_warns_and_returns_the_renamed_object(old: str, new: str) -> None:
    with pytest.warns(DeprecationWarning, match=f"recordmill.{old} is now recordmill.{new}"):
        assert getattr(recordmill, old) is getattr(recordmill, new)
