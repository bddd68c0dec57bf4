"""What packing tells when it is done."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class PackResult:
    """What was written.

    Parameters
    ----------
    num_records : int
    num_bytes : int
        Of all shards, uncompressed.
    paths : list of str
        The shards, in order.
    skipped : list of (str, str)
        Path and cause of images that were left out, in the order of the source.
    """

    num_records: int
    num_bytes: int
    paths: list[str]
    skipped: list[tuple[str, str]] = field(default_factory=list)

    @property
    def num_skipped(self) -> int:
        """Images that were left out."""
        return len(self.skipped)

    def to_json(self) -> dict[str, Any]:
        """Plain form for reports.

        Returns
        -------
        dict
            ``{"num_records", "num_bytes", "paths", "skipped": [{"path", "cause"}]}``
        """
        skipped = [{"path": path, "cause": cause} for path, cause in self.skipped]
        return {"num_records": self.num_records, "num_bytes": self.num_bytes, "paths": self.paths, "skipped": skipped}
