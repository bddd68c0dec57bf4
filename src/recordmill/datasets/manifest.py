"""The manifest of a dataset: a hidden JSON file beside the shards that lists all of them.

Writers create it last, so a dataset with a manifest was written completely. File names in it have no folder, so the
folder of the dataset can be moved or renamed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from recordmill import _core
from recordmill.datasets.shard_names import MANIFEST_SUFFIX, dataset_file_path
from recordmill.errors import ManifestError
from recordmill.storage.base import Storage

VERSION = 1
# Files larger than this are not read. The manifest of a million shards has about 250 MB.
_MAX_BYTES = 1 << 30

# The result of `compute_probes`: (offset, CRC-32C) of some blocks of a file.
Probes = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class ManifestShard:
    """Entry of a manifest for one shard.

    Parameters
    ----------
    name : str
        File name, without folder.
    num_bytes : int
        Size of the file in bytes.
    num_records : int
    fingerprint : tuple of (int, int)
        Offset and CRC-32C of some blocks of the file.
    """

    name: str
    num_bytes: int
    num_records: int
    fingerprint: Probes


@dataclass(frozen=True, slots=True)
class Manifest:
    """The fields of a manifest file.

    Parameters
    ----------
    run_id : str
        Identifies the run of the writer, see `compute_run_id`.
    format : str
        Name of the record format.
    shards : list of ManifestShard
        All shards, in order.
    compression, payload : str or None
        Compression of the shards, and name of the payload codec.
    schema : dict or None
        Features of the records as JSON values (see `Schema.to_json`), if the writer knows them.
    classes : list of str or None
        Names of the classes, in the order of the label numbers.
    source_digest : str or None
        Identifies the source and the options of `pack`, so that ``resume=True`` recognizes a finished run.
    """

    run_id: str
    format: str
    shards: list[ManifestShard]
    compression: str | None = None
    payload: str | None = None
    schema: dict[str, Any] | None = None
    classes: list[str] | None = None
    source_digest: str | None = None


def compute_run_id(shards: Sequence[ManifestShard]) -> str:
    """Return a digest of the names, sizes, record counts and fingerprints of shards. Equal runs have equal digests."""
    import hashlib

    content = json.dumps([(shard.name, shard.num_bytes, shard.num_records, shard.fingerprint) for shard in shards])
    return hashlib.sha256(content.encode()).hexdigest()[:16]


def manifest_path(prefix: str) -> str:
    """Return the path of the manifest of the dataset with this path prefix."""
    return dataset_file_path(prefix, MANIFEST_SUFFIX)


def find_manifests(names: Sequence[str]) -> list[str]:
    """Select the names of manifests from the file names in a folder, in alphabetical order."""
    return sorted(filter(is_manifest, names))


def is_manifest(path: str) -> bool:
    """Return True if a file name is the name of a manifest."""
    name = os.path.basename(path)
    return name.startswith(".") and name.endswith(MANIFEST_SUFFIX)


def serialize_manifest(manifest: Manifest) -> bytes:
    """Return the bytes of a manifest file."""
    content: dict[str, Any] = {
        "version": VERSION,
        "run_id": manifest.run_id,
        "format": manifest.format,
        "compression": manifest.compression,
        "payload": manifest.payload,
        "schema": manifest.schema,
        "classes": manifest.classes,
        "source_digest": manifest.source_digest,
        "shards": [
            {
                "name": shard.name,
                "num_bytes": shard.num_bytes,
                "num_records": shard.num_records,
                "fingerprint": shard.fingerprint,
            }
            for shard in manifest.shards
        ],
    }
    return json.dumps(content | {"checksum": _compute_checksum(content)}, indent=1).encode()


def _compute_checksum(content: dict[str, Any]) -> str:
    """Return the CRC-32C of the manifest fields as 8 hexadecimal digits. The order of the fields does not matter."""
    return f"{_core.crc32c(json.dumps(content, sort_keys=True, separators=(',', ':')).encode()):08x}"


def load_manifest(storage: Storage, path: str) -> Manifest | None:
    """Read a manifest; return None if the file does not exist.

    Raises
    ------
    ManifestError
        If the file is damaged, or was written by a newer version of recordmill.
    """
    try:
        if storage.stat(path).num_bytes > _MAX_BYTES:
            raise _bad_manifest_error(path, f"it has more than {_MAX_BYTES:,} bytes")
        data = storage.read(path)
    except FileNotFoundError:
        return None
    try:
        content = json.loads(data)
        version = content["version"]
        if version == VERSION:
            return _build_manifest(content)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise _bad_manifest_error(path, str(error) or type(error).__name__) from None
    if isinstance(version, int) and version > VERSION:
        raise _newer_version_error(path, version)
    raise _bad_manifest_error(path, f"the version {version!r} is unknown")


def _newer_version_error(path: str, version: int) -> ManifestError:
    return ManifestError(
        "the manifest was written by a newer version of recordmill",
        kind="newer_version",
        shard=path,
        expected=f"at most version {VERSION}",
        found=f"version {version}",
        hint="upgrade recordmill, or list the shards one by one, which does not require the manifest",
    )


def _bad_manifest_error(path: str, reason: str) -> ManifestError:
    return ManifestError(
        f"the manifest is damaged: {reason}",
        kind="bad_manifest",
        shard=path,
        hint="restore the manifest from a copy; without it, missing shards may not be noticed",
    )


def _build_manifest(content: dict[str, Any]) -> Manifest:
    if content.pop("checksum") != _compute_checksum(content):
        raise ValueError("the checksum does not match the content")
    shards = []
    for entry in content["shards"]:
        name = check_file_name(entry["name"])
        probes = tuple([(int(offset), int(crc)) for offset, crc in entry["fingerprint"]])
        shards.append(ManifestShard(name, int(entry["num_bytes"]), int(entry["num_records"]), probes))
    classes = content["classes"]
    return Manifest(
        run_id=str(content["run_id"]),
        format=str(content["format"]),
        shards=shards,
        compression=content["compression"],
        payload=content["payload"],
        schema=content["schema"],
        classes=None if classes is None else [str(name) for name in classes],
        source_digest=content["source_digest"],
    )


def check_file_name(name: Any) -> str:
    """Return a name from a manifest or journal; raise ValueError if it is not a plain file name."""
    if not isinstance(name, str) or os.path.basename(name) != name or name in ("", ".", "..") or "\0" in name:
        raise ValueError(f"{name!r} is not a file name")
    return name
