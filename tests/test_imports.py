"""What an import costs: the package needs NumPy alone, its command line not even that."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import recordmill

DOCS = Path(__file__).parents[1] / "docs"

# Prints the top-level names, beyond the standard library's, that the code given as argument brings in.
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


def _loaded_by(code: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-I", "-c", PROBE, code], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.split())


def _documented() -> set[str]:
    pages = [*DOCS.glob("reference*.md"), *DOCS.glob("reference/**/*.md")]
    text = "\n".join(page.read_text("utf-8") for page in pages)
    return set(re.findall(r"^::: recordmill\.(\w+)\s*$", text, re.MULTILINE))


def test_package_when_every_public_name_is_used_then_loads_numpy_alone() -> None:
    loaded = _loaded_by("import recordmill\nfor name in recordmill.__all__: getattr(recordmill, name)")
    assert loaded <= {"numpy", "recordmill._core"}


def test_help_when_asked_for_then_loads_neither_numpy_nor_the_native_module() -> None:
    assert _loaded_by(HELP) == set()


def test_command_modules_when_imported_then_load_nothing_beyond_the_standard_library() -> None:
    assert _loaded_by("import recordmill.cli.main") == set()


@pytest.mark.parametrize("name", recordmill.__all__)
def test_public_name_when_looked_up_then_resolves_and_is_documented(name: str) -> None:
    value = getattr(recordmill, name)
    assert not callable(value) or value.__doc__, f"recordmill.{name} has no docstring"


def test_public_names_when_compared_with_the_reference_then_are_equal() -> None:
    public = {name for name in recordmill.__all__ if not name.startswith("__")}
    assert public == _documented()


def test_public_names_when_listed_then_are_sorted_and_unique() -> None:
    assert list(recordmill.__all__) == sorted(set(recordmill.__all__))


def test_star_import_when_done_then_brings_the_public_names() -> None:
    module = importlib.import_module("recordmill")
    assert set(dir(module)) >= set(recordmill.__all__)


@pytest.mark.parametrize(
    "old,new", [("ColourJitter", "ColorJitter"), ("RandomGrey", "RandomGrayscale"), ("greyscale", "grayscale")]
)
def test_british_spelling_warns_and_returns_the_renamed_object(old: str, new: str) -> None:
    with pytest.warns(DeprecationWarning, match=f"recordmill.{old} is now recordmill.{new}"):
        assert getattr(recordmill, old) is getattr(recordmill, new)
