"""The public class `Dataset`, which describes where samples come from and which stages process them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, SupportsIndex, overload

import numpy as np
from numpy.typing import NDArray

from recordmill.decode.batch import check_specs
from recordmill.errors import FeatureError, RecordmillError
from recordmill.pipeline.checks import check_epoch, check_integer, check_positions
from recordmill.pipeline.compiled_pipeline import CompiledPipeline, Origin, SourceOrigin
from recordmill.pipeline.description import describe_dataset
from recordmill.pipeline.engine import BatchBuilder
from recordmill.pipeline.samples import Positions, count_bytes, split_samples, stack_samples
from recordmill.pipeline.stages.base import Context, OrderStage, SampleStage
from recordmill.pipeline.stages.batch import Batch, BatchSampler, Last, RaggedAs
from recordmill.pipeline.stages.decode import Decode
from recordmill.pipeline.stages.filter import Filter
from recordmill.pipeline.stages.map import Map, Workers, uses_processes
from recordmill.pipeline.stages.padding import Padding, PadSizes, PadValue
from recordmill.pipeline.stages.shard import Shard, find_rank
from recordmill.pipeline.stages.shuffle import Shuffle
from recordmill.pipeline.stages.take import Repeat, Skip, Take
from recordmill.schema import Feature, Schema
from recordmill.suggestions import suggest_arguments
from recordmill.types import Ragged

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from recordmill.decode.batch import Spec
    from recordmill.pipeline.contact_sheet import ContactSheet
    from recordmill.pipeline.failures import OnError
    from recordmill.pipeline.loader import Loader

# Iteration without a loader reads samples in chunks. A chunk has at most this many samples, and about this many bytes.
_CHUNK_SAMPLES, _CHUNK_BYTES = 256, 8 << 20


@dataclass(frozen=True)
class Dataset:
    """Samples or batches that can be read by position or in order. `open` and `mix` create datasets.

    A dataset is immutable: every method returns a new one. It can be pickled, used after a fork, and read from several
    threads. Two datasets are equal if they return the same samples in the same way.

    Parameters
    ----------
    origin : Origin
        Source of the samples.
    stages : tuple
        Stages in order. Without stages, elements are examples: dicts of NumPy values, with `bytes` for byte strings.

    Examples
    --------
    >>> image = rm.Image(resize=(32, 32))
    >>> dataset = rm.open("train.tfrecord").shuffle(seed=1).decode(image=image).batch(4)
    >>> for batch in dataset.loader():
    ...     print(batch["image"].shape, batch["label"].shape)
    (4, 3, 32, 32) (4,)
    (4, 3, 32, 32) (4,)
    """

    origin: Origin
    stages: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        """Raise ValueError if a stage is not allowed at its position."""
        batches = [number for number, stage in enumerate(self.stages) if isinstance(stage, Batch)]
        if len(batches) > 1:
            raise ValueError("the dataset is already batched; remove the second batch()")
        after_batch = self.stages[batches[0] :] if batches else ()
        unsupported = [stage for stage in after_batch if not isinstance(stage, Batch | Map | Take | Skip | Shard)]
        if unsupported:
            raise ValueError(f"{unsupported[0]!r} cannot follow batch; put it before batch")
        if sum(isinstance(stage, Shard) for stage in self.stages) > 1:
            raise ValueError("the dataset is already sharded; remove the second shard()")
        self.pipeline  # noqa: B018 (checks the other stages)
        if self.pipeline.has_filter and self.batch_stage is not None and self.batch_stage.last == "wrap":
            raise ValueError('last="wrap" cannot be combined with filter, which makes the number of samples unknown')

    @suggest_arguments
    def shuffle(self, *, seed: int = 0, block: int | None = None, window: int | None = None) -> Dataset:
        """Shuffle the samples, differently in each epoch.

        The order is computed, not stored, and needs no buffer: every sample can move to any position of the epoch.

        Parameters
        ----------
        seed : int
            Seed of the order, from 0 to 2**64 - 1.
        block : int, optional
            For slow disks: shuffle blocks of this many consecutive samples, then the samples within every 16
            consecutive blocks. Cannot be combined with `window`. By default, all samples are shuffled; for remote
            shards, the default is the number of samples in 7 MiB. 1 shuffles all samples, also for remote shards.
        window : int, optional
            For disks on which only sequential reads are fast: move no sample by more than this many positions.

        Returns
        -------
        Dataset

        Examples
        --------
        >>> shuffled = rm.open("train.tfrecord").shuffle(seed=1)
        >>> sorted(int(sample["label"]) for sample in shuffled)
        [0, 1, 2, 3, 4, 5, 6, 7]
        """
        if block is None and window is None:
            block = max((getattr(source, "default_block", 1) for source in self.pipeline.sources), default=1)
        return self.add_stage(Shuffle(seed, None if block == 1 and window is None else block, window))

    @suggest_arguments
    def take(self, count: int) -> Dataset:
        """Keep the first samples; after `batch`, the first batches.

        Parameters
        ----------
        count : int
            Number of samples or batches; all are kept if there are fewer.

        Returns
        -------
        Dataset

        Examples
        --------
        >>> [int(sample["label"]) for sample in rm.open("train.tfrecord").take(3)]
        [0, 1, 2]
        """
        return self.add_stage(Take(count))

    @suggest_arguments
    def skip(self, count: int) -> Dataset:
        """Drop the first samples; after `batch`, the first batches.

        Parameters
        ----------
        count : int
            Number of samples or batches.

        Returns
        -------
        Dataset

        Examples
        --------
        >>> [int(sample["label"]) for sample in rm.open("train.tfrecord").skip(6)]
        [6, 7]
        """
        return self.add_stage(Skip(count))

    @suggest_arguments
    def repeat(self, count: int | None = None) -> Dataset:
        """Repeat all samples; for the stages before `repeat`, each repetition is a new epoch.

        Parameters
        ----------
        count : int, optional
            Number of repetitions; endless by default.

        Returns
        -------
        Dataset

        Examples
        --------
        >>> len(rm.open("train.tfrecord").repeat(3))
        24
        """
        return self.add_stage(Repeat(count))

    @suggest_arguments
    def shard(self, rank: int | None = None, world_size: int | None = None) -> Dataset:
        """Divide every global batch among the processes of a training run.

        The size that is passed to `batch` is the batch size of one rank. The position of this stage in the chain does
        not matter.

        Parameters
        ----------
        rank, world_size : int, optional
            Pass both or neither. By default, they are read from `torch.distributed`, `jax.distributed` or the
            launcher's environment variables when the loader is created.

        Returns
        -------
        Dataset

        Examples
        --------
        >>> dataset = rm.open("train.tfrecord").shard(rank=1, world_size=2).batch(2)
        >>> len(dataset.loader())
        2
        """
        return self.add_stage(Shard(rank, world_size))

    @suggest_arguments
    def decode(
        self,
        specs: Mapping[str, Spec] | None = None,
        *,
        seed: int | None = None,
        max_pixels: int | None = None,
        **more_specs: Spec,
    ) -> Dataset:
        """Decode features to arrays: images, masks, boxes, raw numbers, text.

        Parameters
        ----------
        specs : mapping of str to Image, Mask, Raw, Text, Boxes or Keypoints, optional
            Spec of each output, by the name of the output.
        seed : int, optional
            Seed of random crops and other random parameters; by default the seed of the last shuffle before this stage,
            or 0.
        max_pixels : int, optional
            Maximum number of pixels of an image, which is checked before it is decoded; 67 million by default.
        **more_specs
            Further specs as keyword arguments.

        Returns
        -------
        Dataset

        Examples
        --------
        >>> image = rm.Image(crop=rm.RandomResizedCrop(16))
        >>> dataset = rm.open("train.tfrecord").decode(image=image)
        >>> dataset[0]["image"].shape
        (3, 16, 16)
        """
        all_specs = {**(specs or {}), **more_specs}
        check_specs(all_specs)
        options: tuple[tuple[str, Any], ...] = ()
        if max_pixels is not None:
            options = (("max_pixels", check_integer(max_pixels, "max_pixels must be a positive integer", 1)),)
        return self.add_stage(Decode(tuple(all_specs.items()), seed, options))

    @suggest_arguments
    def map(
        self,
        function: Callable[..., Any],
        *,
        rng: bool = False,
        workers: Workers = "threads",
        timeout: float | None = None,
        seed: int | None = None,
    ) -> Dataset:
        """Call a function on every sample; after `batch`, on every batch.

        Parameters
        ----------
        function : callable
            Takes a dict and returns a dict. The input arrays are read-only.
        rng : bool
            Pass a `numpy.random.Generator` as the second argument. Its numbers depend on the seed, the epoch and the
            position of the sample, not on the thread, process or rank.
        workers : str
            Kind of workers that call the function. Use "processes" for functions that hold the interpreter lock; the
            function and the dataset must then be picklable. Otherwise use "threads". If one function of a pipeline uses
            processes, all of them do. In a pipeline with a filter, this holds separately for the functions up to the
            last filter and for those after it.
        timeout : float, optional
            Seconds after which a call counts as hanging and raises MapError. By default, a call that takes longer than
            a minute causes a warning.
        seed : int, optional
            Seed of the generators; by default the seed of the last shuffle before this stage, or 0.

        Returns
        -------
        Dataset

        Examples
        --------
        >>> dataset = rm.open("train.tfrecord").map(lambda sample: {"label": sample["label"] * 10})
        >>> int(dataset[3]["label"])
        30
        """
        return self.add_stage(Map(function, rng, workers, timeout, seed))

    @suggest_arguments
    def filter(
        self,
        function: Callable[..., Any],
        *,
        rng: bool = False,
        timeout: float | None = None,
        seed: int | None = None,
    ) -> Dataset:
        """Keep the samples for which a function is true.

        The number of samples that pass is unknown, so the dataset has no length and is read in order. Every rank
        evaluates the filter on all samples; the samples that pass are then divided among the ranks.

        Parameters
        ----------
        function : callable
            Takes a sample; returns a value that is true or false.
        rng : bool
            Pass a `numpy.random.Generator` as the second argument.
        timeout : float, optional
            Seconds after which a call counts as hanging, as in `map`.
        seed : int, optional
            Seed of the generators; by default the seed of the last shuffle before this stage, or 0.

        Returns
        -------
        Dataset

        Examples
        --------
        >>> even = rm.open("train.tfrecord").filter(lambda sample: sample["label"] % 2 == 0)
        >>> [int(sample["label"]) for sample in even]
        [0, 2, 4, 6]
        """
        return self.add_stage(Filter(function, rng, timeout, seed))

    @suggest_arguments
    def batch(
        self,
        size: int,
        *,
        last: Last = "keep",
        ragged: RaggedAs = "ragged",
        pad_value: PadValue = 0,
        pad_to: PadSizes = None,
        pad_to_multiple_of: PadSizes = None,
    ) -> Dataset:
        """Combine consecutive samples into batches: dicts of arrays.

        Parameters
        ----------
        size : int
            Number of samples per batch and rank.
        last : str
            Treatment of the last samples if they do not fill a batch. "keep" yields a smaller batch, "drop" drops them,
            "pad" fills the batch up with zeros and marks the samples in the feature ``"valid"``, and "wrap" fills it up
            with the first samples of the epoch.
        ragged : str
            Result for features whose number of values differs between samples: a `Ragged` with "ragged", a padded array
            with "pad", a list of arrays with "list". With "ragged", arrays that differ in more than their first
            dimension become a list. Byte strings become a list of `bytes` with "list", and a `Ragged` otherwise.
        pad_value : scalar, or dict of str to scalar
            With ragged="pad": value that fills the ends of shorter rows, for all features or by feature. String
            features are filled with empty strings unless a dict names the feature.
        pad_to : int, or dict of str to int or tuple, optional
            With ragged="pad": size of every ragged axis; by default the length of the longest row of the batch. A tuple
            has one entry for each axis of a sample, where None stands for the default. A single integer has no effect
            on byte strings and on features whose arrays all have the same shape in a batch. A dict also pads such
            features if it names them.
        pad_to_multiple_of : int, or dict of str to int or tuple, optional
            Like `pad_to`, but the size is the smallest multiple that suffices. `pad_to` takes precedence.

        Returns
        -------
        Dataset

        Raises
        ------
        ValueError
            If an option is not valid. Reading a batch raises FeatureError if a feature is longer than `pad_to`, if its
            dtype cannot represent the pad value, or if samples do not have a feature that an option names.

        Examples
        --------
        >>> dataset = rm.open("train.tfrecord").batch(3, last="drop")
        >>> [batch["label"].tolist() for batch in dataset]
        [[0, 1, 2], [3, 4, 5]]
        >>> tokens = rm.open("train.tfrecord").map(lambda sample: {"tokens": np.arange(sample["label"])})
        >>> tokens.batch(3, ragged="pad", pad_value=-1, pad_to={"tokens": 4})[0]["tokens"]
        array([[-1, -1, -1, -1],
               [ 0, -1, -1, -1],
               [ 0,  1, -1, -1]])
        """
        return self.add_stage(Batch(size, last, ragged, Padding(pad_value, pad_to, pad_to_multiple_of)))

    def add_stage(self, stage: OrderStage | SampleStage | Batch | Shard) -> Dataset:
        """Return a dataset with one more stage.

        Parameters
        ----------
        stage : OrderStage, SampleStage, Batch or Shard

        Returns
        -------
        Dataset
        """
        if not isinstance(stage, OrderStage | SampleStage | Batch | Shard):
            raise TypeError(f"expected a stage, got {stage!r}")
        return Dataset(self.origin, (*self.stages, stage))

    @cached_property
    def pipeline(self) -> CompiledPipeline:
        """The origin and the stages before batch, as a pipeline that can be evaluated."""
        return CompiledPipeline(
            self.origin,
            tuple(stage for stage in self.stages[: self._batch_stage_index] if not isinstance(stage, Shard)),
        )

    @property
    def _batch_stage_index(self) -> int:
        """Position of the batch stage in `stages`; the number of stages if there is no batch stage."""
        indices = (index for index, stage in enumerate(self.stages) if isinstance(stage, Batch))
        return next(indices, len(self.stages))

    @property
    def batch_stage(self) -> Batch | None:
        """The batch stage; None if the elements are samples."""
        index = self._batch_stage_index
        return self.stages[index] if index < len(self.stages) else None

    @property
    def batch_maps(self) -> tuple[Map, ...]:
        """The `map` stages after `batch`, which receive whole batches."""
        return tuple(stage for stage in self.stages[self._batch_stage_index :] if isinstance(stage, Map))

    @property
    def runs_in_processes(self) -> bool:
        """True if a map stage runs in worker processes."""
        return uses_processes([*self.pipeline.map_stages, *self.batch_maps])

    @property
    def is_sharded(self) -> bool:
        """True if the dataset has a shard stage, so that loaders divide it among ranks."""
        return any(isinstance(stage, Shard) for stage in self.stages)

    @property
    def is_shuffled(self) -> bool:
        """True if the order of the elements differs between epochs."""
        return self.pipeline.is_shuffled

    @property
    def schema(self) -> Schema:
        """Kinds and shapes of the features of the records."""
        return self.origin.sources[0].schema

    @property
    def classes(self) -> list[str] | None:
        """Class names in the order of the label numbers; None if the names are missing or differ between shards."""
        names = [getattr(source, "classes", None) for source in self.origin.sources]
        return names[0] if all(other == names[0] for other in names) else None

    def create_sampler(self, rank: int = 0, world_size: int = 1) -> BatchSampler:
        """Create the sampler that computes the positions of each batch of one rank.

        Parameters
        ----------
        rank, world_size : int

        Returns
        -------
        BatchSampler
            With a filter, its positions count the samples that pass.
        """
        stage = self.batch_stage
        size, last = (1, "drop") if stage is None else (stage.size, stage.last)
        start, stop = self.pipeline.slice_after_filter if self.pipeline.has_filter else (0, self.pipeline.length)
        for after in self.stages[self._batch_stage_index :]:
            if isinstance(after, Skip):
                start += after.count * size * world_size
            elif isinstance(after, Take):
                end = start + after.count * size * world_size
                stop = end if stop is None else min(stop, end)
        return BatchSampler(stop, size, last, rank, world_size, start)  # type: ignore[arg-type]

    def __len__(self) -> int:
        """Return the number of samples, or of batches after `batch`. A `shard` stage does not change the number."""
        count = None if self.pipeline.has_filter else self.create_sampler().num_batches
        return len(self.pipeline) if count is None else count

    @overload
    def __getitem__(self, key: int) -> dict[str, Any]: ...
    @overload
    def __getitem__(self, key: slice | Sequence[int] | NDArray[np.integer[Any]]) -> list[dict[str, Any]]: ...
    def __getitem__(
        self, key: int | slice | Sequence[int] | NDArray[np.integer[Any]]
    ) -> dict[str, Any] | list[dict[str, Any]]:
        """Return the element of epoch 0 at a position, or a list of elements for a slice or several positions.

        Negative positions count from the end.
        """
        if isinstance(key, slice):
            return self.fetch(range(len(self))[key])
        if isinstance(key, list | range) or (isinstance(key, np.ndarray) and key.ndim):
            return self.fetch(key)
        if type(key) is int and not self.stages and isinstance(self.origin, SourceOrigin):
            return self.origin.source.__getitems__([key])[0]
        return self.fetch([key])[0]  # type: ignore[list-item]

    def __getitems__(self, positions: Sequence[int]) -> list[dict[str, Any]]:
        """Return the elements at the given positions of epoch 0."""
        return self.fetch(positions)

    @suggest_arguments
    def fetch(self, positions: Iterable[SupportsIndex], epoch: int = 0) -> list[dict[str, Any]]:
        """Return the elements at the given positions, in the given order.

        Parameters
        ----------
        positions : iterable of int
            Positions in the epoch; negative ones count from the end.
        epoch : int

        Returns
        -------
        list of dict

        Raises
        ------
        IndexError
            If a position is out of range.
        DamageError, FeatureError, DecodeError, MapError
            If a sample cannot be read; the error has shard, record and offset.

        Examples
        --------
        >>> [int(sample["label"]) for sample in rm.open("train.tfrecord").fetch([5, 1, -1])]
        [5, 1, 7]
        """
        requested, epoch = check_positions(positions), check_epoch(epoch)
        if not self.stages and isinstance(self.origin, SourceOrigin):
            return self.origin.source.__getitems__(requested)
        count = len(self)
        if outside := [position for position in requested if not -count <= position < count]:
            raise IndexError(f"position {outside[0]} is out of range for {count} elements")
        requested = [range(count)[position] for position in requested]
        if self.batch_stage is None:
            rows = self.pipeline.evaluate(Positions(epoch, np.array(requested, np.int64)), Context())
            return split_samples(rows.columns, len(rows))
        builder = BatchBuilder(self.pipeline, self.batch_stage, self.batch_maps, self.create_sampler(), epoch)
        return [_build_batch(builder, number) for number in requested]

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield the elements of epoch 0 in order; at a damaged element, raise its error."""
        if self.pipeline.has_filter or self.pipeline.length is None:
            if self.pipeline.until_last_filter.length != 0:
                yield from self.loader(threads=0)
            return
        start, count, chunk_size = 0, len(self), 1
        while start < count:
            chunk = range(start, min(start + chunk_size, count))
            try:
                elements = self.fetch(chunk)
            except RecordmillError:
                # Read the elements one by one, so that the elements before the damaged one are yielded.
                yield from (self[position] for position in chunk)
            else:
                if self.batch_stage is None:
                    chunk_size = _choose_chunk_size(chunk_size, elements)
                yield from elements
                del elements  # Free the memory of these elements before the next ones are read.
            start = chunk.stop

    @suggest_arguments
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
        """Return a loader, which iterates over epochs with workers. The order does not depend on the workers.

        Parameters
        ----------
        threads : int
            Number of worker threads, or of worker processes if a `map` uses processes; 0 builds elements in the
            calling thread.
        prefetch : int
            Maximum number of finished elements that wait for the consumer.
        rank, world_size : int, optional
            As in `shard`.
        on_error : str
            Treatment of samples that fail. "raise" raises the error. "skip" skips the sample, and also a batch if all
            of its samples failed. Skipping a whole batch is an error if there are several ranks, or if 64 consecutive
            samples have failed. "substitute" uses another sample of the epoch, always the same one (cannot be combined
            with `filter`). `Loader.report` lists the samples that failed.
        max_errors : int or float, optional
            Maximum number of samples that may fail; a number below 1 is a fraction of the samples.
        workers : (int, int)
            ``(index, count)``: deliver only every `count`-th element of the rank, starting with `index`. Use it if
            another framework runs `count` copies of the loader in its worker processes.

        Returns
        -------
        Loader

        Raises
        ------
        ValueError
            If an option is not valid, or if the epoch has no batch.

        Examples
        --------
        >>> with rm.open("train.tfrecord").batch(4).loader(threads=2) as loader:
        ...     for batch in loader:
        ...         print(batch["label"].tolist())
        [0, 1, 2, 3]
        [4, 5, 6, 7]
        """
        from recordmill.pipeline.loader import Loader, LoaderOptions

        if rank is None and world_size is None:
            shards = [stage for stage in self.stages if isinstance(stage, Shard)]
            rank, world_size = shards[0].find_rank() if shards else (0, 1)
        rank, world_size = find_rank(rank, world_size)
        return Loader(self, LoaderOptions(threads, prefetch, rank, world_size, on_error, max_errors, workers))

    def fingerprint(self) -> str:
        """Return a text that identifies the samples and their order, regardless of the folder of the shards.

        Returns
        -------
        str
        """
        after_batch = [
            repr(stage) for stage in self.stages[self._batch_stage_index :] if isinstance(stage, Take | Skip)
        ]
        return ".".join([self.pipeline.fingerprint(), *after_batch])

    def to_numpy(self) -> dict[str, Any]:
        """Read all samples of epoch 0 into memory.

        Returns
        -------
        dict of str to ndarray or Ragged
            Dense arrays ``(num_samples, *shape)`` for features whose records all have the same number of values.

        Raises
        ------
        ValueError
            If the dataset is batched.

        Examples
        --------
        >>> rm.open("train.tfrecord").to_numpy()["label"]
        array([0, 1, 2, 3, 4, 5, 6, 7])
        """
        if self.batch_stage is not None:
            raise ValueError("to_numpy() cannot be combined with batch; remove batch")
        if self.pipeline.has_filter:
            return stack_samples(list(self))
        positions = range(len(self.pipeline))
        try:
            return self.pipeline.evaluate(Positions(0, positions), Context()).columns
        except FeatureError:
            if self.stages or not isinstance(self.origin, SourceOrigin) or not self.origin.source.is_schema_inferred:
                raise
        # The inferred schema does not fit, because later records have other numbers of values than the first records.
        columns = self.origin.source.columns(positions, _allow_any_shape(self.schema))
        return {name: _to_dense(column) for name, column in columns.items()}

    def to_arrow(self) -> pa.Table:
        """Read all samples of epoch 0 as an Arrow table.

        Numeric arrays are converted without a copy. A feature of fixed shape becomes a column of numbers, or of
        (nested) lists of fixed size; a feature whose number of values varies becomes a column of lists, and byte
        strings become a ``binary`` column. Optional features are null in records without values. Class names are in the
        metadata of the schema, as JSON, under the key ``classes``.

        Returns
        -------
        pyarrow.Table

        Raises
        ------
        ValueError
            If the dataset is batched.
        FeatureError
            If a feature has no type in Arrow, such as complex numbers.
        MissingExtraError
            If pyarrow is not installed.

        Examples
        --------
        >>> table = rm.open("train.tfrecord").to_arrow()
        >>> table.schema.field("label").type
        DataType(int64)
        """
        from recordmill.pipeline.arrow import read_table

        return read_table(self)

    def iter_arrow(self, batch_size: int) -> Iterator[pa.RecordBatch]:
        """Yield the samples of epoch 0 as Arrow record batches, in order, with only a few batches in memory.

        All batches have the schema of the first one. `shard` has no effect.

        Parameters
        ----------
        batch_size : int
            Number of samples per batch; the last batch may be smaller.

        Yields
        ------
        pyarrow.RecordBatch

        Raises
        ------
        ValueError
            If the dataset is batched, or if `batch_size` is not positive.
        FeatureError
            If a feature has no type in Arrow, or if a later batch does not fit the schema of the first one.
        MissingExtraError
            If pyarrow is not installed.

        Examples
        --------
        >>> batches = rm.open("train.tfrecord").iter_arrow(5)
        >>> [batch.num_rows for batch in batches]
        [5, 3]
        """
        from recordmill.pipeline.arrow import iterate_record_batches

        return iterate_record_batches(self, batch_size)

    def to_pandas(self) -> pd.DataFrame:
        """Read all samples of epoch 0 as a data frame.

        Features with one number per record become columns of the same dtype, without a copy. Other features become
        columns of Python objects: arrays, `bytes` or `Ragged`. Optional features are None in records without values.

        Returns
        -------
        pandas.DataFrame

        Raises
        ------
        ValueError
            If the dataset is batched.
        MissingExtraError
            If pandas is not installed.

        Examples
        --------
        >>> frame = rm.open("train.tfrecord").to_pandas()
        >>> int(frame["label"].sum())
        28
        """
        from recordmill.pipeline.arrow import read_frame

        return read_frame(self)

    @suggest_arguments
    def show(self, n: int = 12) -> ContactSheet:
        """Draw the images of the first samples, or of the samples in the first batches. Requires Pillow.

        Normalized images are drawn in their original colors, and masks are drawn over their images.

        Parameters
        ----------
        n : int
            Maximum number of samples, at most 1,000.

        Returns
        -------
        ContactSheet
            Notebooks show it; its method `save` writes it to a file. Damaged samples are replaced by the message of
            their error.

        Raises
        ------
        FeatureError
            If the samples have no images.
        MissingExtraError
            If Pillow is not installed.

        Examples
        --------
        >>> dataset = rm.open("train.tfrecord").shuffle(seed=1)
        >>> dataset.show()
        ContactSheet(8 images, 1016 x 380 pixels)
        """
        from recordmill.pipeline.contact_sheet import draw_dataset

        return draw_dataset(self, n)

    def __repr__(self) -> str:
        """Return the expression that creates the dataset, as text."""
        return ".".join([repr(self.origin), *map(repr, self.stages)])

    def __str__(self) -> str:
        """Return the number of elements, the stages and the features, as text of several lines."""
        return describe_dataset(self)

    def _repr_html_(self) -> str:
        """Return the size, the stages and the features, and thumbnails of the first records, for notebooks."""
        from recordmill.pipeline.dataset_html import format_dataset_html

        return format_dataset_html(self)


