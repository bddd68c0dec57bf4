"""One module per contender; each imports what it measures only when it is run, in an environment of its own.

A module says which ENVIRONMENT it runs in, its REQUIREMENTS, and the VARIANTS it has at each task. It has a function
`prepare` and, by the kind of the task, `run` (yields item counts and what was delivered), `payloads`, `columns`,
`records` or `arrays` (of what was delivered) or `checked` (a digest), `load` and `images` (imports before the clock
starts; what was packed), or `figures`. Packages named in BUILT are compiled after the others are installed.
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
# Measured unless others are chosen. MXNet and OneFlow install on few platforms; ffcv needs libraries of the system.
RARE = ("mxnet", "oneflow", "ffcv")
# Ends of the names of further modules of a contender.
_OF_OTHERS = ("_images", "_programs")
USUAL = tuple(
    name for name in MODULES if not name.startswith("ours_") and not name.endswith(_OF_OTHERS) and name not in RARE
)


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
