"""Select the shards that paths refer to. If paths name a whole dataset, check that the dataset is complete.

A whole dataset is named by a folder, by a prefix, or by a pattern that matches every name in a manifest. Explicit files
and narrower patterns name a part of a dataset, which is not checked.
"""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from glob import has_magic

from recordmill import _core
from recordmill.datasets.journal import find_journals, interrupted_commit_error, journal_path, list_journaled_names
from recordmill.datasets.manifest import (
    Manifest,
    ManifestShard,
    Probes,
    find_manifests,
    is_manifest,
    load_manifest,
    manifest_path,
)
from recordmill.datasets.shard_names import (
    CountedShards,
    build_path_prefix,
    count_shards,
    find_possible_prefixes,
    is_name_of_dataset,
)
from recordmill.errors import IncompleteDatasetError
from recordmill.formats.detect import guess_format_from_name
from recordmill.shards.index import ShardIndex
from recordmill.shards.native_errors import native_errors
from recordmill.shards.open import OpenShard
from recordmill.shards.paths import Paths, expand_path, is_companion, list_paths, no_shard_error
from recordmill.storage.base import Storage
from recordmill.storage.local import natural_sort_key
from recordmill.types import Fault

# An error message names at most this many files for each kind of problem.
_MAX_NAMED = 5


@dataclass(slots=True)
class Selection:
    """The files that paths refer to, and the problems of their datasets, such as missing shards.

    Parameters
    ----------
    files : list of str
        Existing shards, in natural order and without duplicates.
    complete : bool or None
        True if whole datasets were selected and are complete. False for a part of a dataset, or if shards are missing,
        foreign or replaced. None if the expected number of shards is unknown.
    missing, foreign, replaced : list of str
        `missing` shards do not exist, `foreign` ones do not belong to the dataset, and the content of `replaced` ones
        differs from the manifest. `files` contains foreign and replaced shards.
    interrupted : list of str
        Path prefixes of the datasets whose commit was interrupted.
    manifests : dict of str to Manifest
        Manifests of the whole datasets, by the path of the manifest.
    """

    files: list[str] = field(default_factory=list)
    complete: bool | None = None
    missing: list[str] = field(default_factory=list)
    foreign: list[str] = field(default_factory=list)
    replaced: list[str] = field(default_factory=list)
    interrupted: list[str] = field(default_factory=list)
    manifests: dict[str, Manifest] = field(default_factory=dict)
    # Entries of the manifests by path; None until they are needed.
    _entries: dict[str, ManifestShard] | None = field(default=None, init=False)

    def compare(self, shard: ShardContent) -> None:
        """Compare an opened shard with the manifests. If its content differs, add the shard to `replaced`."""
        if self._entries is None:
            self._entries = self._map_manifest_entries()
        entry = self._entries.get(shard.path)
        if entry is not None and shard.differs(entry):
            self.replaced.append(shard.path)
            self.complete = False

    def _map_manifest_entries(self) -> dict[str, ManifestShard]:
        return {
            os.path.join(os.path.dirname(path), shard.name): shard
            for path, manifest in self.manifests.items()
            for shard in manifest.shards
        }

    def count_missing_records(self) -> dict[str, int]:
        """Return the number of records of each missing shard that a manifest lists."""
        missing = set(self.missing)
        return {path: shard.num_records for path, shard in self._map_manifest_entries().items() if path in missing}

    def keep_complete(self) -> None:
        """Drop the paths in `foreign` and `replaced` from the list `files`."""
        excluded = {*self.foreign, *self.replaced}
        self.files = [path for path in self.files if path not in excluded]

    @property
    def classes(self) -> list[str] | None:
        """Class names; None unless all manifests have the same names."""
        names = [manifest.classes for manifest in self.manifests.values()]
        return names[0] if names and all(other == names[0] for other in names) else None

    def raise_if_interrupted(self, storage: Storage) -> None:
        """Raise IncompleteDatasetError if the commit of a dataset was interrupted."""
        for prefix in self.interrupted:
            raise interrupted_commit_error(storage, prefix)

    def raise_if_incomplete(self) -> None:
        """Raise IncompleteDatasetError if `missing`, `foreign` or `replaced` lists a shard."""
        shards = self.missing + self.foreign + self.replaced
        if shards:
            raise IncompleteDatasetError(
                f"the dataset is not complete: {'; '.join(self.describe_problems())}",
                kind="incomplete_dataset",
                shard=shards[0],
                missing=self.missing,
                foreign=self.foreign,
                replaced=self.replaced,
                hint="restore the shards, select shards by name, or open the remaining ones with allow_incomplete=True",
            )

    def describe_problems(self) -> list[str]:
        """Return one text per kind of problem. Each text names at most `_MAX_NAMED` shards."""
        kinds = [
            ("missing", self.missing),
            ("not part of the dataset", self.foreign),
            ("different from the manifest", self.replaced),
        ]
        texts = [f"{_format_file_count(paths)} {problem}: {_list_names(paths)}" for problem, paths in kinds if paths]
        return texts + [f"the writer of {prefix} was interrupted" for prefix in self.interrupted]

    def list_faults(self, storage: Storage) -> list[Fault]:
        """Return the problems as `Fault` objects for the report of `verify`."""
        texts = {
            "missing_shard": "the shard does not exist",
            "foreign_shard": "the file does not belong to the dataset",
            "replaced_shard": "the content differs from the manifest: it belongs to another run, or was changed",
        }
        paths = {"missing_shard": self.missing, "foreign_shard": self.foreign, "replaced_shard": self.replaced}
        faults = []
        for prefix in self.interrupted:
            error = interrupted_commit_error(storage, prefix)
            faults.append(Fault("interrupted_commit", prefix, None, None, f"{error.message}; {error.hint}"))
        return faults + [Fault(kind, path, None, None, texts[kind]) for kind, names in paths.items() for path in names]


