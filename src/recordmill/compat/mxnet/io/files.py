"""The files that a parameter names: one, several with semicolons between, or those of a folder."""

from __future__ import annotations

import os

from recordmill.compat.mxnet.base import MissingFileError, MXNetError, ParameterError


def find_files(names: str, parameter: str) -> list[str]:
    """Paths of the files that hold something, those of a folder sorted by name."""
    if not names:
        message = f"Check failed: param_.{parameter}.length() != 0: must specify {parameter}"
        raise ParameterError(message, kind="bad_parameter", expected=parameter, found="nothing")
    found: list[str] = []
    for name in names.split(";"):
        if os.path.isdir(name):
            entries = (entry for entry in os.scandir(name) if entry.is_file() and not entry.name.startswith("."))
            found += sorted(entry.path for entry in entries)
        elif not os.path.exists(name):
            message = f"LocalFileSystem.GetPathInfo: {name} error: No such file or directory"
            raise MissingFileError(message, shard=name)
        else:
            found.append(name)
    filled = [name for name in found if os.path.getsize(name)]
    if not filled:
        raise MXNetError(f"Cannot find any files that matches the URI pattern {names}", kind="empty", shard=names)
    return filled
