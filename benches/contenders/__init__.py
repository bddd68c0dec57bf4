"""One module per contender; each imports what it measures only when it is run, in an environment of its own.

A module says which ENVIRONMENT it runs in, its REQUIREMENTS, and the VARIANTS it has at each task. It has a function
`prepare` and, by the kind of the task, `run` (yields item counts and what was delivered), `payloads` or `columns` (of
what was delivered) or `checked` (a digest), `load` and `images` (imports before the clock starts; what was packed), or
`figures`.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from types import ModuleType

MODULES = (
    "ours",
    "ours_index",
    "ours_memory",
    "tensorflow",
    "array_record",
    "tfrecord",
    "ofrecord_script",
    "mxnet",
    "limits",
)
OURS = "ours"
# Measured unless others are chosen; MXNet installs on few platforms.
USUAL = ("ours", "tensorflow", "array_record", "tfrecord", "ofrecord_script", "limits")


def modules(names: tuple[str, ...] | list[str]) -> Iterator[tuple[str, ModuleType]]:
    """Modules of the contenders with the given names.

    Parameters
    ----------
    names : sequence of str
        As in tables: recordmill's modules are all called "ours".

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
    """Name of a contender in tables.

    Parameters
    ----------
    module : module

    Returns
    -------
    str
    """
    return str(getattr(module, "LABEL", module.__name__.rpartition(".")[2]))
