"""The function `mix`, which combines the samples of several pipelines in fixed proportions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from recordmill.pipeline.checks import check_integer, is_number
from recordmill.pipeline.dataset import Dataset
from recordmill.pipeline.samples import Ints, Positions, SampleRows, concatenate_rows
from recordmill.pipeline.stages.shard import Shard
from recordmill.pipeline.stages.take import MAX_SAMPLES
from recordmill.suggestions import suggest_arguments

if TYPE_CHECKING:
    from recordmill.pipeline.compiled_pipeline import CompiledPipeline, ExampleSource
    from recordmill.pipeline.stages.base import Context
    from recordmill.pipeline.stages.map import Map

# The order in which samples are taken from the datasets repeats after this many samples, so the proportions are exact
# to 1/65,536.
_PERIOD = 1 << 16


@suggest_arguments
def mix(datasets: Iterable[Dataset], weights: Iterable[float], *, num_samples: int | None = None) -> Dataset:
    """Combine the samples of several datasets in fixed proportions, evenly interleaved.

    Parameters
    ----------
    datasets : iterable of Dataset
        Finite datasets of samples with the same features, without `batch`, `filter` and `shard`. Each dataset keeps its
        own shuffle.
    weights : iterable of float
        One positive weight per dataset. They need not add up to 1; proportions are exact to one part in 65,536.
    num_samples : int, optional
        Samples per epoch. By default, an epoch ends before a dataset would repeat a sample. With a larger number, a
        dataset that is exhausted starts its next epoch.

    Returns
    -------
    Dataset

    Raises
    ------
    TypeError
        If an element of `datasets` is not a Dataset.
    ValueError
        If a dataset cannot be mixed, or if a weight is not a positive number.

    Examples
    --------
    >>> dataset = rm.open("train.tfrecord")
    >>> mixed = rm.mix([dataset.take(2), dataset.skip(2)], weights=[1, 3], num_samples=8)
    >>> sum(sample["label"] < 2 for sample in mixed).item()
    2
    """
    given: Any = datasets
    parts = () if isinstance(given, Dataset) else tuple(given)
    if not parts:
        raise ValueError(f"mix() takes a non-empty list of datasets, got {datasets!r}")
    for part in parts:
        _check_mixable(part)
    if num_samples is not None:
        requirement = "num_samples must be an integer from 1 to 2**62"
        num_samples = check_integer(num_samples, requirement, 1, MAX_SAMPLES + 1)
    pipelines = tuple(part.pipeline for part in parts)
    return Dataset(Mixture(pipelines, _normalize_weights(weights, len(parts)), num_samples))


def _check_mixable(part: Any) -> None:
    if not isinstance(part, Dataset):
        raise TypeError(f"mix() takes datasets, as open() returns them, got {part!r}")
    if part.batch_stage is not None or part.pipeline.has_filter or part.pipeline.length == 0:
        raise ValueError(
            f"mix() takes unbatched, unfiltered, non-empty datasets; got {part!r}. "
            "Call batch() and filter() on the result of mix()."
        )
    if part.pipeline.length is None:
        raise ValueError(f"mix() takes finite datasets and repeats them itself; remove repeat() from {part!r}")
    if any(isinstance(stage, Shard) for stage in part.stages):
        raise ValueError(f"mix() takes datasets without shard(); got {part!r}. Call shard() on the result of mix().")


def _normalize_weights(weights: Iterable[float], count: int) -> tuple[float, ...]:
    """Check weights, and scale them to add up to 1."""
    given = [] if isinstance(weights, Mapping) or not isinstance(weights, Iterable) else list(weights)
    if len(given) != count or not all(is_number(weight) and 0 < weight < math.inf for weight in given):
        raise ValueError(f"weights must be {count} positive numbers, got {given or weights!r}")
    numbers = np.array(given, np.float64) / (1.0 if sum(given) < math.inf else max(given))
    shares = numbers / numbers.sum()
    if (shares < 1 / _PERIOD).any():
        raise ValueError(
            f"each weight must be at least 1/{_PERIOD} of the sum of weights, got a fraction of {shares.min():.2g}"
        )
    return tuple(float(share) for share in shares)


@dataclass(frozen=True)
class Mixture:
    """Data source that combines the samples of several pipelines in fixed proportions.

    Parameters
    ----------
    parts : tuple of CompiledPipeline
        Finite pipelines of samples.
    shares : tuple of float
        Share of each part; they add up to 1.
    num_samples : int, optional
        Samples per epoch. By default, an epoch ends before a part would repeat a sample.
    """

    parts: tuple[CompiledPipeline, ...]
    shares: tuple[float, ...]
    num_samples: int | None = None

    @cached_property
    def _sampling_order(self) -> tuple[Ints, Ints, Ints]:
        """Order in which samples are taken from the pipelines. The order repeats after `_PERIOD` samples.

        Three arrays: the pipeline index of each sample, the index of each sample among the samples of its pipeline,
        and the number of samples of each pipeline.
        """
        counts = _count_samples_per_period(self.shares)
        parts = np.repeat(np.arange(len(counts)), counts)
        earlier = np.concatenate([np.arange(count) for count in counts])
        order = np.lexsort((parts, (earlier + 0.5) / counts[parts]))
        return parts[order], earlier[order], counts

    @property
    def sources(self) -> list[ExampleSource]:
        """The sources of all pipelines in the mixture."""
        return [source for part in self.parts for source in part.sources]

    @property
    def map_stages(self) -> list[Map]:
        """The `map` stages of all pipelines in the mixture."""
        return [stage for part in self.parts for stage in part.map_stages]

    def length(self) -> int:
        """Return the number of samples of an epoch."""
        if self.num_samples is not None:
            return self.num_samples
        return min(self._count_samples_before(number, len(part)) for number, part in enumerate(self.parts))

    def _count_samples_before(self, number: int, count: int) -> int:
        """Return how many samples of the mixture precede sample `count` of pipeline `number`."""
        parts, _, counts = self._sampling_order
        periods, rest = divmod(count, int(counts[number]))
        return periods * len(parts) + int(np.flatnonzero(parts == number)[rest])

    def _count_pipeline_samples(self, number: int) -> int:
        """Return how many samples one epoch of the mixture takes from the pipeline with index `number`."""
        parts, _, counts = self._sampling_order
        periods, rest = divmod(self.length(), len(parts))
        return periods * int(counts[number]) + int((parts[:rest] == number).sum())

    def fingerprint(self) -> str:
        """Return a short text that identifies the samples and their order."""
        inner = ", ".join(part.fingerprint() for part in self.parts)
        return f"mix([{inner}], {list(self.shares)}, {self.num_samples})"

    def locate_records(self, positions: Positions) -> list[tuple[ExampleSource, Ints]]:
        """Return pairs (source, positions in this source) for the samples, without reading them."""
        chosen, ordinals = self._locate_in_pipelines(positions)
        found = []
        for number, part in enumerate(self.parts):
            rows = np.flatnonzero(chosen == number)
            if len(rows):
                found += part.locate_records(Positions(*np.divmod(ordinals[rows], len(part))))
        return found

    def read_rows(self, positions: Positions, context: Context, requested: Positions) -> SampleRows:
        """Read the samples at the given positions. An exhausted pipeline continues with its next epoch."""
        chosen, ordinals = self._locate_in_pipelines(positions)
        found, first_source = [], 0
        for number, part in enumerate(self.parts):
            rows = np.flatnonzero(chosen == number)
            if len(rows):
                epochs, inside = np.divmod(ordinals[rows], len(part))
                with context.enter_mixture_part(number, first_source):
                    samples = part.evaluate(Positions(epochs, inside), context, requested.take(rows))
                origins = samples.origins + np.array([first_source, 0])
                found.append(SampleRows(samples.columns, rows[samples.ordinals], origins))
            first_source += len(part.sources)
        return concatenate_rows(found) if found else self.parts[0].evaluate(Positions(0, range(0)), context)

    def _locate_in_pipelines(self, positions: Positions) -> tuple[Ints, Ints]:
        """Return the pipeline index of each sample, and the sample's index in that pipeline, counted since epoch 0."""
        parts, earlier, counts = self._sampling_order
        periods, rest = np.divmod(positions.array, len(parts))
        chosen = parts[rest]
        per_epoch = np.array([self._count_pipeline_samples(number) for number in range(len(self.parts))])
        epochs = np.asarray(positions.epochs, np.int64)
        return chosen, epochs * per_epoch[chosen] + periods * counts[chosen] + earlier[rest]

    def __repr__(self) -> str:
        """Return the call of `mix` that creates the mixture, as text."""
        shares = ", ".join(f"{share:.4g}" for share in self.shares)
        count = "" if self.num_samples is None else f", num_samples={self.num_samples}"
        return f"mix([{', '.join(map(repr, self.parts))}], [{shares}]{count})"


def _count_samples_per_period(shares: Sequence[float]) -> Ints:
    """Divide `_PERIOD` samples among the pipelines by the largest remainder method. Each gets at least 1 sample."""
    exact = np.asarray(shares) * _PERIOD
    counts: Ints = np.maximum(np.floor(exact), 1).astype(np.int64)
    for number in np.argsort(counts - exact, kind="stable")[: max(0, _PERIOD - int(counts.sum()))]:
        counts[number] += 1
    return counts
