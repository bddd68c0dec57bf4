"""Result of an export: number and size of the written files, renamed keys, and skipped records."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

# A result lists at most this many renamed keys and skipped records, but counts all of them.
MAX_LISTED = 10_000


@dataclass(frozen=True, slots=True)
class RenamedKey:
    """A key for which the export chose another file name.

    Parameters
    ----------
    key : str
        Key of the record, or name of the class; shortened to 200 characters.
    name : str
        Name that was written instead, relative to the destination.
    reason : str
        Why the key is not used.
    """

    key: str
    name: str
    reason: str

    def to_json(self) -> dict[str, Any]:
        """Return the key and its new name as a dict that can be written as JSON.

        Returns
        -------
        dict
        """
        return {"key": self.key, "name": self.name, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class SkippedSample:
    """A record that was not exported.

    Parameters
    ----------
    position : int
        Position among the samples of the source.
    message : str
        Error of the record.
    shard : str or None
    record : int or None
        Position of the record in the shard.
    offset : int or None
        Bytes from the start of the uncompressed shard.
    """

    position: int
    message: str
    shard: str | None = None
    record: int | None = None
    offset: int | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the skipped record as a dict that can be written as JSON.

        Returns
        -------
        dict
        """
        names = ("position", "message", "shard", "record", "offset")
        return {name: getattr(self, name) for name in names}


@dataclass(slots=True)
class ExportResult:
    """Result of `export`.

    Parameters
    ----------
    path : str
        The destination.
    num_records : int
        Number of exported records.
    num_files : int
        Number of written files, including lists of labels.
    num_bytes : int
        Size of these files.
    num_renamed : int
        Number of keys that could not be used as file names.
    renamed : list of RenamedKey
        The first 10,000 of these keys.
    num_skipped : int
        Number of records that were skipped, with ``on_error="skip"``.
    skipped : list of SkippedSample
        The first 10,000 of these records.
    """

    path: str
    num_records: int = 0
    num_files: int = 0
    num_bytes: int = 0
    num_renamed: int = 0
    renamed: list[RenamedKey] = field(default_factory=list)
    num_skipped: int = 0
    skipped: list[SkippedSample] = field(default_factory=list)

    def add_renamed(self, key: str, name: str, reason: str) -> None:
        """Count a key that is not used as a file name, and add it to `renamed` if the list is not full.

        Parameters
        ----------
        key, name, reason : str
        """
        self.num_renamed += 1
        if len(self.renamed) < MAX_LISTED:
            self.renamed.append(RenamedKey(key[:200], name, reason))

    def add_skipped(self, skipped: SkippedSample) -> None:
        """Count a skipped record, and add it to `skipped` if the list is not full.

        Parameters
        ----------
        skipped : SkippedSample
        """
        self.num_skipped += 1
        if len(self.skipped) < MAX_LISTED:
            self.skipped.append(skipped)

    def to_json(self) -> dict[str, Any]:
        """Return the result as a dict that can be written as JSON.

        Returns
        -------
        dict
        """
        return {
            "path": self.path,
            "num_records": self.num_records,
            "num_files": self.num_files,
            "num_bytes": self.num_bytes,
            "num_renamed": self.num_renamed,
            "renamed": [entry.to_json() for entry in self.renamed],
            "num_skipped": self.num_skipped,
            "skipped": [entry.to_json() for entry in self.skipped],
        }
