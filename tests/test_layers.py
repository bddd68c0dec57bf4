"""Each layer of the package imports only the layers that `MAY_IMPORT` lists for it.

A module belongs to the layer named after its top-level folder or file. A new folder needs a row. A module or an inner
folder that connects two layers has a row of its own.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

PACKAGE = "recordmill"
ROOT = Path(__file__).parents[1] / "src" / PACKAGE

BASE = {"errors", "types", "schema", "suggestions", "allocator", "concurrency", "html", "value_text"}
NATIVE = BASE | {"_core"}
# Other layers use a format through these modules only, never through the format's own package.
ANY_FORMAT = {f"formats.{module}" for module in ("base", "detect", "raw", "registry", "values")}

# layer: other modules of the package that it may import; "recordmill" stands for the public names only.
MAY_IMPORT: dict[str, set[str]] = {
    "allocator": set(),
    "concurrency": {"errors", "allocator", "_core"},
    "errors": {"types"},
    "types": {"errors", "_core"},
    "html": set(),
    "schema": {"errors", "suggestions", "html"},
    "suggestions": set(),
    "storage": NATIVE,
    "formats": NATIVE,
    "datasets": NATIVE | ANY_FORMAT | {"storage"},
    "shards": NATIVE | ANY_FORMAT | {"storage", "datasets"},
    "shards.faces": NATIVE | {"storage", "shards", "formats.recordio.faces", "formats.recordio.payload"},
    "shards.image_statistics": NATIVE | {"decode"},
    "decode": NATIVE,
    "packing": NATIVE | ANY_FORMAT | {"storage", "datasets", "shards", "decode"},
    "packing.resume": NATIVE | {"packing", "storage", "shards", "decode", PACKAGE},
    "packing.sources.lists": BASE | {"packing", "storage", "formats.recordio.lst"},
    "conversion": NATIVE | ANY_FORMAT | {"storage", "datasets", "shards", "packing", "pipeline"},
    "conversion.writing": NATIVE | ANY_FORMAT | {"conversion", "storage", "datasets", "shards", "packing", PACKAGE},
    "pipeline": NATIVE | {"decode", "value_text"},
    "pipeline.open": NATIVE | {"pipeline", "shards", "storage"},
    "adapters": BASE | {PACKAGE},
    "adapters.ray": BASE | {PACKAGE, "adapters", "storage", "shards", "packing", "pipeline", "conversion"},
    "compat": BASE | {PACKAGE},
    "demo": {PACKAGE},
    "value_text": {"types"},
    "viewer": NATIVE | ANY_FORMAT | {"value_text", "storage", "shards", "packing", "pipeline", "conversion", "decode"},
    "cli": {PACKAGE, "value_text"},
    "cli.parser": {PACKAGE, "cli", "suggestions"},
    "cli.demo": {PACKAGE, "cli", "demo"},
    "cli.sources": {PACKAGE, "cli", "packing"},
    "__main__": {"cli"},
    "testing": NATIVE | {"formats", "storage", "shards", "decode"},
    PACKAGE: NATIVE
    | {"storage", "formats", "shards", "decode", "packing", "pipeline", "conversion", "viewer", "adapters"},
}

# folder: modules in it that may import its members; the members may not import each other
MEMBERS: dict[str, set[str]] = {
    "formats": {"formats.registry"},
    "adapters": set(),
}

# third-party module: layers that may import it, inside functions only
OPTIONAL: dict[str, set[str]] = {
    "absl": {"compat"},
    "google": {"compat"},
    "ml_dtypes": {"compat"},
    "PIL": {"compat", "decode", "packing", "pipeline", "demo"},
    "keras": {"adapters", "compat", "demo"},
    "jax": {"adapters", "demo"},
    "torch": {"adapters"},
    "boto3": {"storage"},
    "obstore": {"storage"},
    "pandas": {"pipeline"},
    "pyarrow": {"adapters", "pipeline", "conversion"},
    "ray": {"adapters"},
    "sklearn": {"demo"},
    "skimage": {"demo"},
}
EVERYWHERE = set(sys.stdlib_module_names) | {PACKAGE}
# layer: third-party modules that it may import at module level
AT_TOP: dict[str, set[str]] = {layer: {"numpy"} for layer in MAY_IMPORT} | {
    "cli": set(),
    PACKAGE: set(),
    "testing": {"numpy", "hypothesis"},
}


@dataclass(frozen=True)
class Import:
    """One imported module or name."""

    importer: str
    line: int
    target: str
    name: str
    at_top: bool
    at_run_time: bool

    def __str__(self) -> str:
        path = self.importer.replace(".", "/") or "__init__"
        return f"src/{PACKAGE}/{path}:{self.line} imports {self.target}"


def _module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {_module_name(path): path for path in sorted(ROOT.rglob("*.py"))}


def _layer(module: str) -> str:
    return module.partition(".")[0] or PACKAGE


def _row(module: str) -> str:
    """Return the row of a module, or of the innermost folder that has one."""
    while module and module not in MAY_IMPORT:
        module = module.rpartition(".")[0]
    return module or PACKAGE


def _is_typing_block(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def _statements(
    node: ast.AST, at_top: bool = True, at_run_time: bool = True
) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool, bool]]:
    """Yield each import statement, whether it runs when the module is imported, and whether it runs at all."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child, at_top, at_run_time
        else:
            is_typing = _is_typing_block(child)
            is_deferred = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) or is_typing
            yield from _statements(child, at_top and not is_deferred, at_run_time and not is_typing)


