"""Elements that are small, of samples that were large on the way: few samples are in memory at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordmill as rm
from recordmill.pipeline.dataset import Dataset
from recordmill.pipeline.sources import SourceOrigin
from recordmill.types import Ragged
from tests.pipeline.sources import Numbers, ids

LARGE = 1 << 20
PIXELS = rm.Raw("uint8", (LARGE // 10,))


@dataclass(frozen=True)
class Watched(Numbers):
    """Examples; of each reading, how many it was for."""

    asked: list[int] = field(default_factory=list)
    num_bytes: int = 0

    @property
    def mean_bytes(self) -> int:
        return max(1, self.num_bytes)

    def columns(self, positions: Any, schema: rm.Schema | None = None) -> dict[str, Any]:
        self.asked.append(len(positions))
        row = bytes(self.num_bytes)
        return super().columns(positions, schema) | {"pixels": Ragged.from_rows([row] * len(positions))}


def small(sample: dict[str, Any]) -> dict[str, Any]:
    return {"id": sample["id"]}


def enlarged(sample: dict[str, Any]) -> dict[str, Any]:
    return sample | {"levels": np.zeros(LARGE // 8)}


@pytest.mark.parametrize(
    "num_bytes, make",
    [
        (LARGE, lambda samples: samples.map(small).batch(2)),
        (LARGE, lambda samples: samples.map(small)),
        (1, lambda samples: samples.map(enlarged).map(small).batch(2)),
        (LARGE, lambda samples: samples.filter(lambda sample: True).map(small).batch(2)),
        (LARGE // 10, lambda samples: samples.decode(pixels=PIXELS).filter(lambda sample: True).map(small).batch(2)),
    ],
    ids=["read", "alone", "mapped", "filtered", "decoded"],
)
@pytest.mark.parametrize("threads", [0, 2])
def test_samples_when_large_on_the_way_then_few_are_in_memory(
    num_bytes: int, make: Callable[[Dataset], Dataset], threads: int
) -> None:
    source = Watched(120, num_bytes=num_bytes)
    assert ids(make(Dataset(SourceOrigin(source))).loader(threads=threads)) == list(range(120))
    assert max(source.asked) <= 8


def test_samples_when_small_all_along_then_many_are_made_together(tmp_path: Path) -> None:
    source = Watched(300, num_bytes=1)
    assert len(ids(Dataset(SourceOrigin(source)).map(small).batch(2).loader(threads=0))) == 300
    assert max(source.asked) > 60


@pytest.mark.parametrize("num_bytes, least, most", [(LARGE, 1, 8), (1, 200, 256)], ids=["large", "small"])
def test_data_set_when_gone_through_then_as_many_samples_are_read_at_once_as_take_little_memory(
    num_bytes: int, least: int, most: int
) -> None:
    source = Watched(600, num_bytes=num_bytes)
    assert ids(Dataset(SourceOrigin(source))) == list(range(600))
    assert least <= max(source.asked) <= most and sum(source.asked) == 600
