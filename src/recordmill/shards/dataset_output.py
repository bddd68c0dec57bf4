"""Write the shards of one destination: lock the destination, use temporary names, and commit all shards together.

After a crash at any moment, one of these exists: the old dataset (if there was one), the new dataset, or a journal from
which the next writer or `repair` completes or undoes the commit.
"""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from recordmill.datasets.journal import (
    Journal,
    Rename,
    apply_journal,
    journal_path,
    recover,
    write_journal,
)
from recordmill.datasets.lock import WriterLock
from recordmill.datasets.manifest import (
    Manifest,
    ManifestShard,
    compute_run_id,
    load_manifest,
    manifest_path,
    serialize_manifest,
)
from recordmill.datasets.shard_names import (
    LOCK_SUFFIX,
    PROGRESS_SUFFIX,
    build_path_prefix,
    build_shard_paths,
    check_leftover_shards,
    dataset_file_path,
    find_leftover_shards,
    find_temporary_files,
)
from recordmill.errors import DestinationLockedError, OutputExistsError, RecordmillError, WriteError
from recordmill.formats.base import Format
from recordmill.schema import Schema
from recordmill.shards.foreign_index import foreign_index_path
from recordmill.shards.index import IndexMode
from recordmill.shards.output import (
    FinishedFile,
    ShardOutput,
    check_output_compression,
    companion_paths,
    remove_cached_indexes,
)
from recordmill.storage.base import OutputFile, Storage, output_exists_error, write_temporary_file
from recordmill.storage.compression import SUFFIXES


@dataclass(frozen=True, slots=True)
class ShardOptions:
    """Options for writing the shards of a dataset.

    Parameters
    ----------
    compression : str or None
        Compression of whole files. Either "gzip" or "zlib".
    level : int
        Compression level.
    overwrite : bool
        Whether to replace an existing dataset.
    index : str
        "auto" writes a sidecar beside each shard; "never" does not.
    break_lock : bool
        Whether to take over the lock of another writer even if that writer may be alive.
    """

    compression: str | None = None
    level: int = -1
    overwrite: bool = False
    index: IndexMode = "auto"
    break_lock: bool = False


@dataclass(frozen=True, slots=True)
class DatasetDescription:
    """Fields of a manifest that describe the records of a dataset; see `Manifest`."""

    schema: Schema | None = None
    payload: str | None = None
    classes: list[str] | None = None
    source_digest: str | None = None


