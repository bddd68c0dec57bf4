"""The methods by which one pipeline becomes another."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, SupportsIndex, overload

import numpy as np

from recordmill.decode.batch import check_specs
from recordmill.pipeline.batch_positions import Cuts
from recordmill.pipeline.builder import Maker
from recordmill.pipeline.checks import epoch_of, positions_of, whole
from recordmill.pipeline.context import Context
from recordmill.pipeline.positions import Places
from recordmill.pipeline.program import Program
from recordmill.pipeline.ranks import check_rank, find_rank
from recordmill.pipeline.rows import samples_of
from recordmill.pipeline.run import in_order
from recordmill.pipeline.sources import Origin, SourceOrigin
from recordmill.pipeline.stages.base import OrderStage, SampleStage
from recordmill.pipeline.stages.batch import Batch, Last, RaggedAs
from recordmill.pipeline.stages.decode import Decode
from recordmill.pipeline.stages.filter import Filter
from recordmill.pipeline.stages.map import Map, Workers, in_processes
from recordmill.pipeline.stages.shard import Shard
from recordmill.pipeline.stages.shuffle import Shuffle
from recordmill.pipeline.stages.take import Repeat, Skip, Take

if TYPE_CHECKING:
    from recordmill.decode.batch import Spec
    from recordmill.pipeline.failures import OnError
    from recordmill.pipeline.loader import Loader
    from recordmill.schema import Schema


class Chain(ABC):
    """Something that takes stages, one behind the other."""

    @abstractmethod
    def then(self, stage: Any) -> Self:
        """Add a stage."""

    def shuffle(self, seed: int = 0, *, block: int | None = None, window: int | None = None) -> Self:
        """Bring samples into a random order, another one in each epoch.

        The order is computed, not stored, and needs no buffer: every sample may come anywhere in the epoch.

        Parameters
        ----------
        seed : int
        block : int, optional
            For slow disks: so many neighbors are read together, and the samples of 16 such blocks mixed.
        window : int, optional
            For disks where only reading in order is fast: no sample moves farther than this.

        Returns
        -------
        Dataset
        """
        return self.then(Shuffle(seed, block, window))

    def take(self, count: int) -> Self:
        """Keep the first samples (behind `batch`, batches).

        Parameters
        ----------
        count : int

        Returns
        -------
        Dataset
        """
        return self.then(Take(count))

    def skip(self, count: int) -> Self:
        """Leave out the first samples (behind `batch`, batches).

        Parameters
        ----------
        count : int

        Returns
        -------
        Dataset
        """
        return self.then(Skip(count))

    def repeat(self, count: int | None = None) -> Self:
        """Give all samples several times, each time as another epoch of the stages before.

        Parameters
        ----------
        count : int, optional
            Endless without.

        Returns
        -------
        Dataset
        """
        return self.then(Repeat(count))

    def shard(self, rank: int | None = None, world_size: int | None = None) -> Self:
        """Divide every global batch among the processes of a training run.

        The size of `batch` is that of one rank. Where this stage stands does not matter.

        Parameters
        ----------
        rank, world_size : int, optional
            Both; what `torch.distributed`, `jax.distributed` or the launcher's environment says when the loader is
            made, by default.

        Returns
        -------
        Dataset
        """
        return self.then(Shard(rank, world_size))

    def decode(
        self,
        specs: Mapping[str, Spec] | None = None,
        *,
        seed: int | None = None,
        max_pixels: int | None = None,
        **more_specs: Spec,
    ) -> Self:
        """Turn features into arrays: images, masks, boxes, raw numbers, text.

        Parameters
        ----------
        specs : mapping of str to Image, Mask, Raw, Text, Boxes or Keypoints, optional
            By the name of the output.
        seed : int, optional
            Of random crops and the like; that of the shuffle before, or 0.
        max_pixels : int, optional
            Images with more are errors before anything is decoded; 67 million by default.
        **more_specs
            The same as `specs`, as keywords.

        Returns
        -------
        Dataset
        """
        together = {**(specs or {}), **more_specs}
        check_specs(together)
        limit = None if max_pixels is None else whole(max_pixels, "max_pixels is a whole number from 1", 1)
        options = () if limit is None else (("max_pixels", limit),)
        return self.then(Decode(tuple(together.items()), seed, options))

    def map(
        self,
        function: Callable[..., Any],
        *,
        rng: bool = False,
        workers: Workers = "threads",
        timeout: float | None = None,
        seed: int | None = None,
    ) -> Self:
        """Call a function on every sample (behind `batch`, on every batch).

        Parameters
        ----------
        function : callable
            Takes a dict and returns another; its input cannot be written.
        rng : bool
            Whether it takes a `numpy.random.Generator` as its second argument: the same one for the same sample of the
            same epoch, whatever thread, process or rank calls.
        workers : {"threads", "processes"}
            Processes, for functions that hold the interpreter lock; function and data set are pickled then. What is
            made together goes there together: all functions of a pipeline, or of its part up to the last filter (the
            filters among them) or behind it.
        timeout : float, optional
            Seconds after which a call in a worker counts as hanging. Without it, a call that takes a minute is told of
            by a warning.
        seed : int, optional
            Of the generators; that of the shuffle before, or 0.

        Returns
        -------
        Dataset
        """
        return self.then(Map(function, rng, workers, timeout, seed))

    def filter(
        self,
        function: Callable[..., Any],
        *,
        rng: bool = False,
        timeout: float | None = None,
        seed: int | None = None,
    ) -> Self:
        """Keep the samples for which a function is true.

        How many there are is known only at the end: such a pipeline has no length and is read in order. All ranks hold
        all samples against the filter, and divide what passes.

        Parameters
        ----------
        function : callable
            Takes a sample.
        rng : bool
            Whether it takes a `numpy.random.Generator` as its second argument.
        timeout : float, optional
            Seconds after which a call in a worker counts as hanging, as in `map`.
        seed : int, optional
            Of the generators; that of the shuffle before, or 0.

        Returns
        -------
        Dataset
        """
        return self.then(Filter(function, rng, timeout, seed))

    def batch(self, size: int, *, last: Last = "keep", ragged: RaggedAs = "ragged") -> Self:
        """Put samples together, in order.

        Parameters
        ----------
        size : int
            Samples per batch (and rank).
        last : {"keep", "drop", "pad", "wrap"}
            What becomes of samples that fill no batch: a smaller one; nothing; a batch filled up with zeros, of which
            the feature ``"valid"`` tells; or one filled up with the epoch's first samples.
        ragged : {"ragged", "pad", "list"}
            What becomes of features with different numbers of values.

        Returns
        -------
        Dataset
            Elements are dicts of arrays; byte strings are rows of a `Ragged`.
        """
        return self.then(Batch(size, last, ragged))


@dataclass(frozen=True)
class Dataset(Chain):
    """Samples, or batches of them, by position and in order.

    Immutable; every method returns another one. Safe to pickle, to use after fork, and to read from several threads.
    Two are equal if they give the same samples in the same way.

    Parameters
    ----------
    origin : Origin
    stages : tuple
        Without any, elements are examples: dicts of NumPy values, `bytes` for byte strings.
    """

    origin: Origin
    stages: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        """Refuse stages that do not go together."""
        batches = [number for number, stage in enumerate(self.stages) if isinstance(stage, Batch)]
        if len(batches) > 1:
            raise ValueError("the data set is batched already")
        behind = self.stages[batches[0] :] if batches else ()
        early = [stage for stage in behind if not isinstance(stage, Batch | Map | Take | Skip | Shard)]
        if early:
            raise ValueError(f"{early[0]!r} works on samples: put it before batch")
        if sum(isinstance(stage, Shard) for stage in self.stages) > 1:
            raise ValueError("the data set is divided among ranks already")
        self.program  # noqa: B018 (checks the rest)
        if self.program.is_stream and self.stage is not None and self.stage.last == "wrap":
            raise ValueError('last="wrap" needs the number of samples, which a filter leaves open')

    @cached_property
    def program(self) -> Program:
        """What happens to samples."""
        return Program(self.origin, tuple(stage for stage in self._before if not isinstance(stage, Shard)))

    @property
    def _before(self) -> tuple[Any, ...]:
        return self.stages[: self._batch_at]

    @property
    def _batch_at(self) -> int:
        found = (number for number, stage in enumerate(self.stages) if isinstance(stage, Batch))
        return next(found, len(self.stages))

    @property
    def stage(self) -> Batch | None:
        """How samples become batches; None where elements are samples."""
        return self.stages[self._batch_at] if self._batch_at < len(self.stages) else None

    @property
    def maps(self) -> tuple[Map, ...]:
        """Functions on batches."""
        return tuple(stage for stage in self.stages[self._batch_at :] if isinstance(stage, Map))

    @property
    def runs_in_processes(self) -> bool:
        """Whether a function asks for worker processes."""
        return in_processes([*self.program.functions, *self.maps])

    @property
    def is_sharded(self) -> bool:
        """Whether loaders divide it among ranks."""
        return any(isinstance(stage, Shard) for stage in self.stages)

    @property
    def is_shuffled(self) -> bool:
        """Whether epochs differ in their order."""
        return self.program.is_shuffled

    @property
    def schema(self) -> Schema:
        """Kinds and shapes of the features that records have."""
        return self.origin.sources[0].schema

    def cuts(self, rank: int = 0, world_size: int = 1) -> Cuts:
        """How an epoch is cut into elements; of a pipeline with a filter, what passed it is cut.

        Parameters
        ----------
        rank, world_size : int

        Returns
        -------
        Cuts
        """
        stage = self.stage
        size, last = (1, "drop") if stage is None else (stage.size, stage.last)
        start, stop = self.program.cut if self.program.is_stream else (0, self.program.length)
        for cut in self.stages[self._batch_at :]:
            if isinstance(cut, Skip):
                start += cut.count * size * world_size
            elif isinstance(cut, Take):
                end = start + cut.count * size * world_size
                stop = end if stop is None else min(stop, end)
        return Cuts(stop, size, last, rank, world_size, start)  # type: ignore[arg-type]

    def __len__(self) -> int:
        """Return the number of samples, or of batches of one rank that is alone."""
        count = None if self.program.is_stream else self.cuts().count
        return len(self.program) if count is None else count

    @overload
    def __getitem__(self, key: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, key: slice) -> list[dict[str, Any]]: ...
    def __getitem__(self, key: int | slice) -> dict[str, Any] | list[dict[str, Any]]:
        """Element at a position of epoch 0 (negative counts from the end), or the elements of a slice."""
        if isinstance(key, slice):
            return self.fetch(range(len(self))[key])
        if type(key) is int and not self.stages and isinstance(self.origin, SourceOrigin):
            return self.origin.source.__getitems__([key])[0]
        return self.fetch([key])[0]

    def __getitems__(self, positions: Sequence[int]) -> list[dict[str, Any]]:
        """Elements at positions of epoch 0."""
        return self.fetch(positions)

    def fetch(self, positions: Iterable[SupportsIndex], epoch: int = 0) -> list[dict[str, Any]]:
        """Elements at the given positions, in the given order.

        Parameters
        ----------
        positions : iterable of int
            Negative ones count from the end.
        epoch : int

        Returns
        -------
        list of dict

        Raises
        ------
        IndexError
            A position outside the data set.
        DamageError, FeatureError, DecodeError, MapError
            A sample that cannot be had; with shard, record and offset.
        """
        wanted, epoch = positions_of(positions), epoch_of(epoch)
        if not self.stages and isinstance(self.origin, SourceOrigin):
            return self.origin.source.__getitems__(wanted)
        count = len(self)
        if outside := [position for position in wanted if not -count <= position < count]:
            raise IndexError(f"position {outside[0]} of {count} elements")
        places = [range(count)[position] for position in wanted]
        if self.stage is None:
            rows = self.program.evaluate(Places(epoch, np.array(places, np.int64)), Context())
            return samples_of(rows.columns, len(rows), lock=False)
        maker = Maker(self.program, self.stage, self.maps, self.cuts(), epoch)
        return [_only(maker, place) for place in places]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Elements of epoch 0 in order; those in front of a faulty one come before the error."""
        if self.program.is_stream or self.program.length is None:
            if self.program.head.length != 0:
                yield from self.loader(threads=0)
            return
        yield from in_order(self)

    def then(self, stage: OrderStage | SampleStage | Batch | Shard) -> Dataset:
        """Add a stage.

        Parameters
        ----------
        stage : stage

        Returns
        -------
        Dataset
        """
        if not isinstance(stage, OrderStage | SampleStage | Batch | Shard):
            raise TypeError(f"a pipeline is made of stages, not of {stage!r}")
        return Dataset(self.origin, (*self.stages, stage))

    def loader(
        self,
        *,
        threads: int = 2,
        prefetch: int = 2,
        rank: int | None = None,
        world_size: int | None = None,
        on_error: OnError = "raise",
        max_errors: float | None = None,
        workers: tuple[int, int] = (0, 1),
    ) -> Loader:
        """Iterate with workers that make elements ahead; order does not depend on their number.

        Parameters
        ----------
        threads : int
            Workers: threads, or processes where a function asks for them; 0 for none.
        prefetch : int
            Elements that are ready beyond those being made.
        rank, world_size : int, optional
            As in `shard`.
        on_error : {"raise", "skip", "substitute"}
            What becomes of a sample that fails: the error is raised; it is left out of its batch, and an empty batch
            is left out (an error where there are ranks, or 64 samples in a row failed); or another sample of the epoch,
            always the same, takes its place (not where there is a filter). `Loader.report` tells each.
        max_errors : int or float, optional
            Largest number of samples that may fail, or largest share as a number below 1.
        workers : (int, int)
            Index and number of copies of the loader among which the elements of a rank are dealt out in turn, as in
            worker processes of another framework.

        Returns
        -------
        Loader

        Raises
        ------
        ValueError
            Options that make no sense, or an epoch without a batch.
        """
        from recordmill.pipeline.loader import Loader, LoaderOptions

        stages = [stage for stage in self.stages if isinstance(stage, Shard)]
        if rank is None and world_size is None:
            rank, world_size = stages[0].found() if stages else (0, 1)
        rank, world_size = check_rank(*find_rank(rank, world_size))
        return Loader(self, LoaderOptions(threads, prefetch, rank, world_size, on_error, max_errors, workers))

    def fingerprint(self) -> str:
        """Text that tells apart pipelines that give other samples or another order.

        Returns
        -------
        str
        """
        cuts = [repr(stage) for stage in self.stages[self._batch_at :] if isinstance(stage, Take | Skip)]
        return ".".join([self.program.fingerprint(), *cuts])

    def to_numpy(self) -> dict[str, Any]:
        """All samples of epoch 0 in memory.

        Returns
        -------
        dict of str to ndarray or Ragged
            Dense ``(num_samples, *shape)`` where every record has the same number of values.
        """
        from recordmill.pipeline.to_numpy import to_numpy

        return to_numpy(self)

    def __repr__(self) -> str:
        """Readable form."""
        return ".".join([repr(self.origin), *map(repr, self.stages)])


def _only(maker: Maker, place: int) -> Any:
    made = maker.make(range(place, place + 1))
    if made.error is not None:
        raise made.error
    return made.elements[0][1]