@dataclass(frozen=True, slots=True)
class ShardContent:
    """Size, number of records and checksums that identify the content of an opened shard.

    Parameters
    ----------
    path : str
    num_bytes, num_records : int
        Size of the file in bytes, and number of records, including damaged ones.
    probes : tuple of (int, int)
        Offset and CRC-32C of some blocks of the file.
    is_damaged : callable
        Function that returns True if the shard has a fault. Called only if the other values differ from the manifest.
    """

    path: str
    num_bytes: int
    num_records: int
    probes: Probes
    is_damaged: Callable[[], bool]

    def differs(self, entry: ManifestShard) -> bool:
        """Return True if the content differs from that in the manifest. Damage does not count as a difference."""
        if (self.num_bytes, self.num_records, self.probes) == (entry.num_bytes, entry.num_records, entry.fingerprint):
            return False
        common = set(self.probes).intersection(entry.fingerprint) if len(entry.fingerprint) > 1 else ()
        return not ((common and self.num_bytes == entry.num_bytes) or self.is_damaged())


def describe_content(shard: OpenShard, loaded: ShardIndex) -> ShardContent:
    """Create the `ShardContent` of a shard from its loaded index."""

    def is_damaged() -> bool:
        with native_errors(shard.name):
            return bool(loaded.faults) or _core.verify(shard.source, shard.format.framing.kind, None)[2] > 0

    sidecar = loaded.sidecar
    return ShardContent(shard.paths[0], sidecar.num_stored_bytes, sidecar.num_records, sidecar.probes, is_damaged)


def _format_file_count(paths: list[str]) -> str:
    return "1 file is" if len(paths) == 1 else f"{len(paths):,} files are"


def _list_names(paths: list[str]) -> str:
    names = ", ".join(paths[:_MAX_NAMED])
    return names if len(paths) <= _MAX_NAMED else f"{names} and {len(paths) - _MAX_NAMED:,} more"


