"""The storage interface: list, read, write and remove files.

Other modules take a `Storage` as an argument, so that remote storage, or storage that injects faults, can replace the
local file system.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from recordmill import _core
from recordmill.errors import OutputExistsError
from recordmill.storage.compression import Compression


@dataclass(frozen=True, slots=True)
class Stat:
    """Size and modification time of a stored file.

    Parameters
    ----------
    num_bytes : int
        Size of the file in bytes.
    modified_ns : int
        Time of the last modification, in nanoseconds since the epoch.
    file_id : tuple of int or str
        Identifies the file among all files of the storage, for example by device and inode, or by ETag. A new file at
        the same path has a different id. Empty if the storage has no such ids.
    """

    num_bytes: int
    modified_ns: int
    file_id: tuple[int | str, ...] = ()


class OutputFile(Protocol):
    """A file that is being written. It has a temporary name until `commit` gives it its final name.

    The order of calls is `write` (any number of times), `finish`, then `commit`. `discard` may be called at any time.

    Attributes
    ----------
    path : str
        Final name. It may be changed before `commit`.
    temporary : str
        Name under which the storage keeps the file until `commit`.
    """

    path: str
    temporary: str

    def write(self, data: memoryview | bytes) -> None:
        """Append bytes.

        Parameters
        ----------
        data : buffer

        Raises
        ------
        WriteError
            If the bytes cannot be written.
        ValueError
            If the file was finished or discarded.
        """
        ...

    def finish(self) -> None:
        """Write all bytes durably to the storage, and close the file for writing. A second call has no effect.

        Raises
        ------
        WriteError
            If the bytes cannot be written.
        """
        ...

    def commit(self) -> None:
        """Rename the finished file atomically to its final name.

        Raises
        ------
        OutputExistsError
            If a file has that name and the file was created without `overwrite`.
        WriteError
            If the file cannot be renamed.
        """
        ...

    def discard(self) -> None:
        """Remove the temporary file. Has no effect after `commit`; never raises."""
        ...


class Storage(Protocol):
    """Interface of a storage whose files can be listed, read at offsets, and written atomically.

    Attributes
    ----------
    is_remote : bool
        Whether each read is a request that takes milliseconds. Such a storage also ensures that all reads of a file
        return the same version of it.
    """

    is_remote: bool

    def expand(self, pattern: str) -> list[str]:
        """List the files that a path, glob pattern or directory stands for, in natural order.

        Parameters
        ----------
        pattern : str
            An existing file stands for itself. A directory stands for the files in it that are not hidden.

        Returns
        -------
        list of str
            Empty if nothing matches.
        """
        ...

    def stat(self, path: str) -> Stat:
        """Return the size and modification time of a file.

        Parameters
        ----------
        path : str

        Returns
        -------
        Stat

        Raises
        ------
        FileNotFoundError
            If the file does not exist.
        """
        ...

    def exists(self, path: str) -> bool:
        """Return True if a file of this name exists.

        Parameters
        ----------
        path : str

        Returns
        -------
        bool
        """
        ...

    def open(self, paths: Sequence[str], compression: Compression | None = None, max_bytes: int = 0) -> _core.Source:
        """Open one or several files as one stream that can be read at any offset; offsets count uncompressed bytes.

        Parameters
        ----------
        paths : sequence of str
            Several files are read as one stream, in this order.
        compression : str, optional
            Compression of each file. Either "gzip" or "zlib".
        max_bytes : int
            Maximum size of a compressed file after decompression, in bytes. Not used for uncompressed files.

        Returns
        -------
        _core.Source

        Raises
        ------
        FileNotFoundError
            If a file does not exist.
        """
        ...

    def read(self, path: str) -> bytes:
        """Read a whole file into memory. Use it only for small files.

        Parameters
        ----------
        path : str

        Returns
        -------
        bytes

        Raises
        ------
        FileNotFoundError
            If the file does not exist.
        """
        ...

    def create_output(self, path: str, *, overwrite: bool) -> OutputFile:
        """Create a file under a temporary name, to be written and then committed.

        Parameters
        ----------
        path : str
            Final name of the file.
        overwrite : bool
            Replace an existing file of this name on commit.

        Returns
        -------
        OutputFile

        Raises
        ------
        OutputExistsError
            If the file exists and `overwrite` is False.
        WriteError
            If the file cannot be created.
        """
        ...

    def remove(self, path: str) -> None:
        """Remove a file; has no effect if it does not exist.

        Parameters
        ----------
        path : str

        Raises
        ------
        WriteError
            If the file exists and cannot be removed.
        """
        ...

    def can_list(self, folder: str) -> bool:
        """Return True if `list_names` can list a folder. A web server, for example, does not list its files.

        Parameters
        ----------
        folder : str

        Returns
        -------
        bool
        """
        ...

    def list_names(self, folder: str) -> list[str]:
        """Return the names of all entries of a folder, hidden ones included, in any order.

        Parameters
        ----------
        folder : str
            Empty for the current one.

        Returns
        -------
        list of str
            Empty if the folder does not exist.
        """
        ...

    def rename(self, old: str, new: str, *, overwrite: bool) -> None:
        """Rename a file atomically.

        Parameters
        ----------
        old, new : str
        overwrite : bool
            Replace an existing file of the new name.

        Raises
        ------
        OutputExistsError
            If another file has the new name and `overwrite` is False.
        WriteError
            If the file cannot be renamed.
        """
        ...

    def create_exclusively(self, path: str, data: bytes) -> None:
        """Create a small file that contains `data`, unless a file of this name exists.

        Of several processes that create the same file at the same time, exactly one succeeds.

        Parameters
        ----------
        path : str
        data : bytes

        Raises
        ------
        FileExistsError
            If a file of this name exists.
        WriteError
            If the file cannot be created.
        """
        ...

    def append(self, path: str, data: bytes) -> None:
        """Append bytes to a small file; create it if it does not exist.

        Parameters
        ----------
        path : str
        data : bytes

        Raises
        ------
        WriteError
            If the bytes cannot be written. Some of them may have been written.
        """
        ...

    def sync_folder(self, path: str) -> None:
        """Ensure that created, renamed and removed names in a folder survive a crash, if the storage supports that.

        Parameters
        ----------
        path : str
            The folder; empty for the current one.

        Raises
        ------
        WriteError
            If the storage fails.
        """
        ...


def output_exists_error(path: str) -> OutputExistsError:
    """Create the error for an output file that already exists and must not be replaced."""
    hint = "choose another name or use overwrite=True"
    return OutputExistsError("the output file already exists", shard=path, hint=hint)


def write_file_atomically(storage: Storage, path: str, data: bytes) -> None:
    """Write a small file, or replace it; readers see either its old content or its complete new content."""
    file = write_temporary_file(storage, path, data, overwrite=True)
    try:
        file.commit()
    except BaseException:
        file.discard()
        raise
    storage.sync_folder(os.path.dirname(path))


def write_temporary_file(storage: Storage, path: str, data: bytes, *, overwrite: bool) -> OutputFile:
    """Write a small file completely under a temporary name. The caller must then commit or discard the file."""
    file = storage.create_output(path, overwrite=overwrite)
    try:
        file.write(data)
        file.finish()
    except BaseException:
        file.discard()
        raise
    return file