def _build_batch(builder: BatchBuilder, number: int) -> Any:
    result = builder.build(range(number, number + 1))
    if result.error is not None:
        raise result.error
    return result.elements[0][1]


def _choose_chunk_size(chunk_size: int, elements: Sequence[dict[str, Any]]) -> int:
    """Return the size of the next chunk: at most 4 * `chunk_size` elements, because later elements may be larger."""
    largest = max(count_bytes(elements[0]), count_bytes(elements[-1]), 1)
    return max(1, min(_CHUNK_SAMPLES, 4 * chunk_size, _CHUNK_BYTES // largest))


def _allow_any_shape(schema: Schema) -> Schema:
    """Return a copy of a schema in which every feature may be missing or have any number of values."""
    return Schema(
        {
            name: Feature(feature.kind, (None, None) if feature.sequence else (None,), feature.sequence, optional=True)
            for name, feature in schema.items()
        }
    )


def _to_dense(column: Any) -> Any:
    """Convert a ragged column to an array if all rows have the same number of values."""
    if not isinstance(column, Ragged) or len(column) == 0:
        return column
    counts = np.diff(column.row_splits)
    if (counts != counts[0]).any():
        return column
    if counts[0] == 1:
        return column.data
    return column if isinstance(column.data, Ragged) else column.data.reshape(len(column), counts[0])
