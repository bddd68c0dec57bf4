"""Contenders: one module each, which imports its library only when it runs, in an environment of its own.

A module has the constants ENVIRONMENT, REQUIREMENTS, VARIANTS (by task) and optionally BUILT (packages that are
compiled after the others are installed). It has a function `prepare`. Tasks that repeat passes call `run`, which yields
item counts and results, and check results with `payloads`, `columns`, `records` or `arrays`, or with `checked`, which
returns a digest. Packing tasks also call `load`, which imports modules, and `images`, which reads the packed files.
Other tasks call `figures`.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from types import ModuleType

MODULES = (
    "ours",
    "ours_index",
    "ours_memory",
    "ours_images",
    "ours_functions",
    "ours_random",
    "ours_tensors",
    "ours_waiting",
    "ours_pixels",
    "ours_engine",
    "ours_programs",
    "tensorflow",
    "tensorflow_images",
    "tensorflow_programs",
    "array_record",
    "tfrecord",
    "ofrecord_script",
    "mxnet",
    "mxnet_images",
    "mxnet_programs",
    "oneflow",
    "grain",
    "datago",
    "dali",
    "torch",
    "ffcv",
    "pillow",
    "libjpeg_turbo",
    "png_crate",
    "limits",
)
OURS = "ours"
# Not measured by default. MXNet and OneFlow install on few platforms, and ffcv needs system libraries.
RARE = ("mxnet", "oneflow", "ffcv")
# Suffixes of the names of further modules of a contender.
_MORE_SUFFIXES = ("_images", "_programs")
USUAL = tuple(
    name for name in MODULES if not name.startswith("ours_") and not name.endswith(_MORE_SUFFIXES) and name not in RARE
)


def modules(names: tuple[str, ...] | list[str]) -> Iterator[tuple[str, ModuleType]]:
    """Yield the modules of the contenders with the given names.

    Parameters
    ----------
    names : sequence of str
        Names in tables: "ours" for all modules of recordmill.

    Yields
    ------
    str
        Name of the module.
    module
    """
    for name in MODULES:
        module = importlib.import_module(f"benches.contenders.{name}")
        if label(module) in names:
            yield name, module


def label(module: ModuleType) -> str:
    """Return the name of a contender in tables.

    Parameters
    ----------
    module : module

    Returns
    -------
    str
    """
    return str(getattr(module, "LABEL", module.__name__.rpartition(".")[2]))
