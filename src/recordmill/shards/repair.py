"""`repair`: complete or undo the commits of datasets whose writers were interrupted."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

from recordmill.datasets.journal import find_journals, recover
from recordmill.datasets.lock import WriterLock
from recordmill.datasets.shard_names import LOCK_SUFFIX, build_path_prefix, dataset_file_path
from recordmill.storage.addresses import check_path
from recordmill.storage.base import Storage
from recordmill.storage.choose import choose_storage
from recordmill.suggestions import suggest_arguments


@dataclass(frozen=True, slots=True)
class RepairResult:
    """Result of `repair`: the datasets whose commit was completed or undone.

    Parameters
    ----------
    completed : list of str
        Path prefixes of the datasets whose new shards now have their final names.
    undone : list of str
        Path prefixes of the datasets whose new shards were removed.
    """

    completed: list[str] = field(default_factory=list)
    undone: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Return the result as JSON values.

        Returns
        -------
        dict
            ``{"completed": [prefix], "undone": [prefix]}``
        """
        return {"completed": self.completed, "undone": self.undone}


@suggest_arguments
def repair(destination: str | os.PathLike[str], *, break_lock: bool = False) -> RepairResult:
    """Complete or undo the work of writers that were interrupted while they renamed their shards.

    A writer that is killed earlier leaves the old dataset unchanged; `repair` then has nothing to do.

    Parameters
    ----------
    destination : path
        The destination that was passed to the writer, or a folder with datasets.
    break_lock : bool, default False
        Whether to repair even if a process of another machine has locked the destination. Use this only if you know
        that the process no longer runs.

    Returns
    -------
    RepairResult

    Raises
    ------
    FileNotFoundError
        If the folder of the destination does not exist.
    DestinationLockedError
        If a writer is still writing to the destination.
    ManifestError
        If the journal of the writer is damaged.
    WriteError
        If a file cannot be renamed or removed. Call `repair` again after removing the cause.

    Examples
    --------
    >>> with rm.ShardWriter("out/train") as writer:
    ...     writer.write({"label": 1})
    >>> rm.repair("out/train")
    RepairResult(completed=[], undone=[])
    """
    path = check_path(destination)
    storage = choose_storage([path], for_writing=True)
    is_folder = path.endswith("/") if storage.is_remote else os.path.isdir(path)
    folder = (path.rstrip("/") or path) if is_folder else os.path.dirname(path)
    prefixes = find_journals(folder, storage.list_names(folder)) if is_folder else [build_path_prefix(path)]
    if folder and not storage.is_remote and not os.path.isdir(folder):
        raise FileNotFoundError(2, "no such folder", folder)
    result = RepairResult()
    for prefix in prefixes:
        action = _repair_dataset(storage, prefix, break_lock=break_lock)
        if action is not None:
            (result.completed if action == "complete" else result.undone).append(prefix)
    return result


def _repair_dataset(storage: Storage, prefix: str, *, break_lock: bool) -> str | None:
    lock = WriterLock(storage, dataset_file_path(prefix, LOCK_SUFFIX), break_lock=break_lock)
    try:
        return recover(storage, prefix)
    finally:
        lock.release()
