"""The built reference shows every public name and member once, with the signature that Python sees."""

from __future__ import annotations

import ast
import importlib
import inspect
import re
import subprocess
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import recordmill

pytestmark = pytest.mark.deep

ROOT = Path(__file__).parent.parent
PAGES = sorted((ROOT / "docs" / "reference").glob("*.md"))
NAMES = [name for page in PAGES for name in re.findall(r"^::: (\S+)$", page.read_text("utf-8"), re.MULTILINE)]
# Members without an underscore that other modules of the package or a framework use.
INTERNAL = {
    "recordmill.Dataset": "add_stage batch_maps batch_stage create_sampler is_sharded is_shuffled pipeline "
    "runs_in_processes",
    "recordmill.ShardReader": "checksums keeps_index raise_damage shard sidecar",
    "recordmill.adapters.keras.dataset.PyDataset": "batch_ends epoch_begins on_epoch_begin on_epoch_end",
    "recordmill.adapters.keras.stream.Stream": "batch_ends epoch_begins",
}


def load(name: str) -> Any:
    module, _, attribute = name.rpartition(".")
    try:
        return getattr(importlib.import_module(module), attribute)
    except ImportError as error:
        pytest.skip(f"needs a framework: {error}")


@cache
def load_documented_package() -> Any:
    import griffe

    return griffe.load("recordmill", search_paths=[ROOT / "src"], docstring_parser="numpy")


def documented(name: str) -> Any:
    found = load_documented_package()[name.removeprefix("recordmill.")]
    return found.final_target if found.is_alias else found


def callables(name: str) -> list[tuple[Any, Any]]:
    """Return pairs of what the renderer reads and what Python sees: the object and its public methods."""
    value, shown = load(name), documented(name)
    pairs = [(shown, value)] if callable(value) else []
    if inspect.isclass(value):
        internal = INTERNAL.get(name, "").split()
        for member in (key for key in dir(value) if not key.startswith("_") and key not in internal):
            if inspect.isroutine(getattr(value, member)) and member in shown.all_members:
                found = shown.all_members[member]
                pairs.append((found.final_target if found.is_alias else found, getattr(value, member)))
    return pairs


def evaluate(text: str, value: Any) -> Any:
    """Evaluate a default as the source writes it."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        function = inspect.unwrap(value.__init__ if inspect.isclass(value) else value)
        return eval(text, dict(vars(importlib.import_module(inspect.getmodule(value).__name__))), function.__globals__)


@pytest.mark.parametrize("name", NAMES)
def test_documented_parameters_equal_the_signature(name: str) -> None:
    for shown, value in callables(name):
        if inspect.isclass(value) and issubclass(value, int | tuple | dict):
            continue  # their constructors are those of Python
        signature = {key: entry for key, entry in inspect.signature(value).parameters.items() if key != "self"}
        parameters = {
            parameter.name: parameter for parameter in shown.parameters if parameter.name not in {"self", "cls"}
        }
        assert list(parameters) == list(signature), shown.path
        for parameter in parameters.values():
            kind = signature[parameter.name].kind
            assert parameter.kind.value == kind.description, f"{shown.path}: {parameter.name}"
        sections = shown.docstring.parse("numpy") if shown.docstring else []
        for section in (section for section in sections if section.kind.value == "parameters"):
            for described in section.value:
                key = described.name.lstrip("*")
                assert key in signature, f"{shown.path} documents {key}"
                default = signature[key].default
                if described.default is None or signature[key].kind.name.startswith("VAR"):
                    assert default is inspect.Parameter.empty or described.default is not None, f"{shown.path}: {key}"
                elif repr(default) == "<factory>":
                    assert str(described.default) in {"list()", "dict()"}, f"{shown.path}: {key}"
                else:
                    assert evaluate(str(described.default), value) == default, f"{shown.path}: {key}"


@pytest.fixture(scope="module")
def built_names(tmp_path_factory: pytest.TempPathFactory) -> Counter[str]:
    """Build the site; count the headings of names and members in the reference."""
    site = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(site)]
    subprocess.run(command, cwd=ROOT, check=True)
    html = "".join(page.read_text("utf-8") for page in site.glob("reference/**/*.html"))
    return Counter(re.findall(r'<h\d id="(recordmill\.[^"]+)"', html))


def test_reference_shows_every_public_name_once(built_names: Counter[str]) -> None:
    assert set(NAMES) >= {f"recordmill.{name}" for name in recordmill.__all__ if not name.startswith("__")}
    assert {name: built_names[name] for name in NAMES} == dict.fromkeys(NAMES, 1)


def test_reference_shows_no_internal_name(built_names: Counter[str]) -> None:
    internal = {f"{name}.{member}" for name, members in INTERNAL.items() for member in members.split()}
    assert not internal & set(built_names)
    assert not [name for name in built_names if "._" in name]


@pytest.mark.parametrize("name", NAMES)
def test_reference_shows_every_public_member_once(name: str, built_names: Counter[str]) -> None:
    value = load(name)
    if not inspect.isclass(value) or issubclass(value, Exception):
        return
    own = [vars(base) for base in value.__mro__ if base.__module__.startswith("recordmill")]
    members = {
        key
        for namespace in own
        for key, member in namespace.items()
        if not key.startswith("_") and (inspect.isroutine(member) or isinstance(member, property)) and member.__doc__
    } - set(INTERNAL.get(name, "").split())
    counts = {member: built_names[f"{name}.{member}"] for member in sorted(members)}
    assert counts == dict.fromkeys(sorted(members), 1)
