"""``tf.io.read_file``, ``write_file`` and ``matching_files``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from recordmill.compat.tensorflow.core.dispatch import op
from recordmill.compat.tensorflow.core.dtypes import string
from recordmill.compat.tensorflow.core.errors import InvalidArgumentError
from recordmill.compat.tensorflow.core.tensor import Tensor, array_of
from recordmill.compat.tensorflow.files.errors import translate_errors
from recordmill.compat.tensorflow.files.matching import match_pattern


@op("io.read_file")
def read_file(filename: Any, name: Any = None) -> Tensor:
    """``tf.io.read_file``: return the content of a file as a string tensor."""
    del name
    path = os.fsdecode(_to_scalar_bytes(filename))
    with translate_errors(path):
        return Tensor(array_of(Path(path).read_bytes()))


@op("io.write_file")
def write_file(filename: Any, contents: Any, name: Any = None) -> None:
    """``tf.io.write_file``: write a file, and create its parent folders."""
    del name
    data = _to_scalar_bytes(contents)
    path = Path(os.fsdecode(_to_scalar_bytes(filename)))
    with translate_errors(str(path)):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


@op("io.matching_files")
def matching_files(pattern: Any, name: Any = None) -> Tensor:
    """``tf.io.matching_files``: return the sorted paths that match one or more patterns."""
    del name
    patterns = array_of(pattern, string).reshape(-1).tolist()
    found = sorted({path for one in patterns for path in match_pattern(os.fsdecode(one))})
    return Tensor(array_of([os.fsencode(path) for path in found], string))


def _to_scalar_bytes(value: Any) -> Any:
    array = array_of(os.fspath(value) if isinstance(value, os.PathLike) else value, string)
    if array.ndim:
        raise InvalidArgumentError(f"expected a scalar string, got shape {list(array.shape)}")
    return array[()]
