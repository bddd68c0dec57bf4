"""Small files that are written as a whole: nobody sees a part of one."""

from __future__ import annotations

from recordmill.storage.base import OutputFile
from recordmill.storage.local import LOCAL


def write_atomically(path: str, data: bytes) -> None:
    """Put a whole file in place, replacing another of that name."""
    file = prepared(path, data)
    try:
        file.commit()
    except BaseException:
        file.discard()
        raise


def prepared(path: str, data: bytes, *, overwrite: bool = True) -> OutputFile:
    """Write a whole file that has yet to get its name."""
    file = LOCAL.create(path, overwrite=overwrite)
    try:
        file.write(data)
        file.finish()
    except BaseException:
        file.discard()
        raise
    return file
