"""The recipes of CONTRIBUTING.md: patches that add a toy format and a toy color step, built and tested.

To change a patch, apply it with `git apply`, edit the files, and write `git diff -U1 --cached` of them to the patch.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
# Recipe: the heading of its section in CONTRIBUTING.md, and what the placeholder ``<name>`` stands for in the patch.
RECIPES = {"toy_format": ("Adding a format", "toy"), "toy_color_step": ("Adding a color step", "random_invert")}


def apply_patch(recipe: str, tree: Path, *options: str) -> None:
    # Outside of a repository: git would otherwise skip files that the repository of a parent folder ignores.
    environment = os.environ | {"GIT_CEILING_DIRECTORIES": str(tree.parent), "GIT_DIR": os.devnull}
    command = ["git", "apply", *options, str(HERE / f"{recipe}.patch")]
    done = subprocess.run(command, check=False, cwd=tree, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def patched_files(recipe: str) -> set[str]:
    return set(re.findall(r"^\+\+\+ b/(.+)$", (HERE / f"{recipe}.patch").read_text("utf-8"), re.MULTILINE))


def documented_files(recipe: str) -> set[str]:
    """Paths in the first column of the table in the recipe's section of CONTRIBUTING.md."""
    heading, name = RECIPES[recipe]
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    section = text.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return {path.replace("<name>", name) for path in re.findall(r"^\| `([^`]+)` \|", section, re.MULTILINE)}


@pytest.mark.parametrize("recipe", RECIPES)
def test_patch_applies_to_source(recipe: str) -> None:
    apply_patch(recipe, ROOT, "--check")


@pytest.mark.parametrize("recipe", RECIPES)
def test_patch_touches_exactly_the_documented_files(recipe: str) -> None:
    assert patched_files(recipe) == documented_files(recipe)


@pytest.fixture(scope="module")
def patched_tree() -> Path:
    """Copy of the source with all patches, and its native module in the development profile."""
    # The same folder every time, so that cargo builds only what has changed since the last run.
    tree = ROOT / "target" / "extension"
    shutil.rmtree(tree, ignore_errors=True)
    ignored = shutil.ignore_patterns("__pycache__", "target", "*.so", "recordings")
    for folder in ("src", "rust", "tests/formats", "tests/decode"):
        shutil.copytree(ROOT / folder, tree / folder, ignore=ignored)
    for name in (
        "Cargo.toml",
        "Cargo.lock",
        "pyproject.toml",
        "docs/reference/transforms.md",
        "tests/conftest.py",
        "tests/test_layers.py",
    ):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tree / name)
    for recipe in RECIPES:
        apply_patch(recipe, tree)
    # Not the target directory of the repository: cargo would take crates of this copy for those of the repository.
    target = ROOT / "target" / "extension-build"
    # The build takes longer than the tests, so it does without optimization.
    profile = {"CARGO_PROFILE_DEV_OPT_LEVEL": "0", "CARGO_PROFILE_DEV_DEBUG": "0"}
    environment = os.environ | {"CARGO_TARGET_DIR": str(target), "PYO3_PYTHON": sys.executable} | profile
    command = ["cargo", "build", "--quiet", "--locked", "-p", "recordmill-py"]
    subprocess.run(command, cwd=tree, env=environment, check=True)
    shutil.copy(target / "debug" / "lib_core.so", tree / "src" / "recordmill" / "_core.abi3.so")
    return tree


@pytest.mark.deep
@pytest.mark.parametrize(
    "tests",
    ["tests/formats/test_toy.py", "tests/decode/test_random_invert.py", "tests/test_layers.py"],
)
def test_patched_tree_passes_tests(tests: str, patched_tree: Path) -> None:
    environment = os.environ | {"PYTHONPATH": f"{patched_tree / 'src'}{os.pathsep}{patched_tree}"}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", tests]
    done = subprocess.run(command, check=False, cwd=patched_tree, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