def _absolute(module: str, statement: ast.ImportFrom) -> str:
    if not statement.level:
        return statement.module or ""
    package = [PACKAGE, *module.split(".")] if module else [PACKAGE]
    if MODULES[module].name != "__init__.py":
        package.pop()
    package = package[: len(package) - statement.level + 1]
    return ".".join([*package, statement.module] if statement.module else package)


def _imports(module: str) -> Iterator[Import]:
    tree = ast.parse(MODULES[module].read_text("utf-8"))
    for statement, at_top, at_run_time in _statements(tree):
        for alias in statement.names:
            name = ""
            target = alias.name
            if isinstance(statement, ast.ImportFrom):
                target, name = _absolute(module, statement), alias.name
                inner = f"{target}.{name}".removeprefix(PACKAGE + ".")
                if target.startswith(PACKAGE) and (inner in MODULES or inner == "_core"):
                    target, name = f"{PACKAGE}.{inner}", ""
            yield Import(module, statement.lineno, target, name, at_top, at_run_time)


ALL = [one for module in MODULES for one in _imports(module)]
INTERNAL = [one for one in ALL if one.target.partition(".")[0] == PACKAGE]
THIRD_PARTY = [one for one in ALL if one.target.partition(".")[0] not in EVERYWHERE]


def _is_inside(target: str, allowed: str) -> bool:
    """Return whether `target` is the module `allowed` or inside it; PACKAGE stands for the public names only."""
    module = target.removeprefix(PACKAGE).removeprefix(".")
    if allowed == PACKAGE:
        return not module
    return module == allowed or module.startswith(allowed + ".")


def _is_permitted(one: Import) -> bool:
    row = _row(one.importer)
    return any(_is_inside(one.target, allowed) for allowed in MAY_IMPORT.get(row, set()) | {row})


def _members(folder: str) -> set[str]:
    """Return the packages in a folder, or its modules if it has no packages."""
    inside = {module for module in MODULES if module.startswith(folder + ".") and module.count(".") == 1}
    return {module for module in inside if MODULES[module].name == "__init__.py"} or inside


def _crosses_members(one: Import, folder: str) -> bool:
    if one.importer in MEMBERS[folder]:
        return False
    others = {member for member in _members(folder) if not _is_inside(one.importer, member)}
    return any(_is_inside(one.target, member) for member in others)


def _report(imports: list[Import]) -> str:
    return "\n".join(map(str, imports))


def _import_graph() -> dict[str, set[str]]:
    """Return the modules that each module imports at run time, including imports inside functions."""
    graph: dict[str, set[str]] = {module: set() for module in MODULES}
    for one in INTERNAL:
        target = one.target.removeprefix(PACKAGE).removeprefix(".")
        if one.at_run_time and target in MODULES:
            graph[one.importer].add(target)
    return graph


