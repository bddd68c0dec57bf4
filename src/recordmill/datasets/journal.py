"""The journal of a commit: a hidden file that lists the files to rename and the files to remove.

A writer first writes all files under temporary names, then the journal; then it renames the files, and finally removes
the journal. A journal that remains belongs to an interrupted commit. The next writer or `repair` uses it to
complete or undo the commit.
"""

from __future__ import annotations

import errno
import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from recordmill.datasets.lock import is_possibly_alive, read_lock_owner
from recordmill.datasets.manifest import check_file_name
from recordmill.datasets.shard_names import JOURNAL_SUFFIX, LOCK_SUFFIX, dataset_file_path
from recordmill.errors import IncompleteDatasetError, ManifestError, WriteError
from recordmill.storage.base import Storage, write_file_atomically

VERSION = 1
# An optional file is skipped if renaming or writing it fails with one of these errors.
NOT_PERMITTED = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENAMETOOLONG)
Action = Literal["complete", "undo"]


@dataclass(frozen=True, slots=True)
class Rename:
    """A file that a commit renames. The file stays in the folder of the dataset.

    Parameters
    ----------
    old, new : str
        Temporary and final name.
    overwrite : bool
        Whether to replace an existing file with the new name.
    is_optional : bool
        Whether the dataset is complete without this file, such as a sidecar.
    """

    old: str
    new: str
    overwrite: bool = False
    is_optional: bool = False


@dataclass(frozen=True, slots=True)
class Journal:
    """The steps that complete a commit, or that undo it.

    Parameters
    ----------
    action : str
        "complete" or "undo".
    renames : list of Rename
        Performed in this order. Empty if the commit is undone.
    removals : list of str
        Names of files to remove after the renames. Files that do not exist are ignored.
    """

    action: Action = "complete"
    renames: list[Rename] = field(default_factory=list)
    removals: list[str] = field(default_factory=list)


def journal_path(prefix: str) -> str:
    """Return the path of the journal of the dataset with this path prefix."""
    return dataset_file_path(prefix, JOURNAL_SUFFIX)


def write_journal(storage: Storage, prefix: str, journal: Journal) -> None:
    """Write or replace the journal of a dataset, and make it durable."""
    data = json.dumps({"version": VERSION} | asdict(journal), indent=1).encode()
    write_file_atomically(storage, journal_path(prefix), data)


def load_journal(storage: Storage, prefix: str) -> Journal | None:
    """Read the journal of a dataset; return None if there is none.

    Raises
    ------
    ManifestError
        If the journal is damaged, or was written by a newer version of recordmill.
    """
    path = journal_path(prefix)
    try:
        data = storage.read(path)
    except FileNotFoundError:
        return None
    try:
        return _build_journal(json.loads(data))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ManifestError(
            f"the journal of an interrupted commit cannot be used: {error}",
            kind="bad_journal",
            shard=path,
            hint="remove the journal, then write the dataset again with overwrite=True",
        ) from None


def _build_journal(content: dict[str, Any]) -> Journal:
    if content["version"] != VERSION:
        raise ValueError("another version of recordmill wrote the journal")
    if content["action"] not in ("complete", "undo"):
        raise ValueError(f"unknown action {content['action']!r}")
    renames = [Rename(**entry) for entry in content["renames"]]
    for name in [*content["removals"], *(rename.old for rename in renames), *(rename.new for rename in renames)]:
        check_file_name(name)
    return Journal(content["action"], renames, list(content["removals"]))


def apply_journal(storage: Storage, folder: str, journal: Journal) -> list[tuple[str, WriteError]]:
    """Perform the renames and removals of a journal. Skip renames that were performed before an interruption.

    Returns (path, error) for each optional file that could not be created, for example because of permissions.
    """
    failed = []
    for rename in journal.renames:
        old, new = os.path.join(folder, rename.old), os.path.join(folder, rename.new)
        if not storage.exists(old):
            if storage.exists(new) or rename.is_optional:
                continue  # This rename was performed before the interruption.
            raise WriteError("a temporary file of an interrupted commit is missing", kind="missing_file", shard=old)
        try:
            storage.rename(old, new, overwrite=rename.overwrite)
        except WriteError as error:
            if not rename.is_optional or error.errno not in NOT_PERMITTED:
                raise
            storage.remove(old)
            failed.append((new, error))
    for name in journal.removals:
        storage.remove(os.path.join(folder, name))
    storage.sync_folder(folder)
    return failed


def recover(storage: Storage, prefix: str) -> Action | None:
    """Complete or undo an interrupted commit. Return "complete" or "undo", or None if no commit was interrupted.

    The caller must hold the lock of the dataset.
    """
    journal = load_journal(storage, prefix)
    if journal is None:
        return None
    apply_journal(storage, os.path.dirname(prefix), journal)
    storage.remove(journal_path(prefix))
    return journal.action


def find_journals(folder: str, names: Sequence[str]) -> list[str]:
    """Return the path prefixes of the datasets whose commit was interrupted; `names` are the files in the folder."""
    journals = [name for name in names if name.startswith(".") and name.endswith(JOURNAL_SUFFIX)]
    return [os.path.join(folder, name[1 : -len(JOURNAL_SUFFIX)]) for name in sorted(journals)]


def list_journaled_names(storage: Storage, prefix: str) -> list[str]:
    """Return the names of all files that the journal of a dataset renames or removes."""
    journal = load_journal(storage, prefix)
    return [] if journal is None else [*(rename.new for rename in journal.renames), *journal.removals]


def interrupted_commit_error(storage: Storage, prefix: str) -> IncompleteDatasetError:
    """Create the error for reading a dataset whose commit is not finished."""
    owner = read_lock_owner(storage, dataset_file_path(prefix, LOCK_SUFFIX))
    if owner is not None and is_possibly_alive(owner):
        message, hint = (
            f"the dataset is being replaced by {owner}",
            "open the dataset again when the writer has finished",
        )
    else:
        message = "the dataset was not completely written, because the writer was interrupted"
        hint = f"run `recordmill repair {prefix}` to complete or undo the work"
    return IncompleteDatasetError(message, kind="interrupted_commit", shard=prefix, hint=hint)