def select_shards(paths: Paths, storage: Storage) -> Selection:
    """Find the shards that paths, patterns, folders and prefixes refer to, and the problems of the datasets."""
    names = list_paths(paths)
    if not names:
        raise FileNotFoundError(2, "expected at least one shard, got", "an empty list of paths")

    @cache
    def has_journal(prefix: str) -> bool:  # Cached, because all files of a dataset share one prefix.
        return storage.exists(journal_path(prefix))

    return _merge_selections([_select_source(name, storage, has_journal) for name in names])


def _merge_selections(selections: Sequence[Selection]) -> Selection:
    """Merge the selections of several sources or folders."""
    if len(selections) == 1:
        return selections[0]
    known = {selection.complete for selection in selections}
    merged = Selection(complete=False if False in known else None if None in known else True)
    for selection in selections:
        merged.missing += selection.missing
        merged.foreign += selection.foreign
        merged.manifests |= selection.manifests
    merged.files = list(dict.fromkeys(path for selection in selections for path in selection.files))
    merged.interrupted = list(dict.fromkeys(prefix for selection in selections for prefix in selection.interrupted))
    return merged


def _select_source(name: str, storage: Storage, has_journal: Callable[[str], bool]) -> Selection:
    if is_manifest(name):
        return _select_from_manifest(name, storage)
    if not storage.can_list(os.path.dirname(name)):
        return _select_without_listing(name, storage)
    files = expand_path(name, storage)
    if files == [name]:
        return _select_file(name, storage, has_journal)
    folder, pattern = name.rstrip(os.sep) or name, os.path.basename(name)
    if all(os.path.dirname(path) == folder for path in files) and (files or storage.list_names(folder)):
        selection = _select_in_folder(files, folder, lambda _: True, storage)
    elif files or has_magic(pattern):
        selection = _select_pattern(files, name, storage)
    else:
        selection = _select_prefix(name, storage)
    if not (selection.files or selection.missing or selection.interrupted):
        raise no_shard_error(name)
    return selection


def _select_from_manifest(path: str, storage: Storage) -> Selection:
    """Select all shards that a manifest lists. A missing shard raises an error only when it is opened."""
    manifest = load_manifest(storage, path)
    if manifest is None:
        raise no_shard_error(path)
    return Selection(_list_shards(path, manifest), complete=True, manifests={path: manifest})


def _select_without_listing(name: str, storage: Storage) -> Selection:
    """Select shards without listing a folder: by their names, or by the manifest of their dataset."""
    files = storage.expand(name)
    if files:
        return Selection(files)
    path = manifest_path(build_path_prefix(name))
    if not storage.exists(path):
        raise no_shard_error(name)
    return _select_from_manifest(path, storage)


def _select_file(path: str, storage: Storage, has_journal: Callable[[str], bool]) -> Selection:
    """Select one file. It is complete if its dataset has no other shards and the commit was not interrupted."""
    interrupted = list(filter(has_journal, find_possible_prefixes(path)))
    manifest = load_manifest(storage, manifest_path(path)) if storage.exists(manifest_path(path)) else None
    is_dataset = manifest is not None and [shard.name for shard in manifest.shards] == [os.path.basename(path)]
    return Selection([path], complete=is_dataset and not interrupted, interrupted=interrupted)


def _select_pattern(files: list[str], name: str, storage: Storage) -> Selection:
    """Select the files that match a glob pattern. These files may be in several folders."""
    folder, pattern = os.path.split(name)

    def matches_pattern(name: str) -> bool:
        return fnmatch.fnmatchcase(name, pattern)

    folders = dict.fromkeys(map(os.path.dirname, files)) or [folder]
    merged = _merge_selections([_select_in_folder(files, folder, matches_pattern, storage) for folder in folders])
    # Merging grouped the files by folder. Restore the natural order of `files`.
    merged.files = files
    return merged


def _select_prefix(destination: str, storage: Storage) -> Selection:
    """Select the shards of the dataset that was written to a destination."""
    folder, prefix_name = os.path.split(build_path_prefix(destination))
    names = [name for name in storage.list_names(folder) if is_name_of_dataset(name, prefix_name)]
    paths = [os.path.join(folder, name) for name in names if not is_companion(name)]
    files = sorted((path for path in paths if expand_path(path, storage) == [path]), key=natural_sort_key)
    return _select_in_folder(files, folder, lambda name: is_name_of_dataset(name, prefix_name), storage)


