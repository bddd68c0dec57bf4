"""The fuzz targets of `rust/py` accept their committed inputs, and `boundary` calls every native function."""

from __future__ import annotations

import contextlib
import importlib
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest

from recordmill import _core
from tests.fuzz import boundary
from tools.fuzz_seeds import read_inputs, zip_paths

# Address space that a check may use, so that a request for too much memory fails as it does in the fuzz target.
MEMORY_BYTES = 1 << 30


@contextlib.contextmanager
def memory_limit() -> Iterator[None]:
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    limits = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY_BYTES, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)


@pytest.mark.parametrize("target", ["boundary", "entry_point_file", "sidecar"])
def test_fuzz_target_accepts_its_seeds(target: str) -> None:
    check = importlib.import_module(f"tests.fuzz.{target}").check
    inputs = read_inputs(zip_paths()[target])
    assert inputs
    with memory_limit():
        for name, data in inputs.items():
            try:
                check(data)
            except BaseException as error:  # also of pyo3's PanicException
                error.add_note(f"input {name} of the fuzz target {target}")
                raise


def test_boundary_target_calls_every_native_function() -> None:
    called = set(boundary.CALLS) | {"HandedFile", "HandedFile.fileno"}  # next_packet returns the file
    constants = {"CoreFault", "CoreChanged", "ImageRefused", "PayloadKind", "FrameKind", "Block"}
    for name in _core.__all__:
        value = getattr(_core, name)
        assert name in called | constants or f"{name}.open" in called, name
        methods = [part for part in dir(value) if not part.startswith("_")] if isinstance(value, type) else []
        assert name in constants or {f"{name}.{part}" for part in methods} <= called, name
