"""Where pipelines begin: shards that are opened, and pipelines that are mixed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from recordmill.pipeline.checks import whole
from recordmill.pipeline.dataset import Dataset
from recordmill.pipeline.sources import SourceOrigin
from recordmill.pipeline.stages.shard import Shard
from recordmill.pipeline.stages.take import MOST
from recordmill.shards.collection import ShardCollection

if TYPE_CHECKING:
    from recordmill.schema import Feature, Schema
    from recordmill.shards.paths import Paths


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
        Patterns and folders are read in natural order (``part-2`` before ``part-10``); a list keeps its order. Files
        are read once, also where several of these mean them; `mix` and `repeat` give samples more often.
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
    source = ShardCollection(
        paths,
        format=format,
        compression=compression,
        payload=payload,
        schema=schema,
        verify=verify,
        max_decompressed_bytes=max_decompressed_bytes,
    )
    return Dataset(SourceOrigin(source))


def mix(datasets: Iterable[Dataset], weights: Iterable[float], *, num_samples: int | None = None) -> Dataset:
    """Put the samples of several pipelines together, in given shares, spread evenly.

    Parameters
    ----------
    datasets : iterable of Dataset
        Of samples with the same features; finite, not batched, without a filter. Shuffles of each stay in effect.
    weights : iterable of float
        In which the samples come, one for each data set; they need not add up to 1. Met to one part in 65,536.
    num_samples : int, optional
        Per epoch; by default as many as there are before the first data set runs out. One that runs out begins its
        next epoch.

    Returns
    -------
    Dataset

    Raises
    ------
    ValueError
        Pipelines that cannot be mixed, or weights that are none.
    """
    given: Any = datasets
    parts = () if isinstance(given, Dataset) else tuple(given)
    if not parts:
        raise ValueError(f"mix takes a list of pipelines, at least one, not {datasets!r}")
    for part in parts:
        _check_part(part)
    if num_samples is not None:
        num_samples = whole(num_samples, "num_samples is a whole number from 1 to 2**62", 1, MOST + 1)
    programs = tuple(part.program for part in parts)
    from recordmill.pipeline.sources import Mixture, shares_of

    return Dataset(Mixture(programs, shares_of(weights, len(parts)), num_samples))


def _check_part(part: Any) -> None:
    if not isinstance(part, Dataset):
        raise TypeError(f"mix takes pipelines, as open gives them, not {part!r}")
    if part.stage is not None or part.program.is_stream or part.program.length == 0:
        raise ValueError(f"samples are mixed before batch and filter, and there must be some: not {part!r}")
    if part.program.length is None:
        raise ValueError(f"what is mixed has an end, and begins anew by itself: leave out repeat() in {part!r}")
    if any(isinstance(stage, Shard) for stage in part.stages):
        raise ValueError(f"ranks divide what is mixed, not its parts: put shard behind mix, not in {part!r}")
