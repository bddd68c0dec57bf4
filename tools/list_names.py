"""Write docs/migrating/names.md: the names of TensorFlow, MXNet and OneFlow that recordmill supports.

python -m tools.list_names            writes the page
python -m tools.list_names --check    fails if the page is not up to date
"""

from __future__ import annotations

import argparse
import importlib
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

PAGE = Path(__file__).parents[1] / "docs" / "migrating" / "names.md"
TITLE = """# Supported names of TensorFlow, MXNet and OneFlow

[TensorFlow](tensorflow.md), [MXNet](mxnet.md) and [OneFlow](oneflow.md) say what differs. This
generated list does not contain `tf.keras` (Keras 3, with `tf.losses`, `tf.metrics`, `tf.optimizers`
and `tf.initializers`), `tf.flags` and `tf.app.flags` (absl), operators and methods of tensors, and
aliases (`tf.compat.v1`, `tf.compat.v2`, `tf.contrib`, `tensorflow.python`).
"""
# Namespaces whose names are listed, in this order; the first entry of each framework is the package itself.
NAMESPACES = {
    "TensorFlow": """tensorflow as tf
        tf. tf.app tf.autograph tf.config tf.compat tf.contrib tf.data tf.data.experimental tf.debugging tf.distribute
        tf.dtypes tf.errors tf.gfile tf.image tf.io tf.io.gfile tf.linalg tf.logging tf.lookup tf.math tf.nest tf.nn
        tf.python_io tf.ragged tf.random tf.signal tf.sparse tf.strings tf.train tf.compat.v1""",
    "MXNet": """mxnet as mx
        mx. mx.recordio mx.io mx.image mx.nd mx.random mx.gluon.data mx.gluon.data.vision
        mx.gluon.data.vision.transforms mx.gluon.utils""",
    "OneFlow": """oneflow as flow
        flow. flow.data flow.nn flow.nn.image flow.image flow.random flow.typing flow.env flow.config flow.scope""",
}
CLASSES = {"tf.data": ["Dataset"], "mx.recordio": ["MXRecordIO", "MXIndexedRecordIO"]}
# Names in our modules that do not belong to the interface of a framework.
HELPERS = {
    "CROP_HINT", "EIGENVALUES", "EIGENVECTORS", "HEADER", "MEMBERS", "MODULES", "OPERATIONS", "RecordmillError",
    "TextFileIndex", "annotations", "as_ndarray", "as_operation", "create_module_getattr", "create_namespace",
    "image_decoders", "make_absent_getattr", "make_lazy_attributes", "map_names_to_sources", "missing",
    "reverse_colors", "wrap", "write_file_atomically",
}  # fmt: skip


def public_names(namespace: Any) -> list[str]:
    """Return the names of a namespace that belong to the framework's interface."""
    return sorted(name for name in dir(namespace) if _is_public(namespace, name))


def _is_public(namespace: Any, name: str) -> bool:
    if name.startswith("_") or name in HELPERS:
        return False
    try:
        value = getattr(namespace, name)
    except (AttributeError, ImportError):  # removed names raise an error, and others need an optional package
        return name in getattr(namespace, "MEMBERS", ())
    if isinstance(value, ModuleType):
        return False
    if name in getattr(namespace, "__all__", ()) or name in getattr(namespace, "MEMBERS", ()):
        return True
    home = getattr(value, "__module__", None)
    if not isinstance(home, str):
        return isinstance(value, int | float | str) and not hasattr(namespace, "__all__")
    return home.startswith(namespace.__name__ if namespace.__name__.startswith("recordmill") else "recordmill.compat")


def _is_method(cls: type, name: str) -> bool:
    return not name.startswith("_") and hasattr(cls, name)


def _resolve(module: Any, dotted: str) -> Any:
    for part in dotted.split("."):
        module = getattr(module, part)
    return module


def _list_namespaces(package: Any, alias: str, namespaces: str) -> Iterator[str]:
    root = set(public_names(package))
    for dotted in namespaces.split():
        path = dotted.removeprefix(alias).strip(".")
        namespace = _resolve(package, path) if path else package
        names = public_names(namespace)
        if path.endswith("v1"):
            names = [name for name in names if name not in root]
        if names:
            yield _format_entry(f"`{dotted.rstrip('.')}`", names)
        for cls in CLASSES.get(dotted, ()):
            methods = [name for name in dir(getattr(namespace, cls)) if _is_method(getattr(namespace, cls), name)]
            yield _format_entry(f"`{dotted}.{cls}`", methods)


def _format_entry(title: str, names: list[str]) -> str:
    text = f"- {title}: {' '.join(names)}"
    return "\n".join(textwrap.wrap(text, 100, break_on_hyphens=False, subsequent_indent="  "))


def build_page() -> str:
    """Build the Markdown text of the page."""
    parts = [TITLE]
    for framework, text in NAMESPACES.items():
        imported, _, namespaces = text.partition("\n")
        name, _, alias = imported.partition(" as ")
        package = importlib.import_module(f"recordmill.compat.{name}")
        parts.append(f"## {framework}: `import recordmill.compat.{imported}`\n")
        parts.append("\n".join(_list_namespaces(package, alias, namespaces)) + "\n")
    return "\n".join(parts)


def main() -> int:
    """Write or check the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="fail if the page is not up to date")
    args = parser.parse_args()
    if args.check:
        return int(PAGE.read_text() != build_page())
    PAGE.write_text(build_page())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
