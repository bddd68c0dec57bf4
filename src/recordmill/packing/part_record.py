"""Records of packed parts. The record of a part is a small hidden JSON file beside the shards."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass
from typing import Any

from recordmill.datasets.journal import Rename
from recordmill.datasets.manifest import ManifestShard, Probes, check_file_name
from recordmill.datasets.shard_names import PART_SUFFIX, dataset_file_path
from recordmill.formats.base import Format
from recordmill.packing.options import OutputOptions
from recordmill.schema import Schema
from recordmill.shards.output import FinishedFile, ShardOutput
from recordmill.shards.sidecar import compute_probes
from recordmill.storage.base import Storage, write_temporary_file


@dataclass(frozen=True, slots=True)
class PackedShard:
    """A finished shard of a part, which still has its temporary name.

    Parameters
    ----------
    name : str
        Final file name, without folder.
    num_stored_bytes, num_bytes : int
        Size of the file, and size before compression.
    num_records : int
    fingerprint : tuple of (int, int)
        Offset and CRC-32C of some blocks of the file.
    renames : list of Rename
        Renames that give the shard and its index files their final names, the shard first.
    """

    name: str
    num_stored_bytes: int
    num_bytes: int
    num_records: int
    fingerprint: Probes
    renames: list[Rename]


@dataclass(frozen=True, slots=True)
class PartRecord:
    """The shards, skipped images and warnings of a finished part.

    Parameters
    ----------
    shards : list of PackedShard
    skipped : list of (int, str, str)
        Position in the source, path and cause of each skipped image.
    stamps : str
        Stamps of the image files (see `PartItems`), encoded with `encode_numbers`.
    warnings : list of str
        Index files that could not be written.
    """

    shards: list[PackedShard]
    skipped: list[tuple[int, str, str]]
    stamps: str
    warnings: list[str]


def record_path(prefix: str, digest: str, part: int) -> str:
    """Return the path of the record of a part; `digest` is the digest of the plan."""
    return dataset_file_path(prefix, f"{PART_SUFFIX}.tmp-{digest}{part:08x}")


def write_part_record(storage: Storage, path: str, record: PartRecord) -> None:
    """Write the record of a part, and replace the record of an earlier attempt."""
    # The folder is not synced. If a crash of the machine loses the record, `pack_part` packs the part again.
    file = write_temporary_file(
        storage, path, json.dumps(asdict(record), separators=(",", ":")).encode(), overwrite=True
    )
    try:
        file.commit()
    except BaseException:
        file.discard()
        raise


def load_part_record(storage: Storage, path: str) -> PartRecord | None:
    """Read the record of a part; return None if the file does not exist or is damaged."""
    try:
        content = json.loads(storage.read(path))
        return PartRecord(
            [_build_shard(entry) for entry in content["shards"]],
            [(int(position), str(name), str(cause)) for position, name, cause in content["skipped"]],
            str(content["stamps"]),
            [str(text) for text in content["warnings"]],
        )
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return None


def _build_shard(entry: dict[str, Any]) -> PackedShard:
    renames = [Rename(**rename) for rename in entry.pop("renames")]
    for rename in renames:
        check_file_name(rename.old)
        check_file_name(rename.new)
    fingerprint = tuple([(int(offset), int(crc)) for offset, crc in entry.pop("fingerprint")])
    return PackedShard(**entry, fingerprint=fingerprint, renames=renames)


def list_kept_files(storage: Storage, prefix: str, digest: str) -> set[str]:
    """Return the file names of all part records of a plan, and the names of the files that these records list."""
    folder, start = os.path.split(dataset_file_path(prefix, f"{PART_SUFFIX}.tmp-{digest}"))
    names = {name for name in storage.list_names(folder) if name.startswith(start)}
    records = [load_part_record(storage, os.path.join(folder, name)) for name in names]
    return names | {
        rename.old for record in records if record is not None for shard in record.shards for rename in shard.renames
    }


def is_intact(storage: Storage, folder: str, shard: PackedShard) -> bool:
    """Return True if all files of a finished shard exist, and the size and fingerprint of the shard are unchanged."""
    shard_name, *index_names = [os.path.join(folder, rename.old) for rename in shard.renames]
    try:
        has_size = storage.stat(shard_name).num_bytes == shard.num_stored_bytes
    except FileNotFoundError:
        return False
    if not has_size or not all(map(storage.exists, index_names)):
        return False
    return compute_probes(storage.open([shard_name]), shard.num_stored_bytes) == shard.fingerprint


class PreparedShard(ShardOutput):
    """A shard that another process has written and prepared for the commit.

    Parameters
    ----------
    storage : Storage
    folder : str
    format_ : Format
    outputs : OutputOptions
    shard : PackedShard
    """

    def __init__(
        self, storage: Storage, folder: str, format_: Format, outputs: OutputOptions, shard: PackedShard
    ) -> None:
        overwrite = outputs.overwrite
        files = [
            FinishedFile(
                storage, os.path.join(folder, rename.new), os.path.join(folder, rename.old), overwrite=overwrite
            )
            for rename in shard.renames
        ]
        super().__init__(
            files[0].path, format_, storage=storage, overwrite=overwrite, index=outputs.index, file=files[0]
        )
        self._entry = ManifestShard(shard.name, shard.num_stored_bytes, shard.num_records, shard.fingerprint)
        self.num_records, self.num_bytes = shard.num_records, shard.num_bytes
        for rename, file in zip(shard.renames[1:], files[1:], strict=True):
            if rename.is_optional:
                self._sidecar = file
            else:
                self._foreign_index = file

    def prepare(
        self,
        schema: Schema | None,  # noqa: ARG002 (arguments of `ShardOutput.prepare`)
        payload: str | None,  # noqa: ARG002
        classes: list[str] | None = None,  # noqa: ARG002
    ) -> ManifestShard:
        """Return the manifest entry of the shard. The process that packed the part has written the index."""
        return self._entry
