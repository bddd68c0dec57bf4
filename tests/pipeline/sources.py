"""A source of examples that needs no files."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.pipeline.compiled_pipeline import SourceOrigin
from recordmill.pipeline.dataset import Dataset
from recordmill.pipeline.samples import make_read_only, split_samples
from recordmill.types import RecordRef


@dataclass(frozen=True)
class Numbers:
    """Examples that contain their own position, ten per shard; some cannot be read."""

    count: int
    failing: frozenset[int] = frozenset()
    name: str = "numbers"
    seconds: float = 0.0

    @property
    def schema(self) -> rm.Schema:
        return rm.Schema({"id": rm.Feature("int64")})

    @property
    def is_schema_inferred(self) -> bool:
        return False

    def __len__(self) -> int:
        return self.count

    def __getitems__(self, positions: Sequence[int]) -> list[dict[str, Any]]:
        found = np.array([range(self.count)[position] for position in positions], np.int64)
        return split_samples(make_read_only(self.columns(found)), len(found))

    def columns(self, positions: NDArray[np.int64] | range, schema: rm.Schema | None = None) -> dict[str, Any]:
        time.sleep(self.seconds)
        found = np.asarray(positions, np.int64)
        bad = [int(number) for number in found if int(number) in self.failing]
        if bad:
            raise rm.PayloadError("this one", **self.where(bad[0])._asdict())
        assert not len(found) or 0 <= found.min() <= found.max() < self.count
        return {"id": found.copy()}

    def entry_points(self, positions: NDArray[np.int64] | range, feature: str) -> None:
        return None

    def where(self, position: int) -> RecordRef:
        return RecordRef(f"{self.name}-{position // 10}", position % 10, position % 10 * 100)

    def fingerprint(self) -> str:
        return f"{self.name}-{self.count}"


def numbers(count: int, *failing: int, name: str = "numbers", seconds: float = 0.0) -> Dataset:
    return Dataset(SourceOrigin(Numbers(count, frozenset(failing), name, seconds)))


def ids(elements: Any) -> list[int]:
    """Return the numbers in samples or batches."""
    return [int(number) for element in elements for number in np.atleast_1d(element["id"])]