def _select_in_folder(
    files: Sequence[str], folder: str, is_selected: Callable[[str], bool], storage: Storage
) -> Selection:
    """Select the files in one folder, and find the problems of their datasets, such as missing shards."""
    selection = Selection([path for path in files if os.path.dirname(path) == folder])
    present = storage.list_names(folder)
    for prefix in find_journals(folder, present):
        if any(map(is_selected, list_journaled_names(storage, prefix))):
            selection.interrupted.append(prefix)
    listed, is_part = _compare_with_manifests(selection, folder, find_manifests(present), is_selected, storage)
    others = [path for path in selection.files if path not in listed]
    if any(manifest_path(_list_shards(path, manifest)[0]) != path for path, manifest in selection.manifests.items()):
        # If a dataset has several shards, its folder must not contain other shards. Selected files that do not look
        # like shards, such as README.md, are not reported here. They raise an error when they are opened as shards.
        selection.foreign += [path for path in others if _looks_like_shard(path)]
        counted: set[str] = set()
    else:
        counted, is_part_of_counted = _find_missing_by_totals(selection, others, is_selected)
        is_part |= is_part_of_counted
    if is_part or selection.missing or selection.foreign or selection.interrupted:
        selection.complete = False
    elif selection.files and all(path in listed or path in counted for path in selection.files):
        selection.complete = True
    return selection


def _compare_with_manifests(
    selection: Selection, folder: str, names: Sequence[str], is_selected: Callable[[str], bool], storage: Storage
) -> tuple[set[str], bool]:
    """For each wholly selected dataset, add the manifest and the missing shards to `selection`.

    A dataset is wholly selected if `is_selected` is true for the names of all its shards, including missing ones.
    Returns the selected shards that a manifest lists, and True if a dataset is selected only in part.
    """
    listed: set[str] = set()
    existing, is_part = set(selection.files), False
    for name in names:
        path = os.path.join(folder, name)
        manifest = load_manifest(storage, path)
        shards = [] if manifest is None else _list_shards(path, manifest)
        matching = [shard for shard in shards if is_selected(os.path.basename(shard))]
        listed.update(matching)
        if manifest is not None and matching and len(matching) == len(shards):
            selection.manifests[path] = manifest
            selection.missing += [shard for shard in matching if shard not in existing]
        is_part |= 0 < len(matching) < len(shards)
    return listed, is_part


def _list_shards(path: str, manifest: Manifest) -> list[str]:
    """Return the paths of the shards that the manifest at `path` lists."""
    return [os.path.join(os.path.dirname(path), shard.name) for shard in manifest.shards]


def _looks_like_shard(path: str) -> bool:
    name = os.path.basename(path)
    return len(find_possible_prefixes(name)) > 1 or "." not in name or guess_format_from_name(name) is not None


def _find_missing_by_totals(
    selection: Selection, paths: list[str], is_selected: Callable[[str], bool]
) -> tuple[set[str], bool]:
    """Find missing shards by the total in each shard name, such as 10 in ``-of-00010``, and add them to a selection.

    Returns the shards whose names contain a total, and True if a dataset is selected only in part.
    """
    counted: set[str] = set()
    is_part = False
    largest: dict[tuple[str, str, str], CountedShards] = {}
    for shards in sorted(count_shards(paths), key=lambda shards: -len(shards.paths)):
        counted.update(shards.paths)
        if largest.setdefault(shards.key, shards) is not shards:
            # A group with another total in its names has as many shards or more. So this group is from another run.
            selection.foreign += shards.paths
            continue
        named = [path for path in shards.missing if is_selected(os.path.basename(path))]
        is_part |= len(named) < len(shards.missing)
        if len(named) == len(shards.missing):
            selection.missing += named
    return counted, is_part
