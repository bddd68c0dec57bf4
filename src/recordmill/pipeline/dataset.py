"""A pipeline as a value: where examples come from, and the stages that they go through."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from recordmill.errors import FeatureError
from recordmill.pipeline.batch import Batch, Last, RaggedAs
from recordmill.pipeline.loader import Loader
from recordmill.pipeline.source import ExampleSource
from recordmill.schema import Feature, Schema
from recordmill.shards.collection import ShardSet, widened
from recordmill.types import Ragged

if TYPE_CHECKING:
    from recordmill.shards.paths import Paths

_CHUNK = 256


@dataclass(frozen=True, eq=False)
class Dataset:
    """Examples, or batches of them, by position and in order.

    Immutable; safe to pickle, to use after fork, and to read from several threads.

    Parameters
    ----------
    source : ExampleSource
    stage : Batch, optional
        Without one, elements are examples: dicts of NumPy values, `bytes` for byte strings.
    """

    source: ExampleSource
    stage: Batch | None = None

    @property
    def schema(self) -> Schema:
        """Kinds and shapes of the features."""
        return self.source.schema

    def __len__(self) -> int:
        """Return the number of examples, or of batches."""
        return len(self.source) if self.stage is None else self.stage.count(len(self.source))

    @overload
    def __getitem__(self, key: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, key: slice) -> list[dict[str, Any]]: ...
    def __getitem__(self, key: int | slice) -> dict[str, Any] | list[dict[str, Any]]:
        """Element at a position (negative counts from the end), or the elements of a slice."""
        if isinstance(key, slice):
            return self.fetch(range(len(self))[key])
        if not -len(self) <= key < len(self):
            raise IndexError(f"position {key} of {len(self)} elements")
        return self.fetch([key])[0]

    def fetch(self, positions: Sequence[int] | NDArray[np.integer[Any]]) -> list[dict[str, Any]]:
        """Elements at the given positions, in the given order.

        Parameters
        ----------
        positions : sequence of int
            Negative ones count from the end.

        Returns
        -------
        list of dict

        Raises
        ------
        IndexError
            A position outside the data set.
        DamageError, FeatureError
            A record that is not what was written, or not what the schema says; with shard, record and offset.
        """
        if self.stage is None:
            return self.source.__getitems__([int(position) for position in positions])
        places = [range(len(self))[int(position)] for position in positions]
        return [self._batch(self.stage, place) for place in places]

    def _batch(self, stage: Batch, place: int) -> dict[str, Any]:
        start = place * stage.num_records
        stop = min(start + stage.num_records, len(self.source))
        return stage.collate(self.source.columns(range(start, stop)))

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Elements in order."""
        step = _CHUNK if self.stage is None else 1
        for start in range(0, len(self), step):
            yield from self.fetch(range(start, min(start + step, len(self))))

    def batch(self, num_records: int, *, last: Last = "keep", ragged: RaggedAs = "ragged") -> Dataset:
        """Put examples together, in order.

        Parameters
        ----------
        num_records : int
        last : {"keep", "drop"}
            What becomes of a last batch that is not full.
        ragged : {"ragged", "pad", "list"}
            What becomes of features with different numbers of values.

        Returns
        -------
        Dataset
            Elements are dicts of arrays; byte strings are rows of a `Ragged`.
        """
        if self.stage is not None:
            raise ValueError("the data set is batched already")
        return Dataset(self.source, Batch(num_records, last, ragged))

    def loader(self, *, threads: int = 2, prefetch: int = 2) -> Loader:
        """Iterate with threads that work ahead; order does not depend on their number.

        Parameters
        ----------
        threads : int
            0 for none.
        prefetch : int
            Elements that are ready beyond those being made.

        Returns
        -------
        Loader
        """
        return Loader(self, threads, prefetch)

    def to_numpy(self) -> dict[str, Any]:
        """All examples in memory.

        Returns
        -------
        dict of str to ndarray or Ragged
            Dense ``(num_examples, *shape)`` where every record has the same number of values.
        """
        everything = range(len(self.source))
        try:
            return self.source.columns(everything)
        except FeatureError:
            if not self.source.is_schema_inferred:
                raise
        columns = self.source.columns(everything, widened(self.schema))
        return {name: _densified(column) for name, column in columns.items()}

    def __repr__(self) -> str:
        """Readable form."""
        stage = "" if self.stage is None else f".batch({self.stage.num_records}, last={self.stage.last!r})"
        return f"Dataset({len(self.source)} examples of {', '.join(self.schema)}){stage}"


def _densified(column: Any) -> Any:
    if not isinstance(column, Ragged) or len(column) == 0:
        return column
    counts = np.diff(column.row_splits)
    if (counts != counts[0]).any():
        return column
    if counts[0] == 1:
        return column.data
    return column if isinstance(column.data, Ragged) else column.data.reshape(len(column), counts[0])


def open(  # noqa: A001
    paths: Paths,
    *,
    format: str | None = None,  # noqa: A002
    compression: str | None = "auto",
    payload: str | None = None,
    schema: Schema | Mapping[str, Feature] | None = None,
    verify: bool = True,
    max_decompressed_bytes: int | None = None,
) -> Dataset:
    """Open shards as one data set of examples.

    Parameters
    ----------
    paths : path, pattern, folder, or iterable of them
        Patterns and folders are read in natural order (``part-2`` before ``part-10``); a list keeps its order.
    format : {"tfrecord", "ofrecord", "recordio"}, optional
        What content says by default.
    compression : {"auto", "gzip", "zlib"} or None
        What content says by default.
    payload : {"example", "sequence_example", "ofrecord", "irheader", "raw"}, optional
        What the first records are by default.
    schema : Schema or mapping of str to Feature, optional
        What the writer noted, else what the first thousand records show, by default.
    verify : bool
        Whether every checksum that the format has is computed on reading.
    max_decompressed_bytes : int, optional
        Largest number of bytes that a compressed shard may inflate to.

    Returns
    -------
    Dataset

    Raises
    ------
    FileNotFoundError
        No such shard.
    FormatError
        A file is of no known format, or not what was declared.
    DamageError
        A shard whose frames cannot all be found.
    """
    source = ShardSet(
        paths,
        format=format,
        compression=compression,
        payload=payload,
        schema=schema,
        verify=verify,
        max_decompressed_bytes=max_decompressed_bytes,
    )
    return Dataset(source)
