"""Memory limits: few samples are read at once if they are large before or between stages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordmill as rm
from recordmill.pipeline.compiled_pipeline import SourceOrigin
from recordmill.pipeline.dataset import Dataset
from recordmill.types import Ragged
from tests.pipeline.sources import Numbers, ids

LARGE = 1 << 20
PIXELS = rm.Raw("uint8", (LARGE // 10,))


@dataclass(frozen=True)
class RecordingSource(Numbers):
    """Numbers that record how many examples each read requests."""

    requests: list[int] = field(default_factory=list)
    num_bytes: int = 0

    @property
    def mean_bytes(self) -> int:
        return max(1, self.num_bytes)

    def columns(self, positions: Any, schema: rm.Schema | None = None) -> dict[str, Any]:
        self.requests.append(len(positions))
        row = bytes(self.num_bytes)
        return super().columns(positions, schema) | {"pixels": Ragged.from_rows([row] * len(positions))}


def keep_id(sample: dict[str, Any]) -> dict[str, Any]:
    return {"id": sample["id"]}


def enlarge(sample: dict[str, Any]) -> dict[str, Any]:
    return sample | {"levels": np.zeros(LARGE // 8)}


@pytest.mark.parametrize(
    "num_bytes, make",
    [
        (LARGE, lambda samples: samples.map(keep_id).batch(2)),
        (LARGE, lambda samples: samples.map(keep_id)),
        (1, lambda samples: samples.map(enlarge).map(keep_id).batch(2)),
        (LARGE, lambda samples: samples.filter(lambda sample: True).map(keep_id).batch(2)),
        (LARGE // 10, lambda samples: samples.decode(pixels=PIXELS).filter(lambda sample: True).map(keep_id).batch(2)),
    ],
    ids=["read", "alone", "mapped", "filtered", "decoded"],
)
@pytest.mark.parametrize("threads", [0, 2])
def test_large_intermediate_samples_are_read_in_small_groups(
    num_bytes: int, make: Callable[[Dataset], Dataset], threads: int
) -> None:
    source = RecordingSource(120, num_bytes=num_bytes)
    assert ids(make(Dataset(SourceOrigin(source))).loader(threads=threads)) == list(range(120))
    assert max(source.requests) <= 8


def test_small_samples_are_read_in_large_groups(tmp_path: Path) -> None:
    source = RecordingSource(300, num_bytes=1)
    assert len(ids(Dataset(SourceOrigin(source)).map(keep_id).batch(2).loader(threads=0))) == 300
    assert max(source.requests) > 60


@pytest.mark.parametrize("num_bytes, minimum, maximum", [(LARGE, 1, 8), (1, 200, 256)], ids=["large", "small"])
def test_dataset_iteration_limits_bytes_per_read(num_bytes: int, minimum: int, maximum: int) -> None:
    source = RecordingSource(600, num_bytes=num_bytes)
    assert ids(Dataset(SourceOrigin(source))) == list(range(600))
    assert minimum <= max(source.requests) <= maximum and sum(source.requests) == 600
