"""The methods by which one pipeline becomes another."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Self

from recordmill.decode.check import check_specs
from recordmill.pipeline.checks import whole
from recordmill.pipeline.order.cut import Repeat, Skip, Take
from recordmill.pipeline.order.shuffle import Shuffle
from recordmill.pipeline.stages.batch import Batch, Last, RaggedAs
from recordmill.pipeline.stages.decode import Decode
from recordmill.pipeline.stages.filter import Filter
from recordmill.pipeline.stages.map import Map, Workers
from recordmill.pipeline.stages.shard import Shard

if TYPE_CHECKING:
    from recordmill.decode.check import Spec


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
            For slow disks: so many neighbours are read together, and the samples of 16 such blocks mixed.
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
