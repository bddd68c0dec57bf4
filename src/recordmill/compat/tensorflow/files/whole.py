"""``tf.io.read_file``, ``write_file`` and ``matching_files``: whole files as tensors of strings."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.dtypes import string
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor, array_of
from recordmill.compat.tensorflow.files.faults import translated
from recordmill.compat.tensorflow.files.matching import matches


def _one(value: Any, what: str) -> Any:
    array = array_of(os.fspath(value) if isinstance(value, os.PathLike) else value, string)
    if array.ndim:
        shape = ",".join(map(str, array.shape))
        raise InvalidArgumentError(f"{what} tensor must be scalar, but had shape: [{shape}]")
    return array[()]


@op("io.read_file")
def read_file(filename: Any, name: Any = None) -> Tensor:
    """Read a whole file."""
    del name
    path = os.fsdecode(_one(filename, "Input filename"))
    with translated(path):
        return Tensor(array_of(Path(path).read_bytes()))


@op("io.write_file")
def write_file(filename: Any, contents: Any, name: Any = None) -> None:
    """Write a whole file; folders that it needs are made."""
    del name
    data = _one(contents, "Contents")
    path = Path(os.fsdecode(_one(filename, "Input filename")))
    with translated(str(path)):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


@op("io.matching_files")
def matching_files(pattern: Any, name: Any = None) -> Tensor:
    """List the files that match patterns."""
    del name
    patterns = array_of(pattern, string).reshape(-1).tolist()
    found = sorted({path for one in patterns for path in matches(os.fsdecode(one))})
    return Tensor(array_of([os.fsencode(path) for path in found] or array_of([b""])[:0]))