def _find_cycles(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """Return the strongly connected components of more than one module (Tarjan 1972), each one sorted."""
    numbers: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    components: list[list[str]] = []

    def visit(module: str) -> None:
        numbers[module] = lowest[module] = len(numbers)
        stack.append(module)
        for target in sorted(graph[module]):
            if target not in numbers:
                visit(target)
                lowest[module] = min(lowest[module], lowest[target])
            elif target in stack:
                lowest[module] = min(lowest[module], numbers[target])
        if lowest[module] == numbers[module]:
            start = stack.index(module)
            components.append(sorted(stack[start:]))
            del stack[start:]

    for module in sorted(graph):
        if module not in numbers:
            visit(module)
    return sorted(component for component in components if len(component) > 1)


def _report_cycle(component: list[str]) -> str:
    imports = [
        one
        for one in INTERNAL
        if one.at_run_time
        and one.importer in component
        and one.target.removeprefix(PACKAGE).removeprefix(".") in component
    ]
    return f"{len(component)} modules import each other:\n{_report(imports)}"


def test_source_has_modules_and_imports() -> None:
    assert len(MODULES) > 10 and len(INTERNAL) > 10


def test_every_module_belongs_to_a_layer() -> None:
    unknown = [module for module in MODULES if _layer(module) not in MAY_IMPORT]
    assert unknown == [], "add a row to MAY_IMPORT and to docs/architecture.md, or move the module"


def test_every_row_names_an_existing_layer() -> None:
    present = {_row(module) for module in MODULES}
    assert [row for row in MAY_IMPORT if row not in present] == []


@pytest.mark.parametrize("row", sorted(MAY_IMPORT))
def test_layer_imports_only_the_layers_of_its_row(row: str) -> None:
    wrong = [one for one in INTERNAL if _row(one.importer) == row and not _is_permitted(one)]
    assert wrong == [], f"{row} may import {sorted(MAY_IMPORT[row])}:\n{_report(wrong)}"


@pytest.mark.parametrize("folder", sorted(MEMBERS))
def test_members_of_a_folder_do_not_import_each_other(folder: str) -> None:
    wrong = [one for one in INTERNAL if _layer(one.importer) == folder and _crosses_members(one, folder)]
    assert wrong == [], _report(wrong)


def test_modules_do_not_import_each_other_at_run_time() -> None:
    cycles = _find_cycles(_import_graph())
    assert cycles == [], "\n\n".join(map(_report_cycle, cycles))


def test_find_cycles_returns_strongly_connected_components() -> None:
    graph = {"a": {"b"}, "b": {"c", "d"}, "c": {"a"}, "d": {"e"}, "e": {"f"}, "f": {"e"}, "g": {"a", "g"}}
    assert _find_cycles(graph) == [["a", "b", "c"], ["e", "f"]]


def test_module_level_third_party_imports_are_required_dependencies() -> None:
    wrong = [
        one
        for one in THIRD_PARTY
        if one.at_top and one.target.partition(".")[0] not in AT_TOP.get(_layer(one.importer), set())
    ]
    assert wrong == [], f"import it inside the function that needs it:\n{_report(wrong)}"


def test_third_party_imports_inside_functions_are_listed_as_optional() -> None:
    wrong = [
        one
        for one in THIRD_PARTY
        if (top := one.target.partition(".")[0]) not in AT_TOP.get(_layer(one.importer), set()) | {"numpy"}
        and _layer(one.importer) not in OPTIONAL.get(top, set())
    ]
    assert wrong == [], f"not in OPTIONAL for this layer:\n{_report(wrong)}"


def test_command_line_uses_only_public_names() -> None:
    import recordmill

    used = [one.name for one in INTERNAL if one.importer.startswith("cli") and one.target == PACKAGE]
    for module in (module for module in MODULES if module.startswith("cli")):
        tree = ast.parse(MODULES[module].read_text("utf-8"))
        used += [
            node.attr
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute) and ast.unparse(node.value) in {"rm", PACKAGE}
        ]
    assert sorted(set(filter(None, used)) - {*recordmill.__all__, "__version__", "cli"}) == []
