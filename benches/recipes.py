"""Random datasets from fixed seeds, to write them and to compare results with them."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

NUM_SHARDS = 4
RECORD_BYTES = 65536
_SEED = 77
_ROWS = 10_000


@dataclass(frozen=True)
class Sizes:
    """Number of records of each dataset, a multiple of the number of shards."""

    photos: int = 4_000
    digits: int = 60_000
    tabular: int = 1_000_000
    sequence: int = 100_000
    big: int = 32_768
    large: int = 64
    progressive: int = 1_000
    arrays: int = 60_000
    pngs: int = 200
    sorted: int = 1_000_000

    def save(self, data: str) -> None:
        """Store the sizes in the folder of the datasets."""
        with open(os.path.join(data, "sizes.json"), "w", encoding="utf-8") as file:
            json.dump(asdict(self), file)

    @classmethod
    def load(cls, data: str) -> Sizes:
        """Return the sizes stored in a folder; the defaults if there are none."""
        path = os.path.join(data, "sizes.json")
        if not os.path.exists(path):
            return cls()
        with open(path, encoding="utf-8") as file:
            return cls(**json.load(file))


QUICK = Sizes(
    photos=16,
    digits=200,
    tabular=4_400,
    sequence=200,
    big=16,
    large=4,
    progressive=8,
    arrays=200,
    pngs=4,
    sorted=1_200,
)


def tabular(shard: int, num_records: int) -> Iterator[dict[str, np.ndarray]]:
    """Yield columns like those of an advertisement log: 13 heavy-tailed numbers and 26 ids.

    Parameters
    ----------
    shard : int
    num_records : int
        Number of records of the shard.

    Yields
    ------
    dict of str to ndarray
        ``I1`` … ``I13`` float32 and ``C1`` … ``C26`` int64, 10,000 records at a time.
    """
    random = np.random.default_rng(_SEED + shard)
    for start in range(0, num_records, _ROWS):
        count = min(_ROWS, num_records - start)
        numbers = random.lognormal(1, 2, (count, 13)).astype(np.float32)
        identities = (random.pareto(0.7, (count, 26)) * 20).clip(0, 9_999_999).astype(np.int64)
        columns = {f"I{place + 1}": numbers[:, place] for place in range(13)}
        yield columns | {f"C{place + 1}": identities[:, place] for place in range(26)}


def sequences(shard: int, num_records: int) -> Iterator[tuple[np.ndarray, int]]:
    """Yield sequences of 5 to 200 token ids, each with a label.

    Parameters
    ----------
    shard : int
    num_records : int

    Yields
    ------
    tokens : ndarray of int64, shape (num_tokens,)
    label : int
    """
    random = np.random.default_rng(_SEED + shard)
    for _ in range(num_records):
        tokens = random.pareto(0.8, int(random.integers(5, 201))) * 30
        yield tokens.clip(0, 49_999).astype(np.int64), int(random.integers(2))


def opaque(shard: int, num_records: int) -> Iterator[bytes]:
    """Yield random payloads of 64 KiB.

    Parameters
    ----------
    shard : int
    num_records : int

    Yields
    ------
    bytes
    """
    random = np.random.default_rng(_SEED + shard)
    for _ in range(num_records):
        yield random.bytes(RECORD_BYTES)


def sequence_columns(shard: int, num_records: int) -> Iterator[dict[str, Any]]:
    """Yield the sequences in batches of 128, padded with zeros.

    Parameters
    ----------
    shard : int
    num_records : int

    Yields
    ------
    dict
        ``tokens`` int64 (n, 200) and ``label`` int64 (n,).
    """
    source = sequences(shard, num_records)
    for start in range(0, num_records, 128):
        count = min(128, num_records - start)
        tokens, labels = np.zeros((count, 200), np.int64), np.zeros(count, np.int64)
        for row in range(count):
            values, labels[row] = next(source)
            tokens[row, : len(values)] = values
        yield {"tokens": tokens, "label": labels}