class DatasetOutput:
    """The shards that are being written to one destination.

    The destination is locked from the creation of the object until `commit` or `discard`. Creating it also completes or
    undoes the interrupted commit of an earlier writer.

    Parameters
    ----------
    storage : Storage
    destination : str
        Prefix of the shard names, a folder with a trailing slash, or the name of a single shard.
    format_ : Format
    options : ShardOptions
    """

    def __init__(self, storage: Storage, destination: str, format_: Format, options: ShardOptions) -> None:
        self._compression = check_output_compression(format_, options.compression)
        self._storage, self._format, self._options = storage, format_, options
        self.destination, self.prefix = destination, build_path_prefix(destination)
        self.outputs: list[ShardOutput] = []
        self._manifest_file: OutputFile | None = None
        # True while a journal on disk refers to the temporary files. During this time, `discard` must not remove them.
        self._is_journaled = False
        self._lock = self._take_lock()
        try:
            self._recover_interrupted_commit()
        except BaseException:
            self._lock.release()
            raise

    def _take_lock(self) -> WriterLock:
        path = dataset_file_path(self.prefix, LOCK_SUFFIX)
        try:
            return WriterLock(self._storage, path, break_lock=self._options.break_lock)
        except DestinationLockedError:
            raise
        except WriteError as error:
            error.shard = self.prefix
            raise

    def _recover_interrupted_commit(self) -> None:
        action = recover(self._storage, self.prefix)
        if action is not None:
            done = "completed" if action == "complete" else "undone"
            warnings.warn(f"the interrupted write of {self.prefix!r} was {done}", RuntimeWarning, stacklevel=2)

    @property
    def progress_path(self) -> str:
        """Path of the progress file of a resumable run, see `RunRecord`."""
        return dataset_file_path(self.prefix, PROGRESS_SUFFIX)

    def remove_leftover_files(self, keep: Collection[str] = ()) -> None:
        """Remove temporary files of earlier runs except those in `keep`, and the progress file if `keep` is empty."""
        for path in find_temporary_files(self._storage, self.prefix):
            if os.path.basename(path) not in keep:
                self._storage.remove(path)
        if not keep:
            self._storage.remove(self.progress_path)

    def remove_progress(self) -> None:
        """Remove the progress file, unless a journal on disk lists it. Never raises."""
        with contextlib.suppress(WriteError):
            if not self._is_journaled:
                self._storage.remove(self.progress_path)

    def find_finished(self, source_digest: str) -> Manifest | None:
        """Return the existing manifest if its dataset is complete and was written with the same source and options."""
        manifest = self._old_manifest
        if manifest is None or manifest.source_digest != source_digest:
            return None
        return manifest if all(map(self._storage.exists, self._list_old_shards())) else None

    def shard_paths(self, num_shards: int) -> list[str]:
        """Return the final paths of the shards."""
        return build_shard_paths(self.destination, self._format, num_shards, self._compression_suffix)

    @property
    def _compression_suffix(self) -> str:
        return SUFFIXES[self._compression]

    def check_not_existing(self, paths: Sequence[str]) -> None:
        """Raise OutputExistsError if the dataset or an output file exists and must not be overwritten."""
        if self._options.overwrite:
            return
        check_leftover_shards(self._storage, self.destination, self._format, self._compression_suffix, paths)
        index = self._format.index if self._format.index_on_write else None
        for name in [*paths, *(foreign_index_path(path, index.suffix) for path in paths if index is not None)]:
            if self._storage.exists(name):
                raise output_exists_error(name)
        for path in self._list_old_shards():
            if self._storage.exists(path):
                raise OutputExistsError(
                    "a dataset with the same prefix exists",
                    shard=path,
                    hint="choose another name, or replace the dataset with overwrite=True",
                )

    @cached_property
    def _old_manifest(self) -> Manifest | None:
        """Manifest of the existing dataset. It does not change while the destination is locked."""
        return load_manifest(self._storage, manifest_path(self.prefix))

    def _list_old_shards(self) -> list[str]:
        """Return the paths of the shards in the existing manifest."""
        shards = [] if self._old_manifest is None else self._old_manifest.shards
        return [os.path.join(os.path.dirname(self.prefix), shard.name) for shard in shards]

    def rename_shards(self, outputs: Sequence[ShardOutput]) -> None:
        """Set the final paths of the shards. These paths depend on the number of shards."""
        for output, path in zip(outputs, self.shard_paths(len(outputs)), strict=True):
            output.rename(path)

    def create_shard(self, path: str) -> ShardOutput:
        """Start a shard; `path` is its final path."""
        output = self._create_shard_output(path)
        self.outputs.append(output)
        return output

    def _create_shard_output(self, path: str, file: OutputFile | None = None) -> ShardOutput:
        options = self._options
        return ShardOutput(
            path,
            self._format,
            storage=self._storage,
            compression=self._compression,
            level=options.level,
            overwrite=options.overwrite,
            index=options.index,
            file=file,
        )

    def restore_shard(
        self,
        path: str,
        temporary: str,
        num_bytes: int,
        keys: Sequence[int | str],
        checksums: NDArray[np.uint32] | None,
    ) -> ShardOutput | None:
        """Add a shard that an earlier run has finished; return None if the shard is missing or damaged."""
        name = os.path.join(os.path.dirname(self.prefix), temporary)
        if not self._storage.exists(name):
            return None
        file = FinishedFile(self._storage, path, name, overwrite=self._options.overwrite)
        output = self._create_shard_output(path, file)
        with contextlib.suppress(RecordmillError):
            if output.restore(num_bytes, keys, checksums):
                self.outputs.append(output)
                return output
        return None

    @property
    def warnings(self) -> list[str]:
        """Problems that did not prevent the shards from being written."""
        return [text for output in self.outputs for text in output.warnings]

    def commit(self, outputs: Sequence[ShardOutput], description: DatasetDescription) -> None:
        """Give all finished shards their final names; then release the lock.

        After an error, no shard has its final name. There is one exception: if old shards are being overwritten, a
        journal may remain, from which `repair` completes the commit.
        """
        for output in outputs:
            output.check_not_existing()
        shards = [output.prepare(description.schema, description.payload, description.classes) for output in outputs]
        self._manifest_file = self._write_manifest(shards, description)
        journal = self._build_journal(outputs)
        self._lock.check()
        failed = self._write_and_apply_journal(journal)
        for output in outputs:
            output.finish_commit(failed)
        self._lock.release()
        for text in self.warnings:
            warnings.warn(text, RuntimeWarning, stacklevel=2)

    def _write_manifest(self, shards: list[ManifestShard], description: DatasetDescription) -> OutputFile:
        manifest = Manifest(
            compute_run_id(shards),
            self._format.name,
            shards,
            self._compression,
            description.payload,
            None if description.schema is None else description.schema.to_json(),
            description.classes,
            description.source_digest,
        )
        path = manifest_path(self.prefix)
        return write_temporary_file(self._storage, path, serialize_manifest(manifest), overwrite=True)

    def _build_journal(self, outputs: Sequence[ShardOutput]) -> Journal:
        renames = [rename for output in outputs for rename in output.list_renames()]
        if self._manifest_file is not None:
            old, new = self._manifest_file.temporary, self._manifest_file.path
            renames.append(Rename(os.path.basename(old), os.path.basename(new), overwrite=True))
        replaced = {rename.new for rename in renames}
        removals = [name for output in outputs for name in output.list_stale_files()]
        if self._options.overwrite:
            removals += self._list_leftover_files([output.path for output in outputs])
        removals.append(os.path.basename(self.progress_path))
        removals = [name for name in dict.fromkeys(removals) if name not in replaced]
        return Journal("complete", renames, self._select_existing_names(removals))

    def find_other_shards(self, paths: list[str]) -> list[str]:
        """Find the shards of an earlier run, by name and in the existing manifest; omit those in `paths`."""
        leftover = find_leftover_shards(self._storage, self.destination, self._format, self._compression_suffix, paths)
        old = [path for path in self._list_old_shards() if path not in set(paths)]
        return list(dict.fromkeys(leftover + old))

    def _list_leftover_files(self, paths: list[str]) -> list[str]:
        """List the files to remove: shards of an earlier run that are not overwritten, and their index files."""
        others = self.find_other_shards(paths)
        for path in others:
            remove_cached_indexes(path)
        return [os.path.basename(file) for path in others for file in (path, *companion_paths(path, self._format))]

    def _select_existing_names(self, names: list[str]) -> list[str]:
        present = set(self._storage.list_names(os.path.dirname(self.prefix)))
        return [name for name in names if name in present]

    def _write_and_apply_journal(self, journal: Journal) -> dict[str, WriteError]:
        """Write the journal and perform its steps. After an error, undo the steps if ``overwrite=False``.

        Steps that may have overwritten files cannot be undone.
        """
        folder = os.path.dirname(self.prefix)
        self._write_journal(journal)
        try:
            failed = dict(apply_journal(self._storage, folder, journal))
            self._storage.remove(journal_path(self.prefix))
        except BaseException as error:
            if not self._options.overwrite:
                self._undo_journal(journal)
            elif not isinstance(error, Exception):  # Ctrl-C: some files are already replaced, so replace the rest.
                apply_journal(self._storage, folder, journal)
                self._storage.remove(journal_path(self.prefix))
            elif isinstance(error, OSError):
                raise self._interrupted_overwrite_error(error) from error
            raise
        return failed

    def _interrupted_overwrite_error(self, error: OSError) -> WriteError:
        cause = error.message if isinstance(error, WriteError) else error.strerror or str(error)
        return WriteError(
            f"some old shards were not replaced: {cause}",
            kind="interrupted_commit",
            errno=error.errno,
            shard=error.shard if isinstance(error, WriteError) else self.prefix,
            hint=f"`recordmill repair {self.prefix}` completes the work",
        )

    def _write_journal(self, journal: Journal) -> None:
        self._is_journaled = True
        try:
            write_journal(self._storage, self.prefix, journal)
        except BaseException:
            self._storage.remove(journal_path(self.prefix))
            self._is_journaled = False
            raise

    def _undo_journal(self, journal: Journal) -> None:
        """Remove the new files, including those that already have their final names."""
        folder = os.path.dirname(self.prefix)
        present = set(self._storage.list_names(folder))
        done = [rename.new for rename in journal.renames if rename.old not in present and rename.new in present]
        undo = Journal("undo", [], [*done, *(rename.old for rename in journal.renames)])
        write_journal(self._storage, self.prefix, undo)
        apply_journal(self._storage, folder, undo)
        self._storage.remove(journal_path(self.prefix))
        self._is_journaled = False

    def discard(self, *, keep_finished: bool = False) -> None:
        """Remove all files that were not committed, and release the lock; never raises."""
        if not self._is_journaled:
            for output in self.outputs:
                output.discard(keep_shard=keep_finished and output.is_finished)
            if self._manifest_file is not None:
                self._manifest_file.discard()
        self._lock.release()


def commit_single_file(storage: Storage, output: ShardOutput) -> None:
    """Commit a shard that belongs to no dataset, and remove the manifest of a dataset that consisted of this file."""
    output.prepare(None, None)
    folder = os.path.dirname(output.path)
    stale = [*output.list_stale_files(), os.path.basename(manifest_path(output.path))]
    renames = output.list_renames()
    new = {rename.new for rename in renames}
    removals = [name for name in stale if name not in new and storage.exists(os.path.join(folder, name))]
    journal = Journal("complete", renames, removals)
    output.finish_commit(dict(apply_journal(storage, folder, journal)))
    for text in output.warnings:
        warnings.warn(text, RuntimeWarning, stacklevel=2)
