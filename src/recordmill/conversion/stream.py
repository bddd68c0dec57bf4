"""Convert datasets with stages such as map or filter.

Samples are read in order, serialized, and distributed among shards.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from recordmill.conversion.changes import Changes, cast_numbers
from recordmill.conversion.selection import Selection
from recordmill.conversion.source import SkippedRecord
from recordmill.conversion.where import FeatureColumn, Where, parse_where
from recordmill.conversion.writing import ConvertResult, SchemaCollector
from recordmill.errors import FeatureError
from recordmill.formats.base import Format, PayloadCodec
from recordmill.packing.options import OutputOptions, RunOptions
from recordmill.packing.progress import Progress
from recordmill.packing.recode import recode_image
from recordmill.packing.salvage import check_no_source
from recordmill.pipeline.dataset import Dataset
from recordmill.pipeline.stages.map import Map
from recordmill.schema import Feature
from recordmill.shards.dataset_output import DatasetDescription, DatasetOutput
from recordmill.shards.examples import serialize_examples
from recordmill.shards.output import RecordSink, RollingSink, RoundRobinSink, frame_payloads
from recordmill.types import Ragged

Sample = dict[str, Any]
_CHUNK_SAMPLES, _CHUNK_BYTES = 1024, 2 << 20


@dataclass(slots=True)
class StreamWriter:
    """Writes the samples of a dataset. An instance is used for one run.

    Parameters
    ----------
    dataset : Dataset
        Unbatched.
    selection : Selection
    changes : Changes
    payload : PayloadCodec
    destination, format, outputs, run
        As in `ShardsWriter`.
    """

    dataset: Dataset
    selection: Selection
    changes: Changes
    payload: PayloadCodec
    destination: str
    format: Format
    outputs: OutputOptions
    run: RunOptions
    _skipped: list[SkippedRecord] = field(default_factory=list, init=False)

    @property
    def num_records(self) -> None:
        """None, because the number of samples is unknown."""
        return None

    def write(self, progress: Progress) -> ConvertResult:
        """Write and commit all shards."""
        if self.selection.shuffle is not None:
            message = "shuffle= is not supported for a dataset with functions"
            raise ValueError(f"{message}; call shuffle() on the dataset before map() or filter()")
        if self.run.resume:
            message = "resume=True is not supported for a dataset with functions"
            raise ValueError(f"{message}, because map and filter functions would be called again")
        storage = self.run.choose_output_storage(self.destination)
        output = DatasetOutput(storage, self.destination, self.format, self.outputs.shard_options())
        try:
            output.remove_leftover_files()
            num_shards = self.outputs.shards or 1
            paths = [] if self.outputs.max_shard_bytes is not None else output.shard_paths(num_shards)
            sources = [path for source in self.dataset.origin.sources for path in getattr(source, "paths", ())]
            check_no_source(storage, sources, [*paths, *output.find_other_shards(paths)])
            output.check_not_existing(paths)
            sink: RecordSink = (
                RoundRobinSink(paths, output.create_shard)
                if self.outputs.max_shard_bytes is None
                else RollingSink(self.destination, self.outputs.max_shard_bytes, output.create_shard)
            )
            schema = self._write_samples(sink, progress)
            sink.finish()
            if self.outputs.max_shard_bytes is not None:
                for shard, path in zip(sink.outputs, output.shard_paths(len(sink.outputs)), strict=True):
                    shard.rename(path)
            payload = None if schema is None else self.payload.name
            output.commit(sink.outputs, DatasetDescription(schema, payload, self.dataset.classes))
        except BaseException:
            output.discard()
            raise
        progress.close()
        return ConvertResult(
            sum(shard.num_records for shard in sink.outputs),
            sum(shard.num_bytes for shard in sink.outputs),
            [shard.path for shard in sink.outputs],
            self._skipped,
            output.warnings,
        )

    def _write_samples(self, sink: RecordSink, progress: Progress) -> Any:
        collector, first, known = SchemaCollector(None), 0, None
        for samples in self._select_samples(_collect_chunks(self._read_samples())):
            if not samples:
                continue
            changed = _change_samples(self.changes, samples)
            payloads = serialize_examples(self.payload, changed, None, first, known)
            keys: list[int | str] = list(range(first, first + len(samples)))
            sink.append(frame_payloads(self.format, payloads), keys)
            collector.add(self.payload.infer_features(payloads).schema)
            known = collector.schema()
            first += len(samples)
            progress.advance(len(samples))
        return collector.schema()

    def _read_samples(self) -> Iterator[Sample]:
        """Yield all samples of epoch 0; samples that fail are skipped if `on_error` is "skip"."""
        dataset = self.dataset
        if dataset.pipeline.length == 0:
            return
        threads = 0 if self.run.workers == 1 and not dataset.runs_in_processes else self.run.workers
        on_error: Any = "raise" if self.run.on_error == "stop" else "skip"
        with dataset.loader(threads=threads, on_error=on_error, rank=0, world_size=1) as loader:
            yield from loader
            for skipped in loader.report.skipped:
                error = skipped.error
                record = skipped.position if error.record is None else error.record
                self._skipped.append(SkippedRecord(error.shard or "", record, error.message))

    def _select_samples(self, chunks: Iterator[list[Sample]]) -> Iterator[list[Sample]]:
        """Apply `where`, `sample`, `skip` and `take` to chunks of samples."""
        where: Where | None = None
        generator, sample = self.selection.sampler(), self.selection.sample
        position, stop = 0, self.selection.stop
        for chunk in chunks:
            kept = np.ones(len(chunk), bool)
            if self.selection.where is not None:
                where = where or parse_where(self.selection.where, list(chunk[0]))
                kept = where.evaluate(build_sample_columns(chunk, where.features), len(chunk))
            if generator is not None and sample is not None:
                kept[kept] = generator.random(np.count_nonzero(kept)) < sample
            samples = [one for one, keep in zip(chunk, kept.tolist(), strict=True) if keep]
            start, end = max(self.selection.skip - position, 0), None if stop is None else max(stop - position, 0)
            position += len(samples)
            yield samples[start:end]
            if stop is not None and position >= stop:
                return


def prepare_workers(dataset: Dataset, run: RunOptions) -> Dataset:
    """Return a dataset whose map functions run in worker processes, if `run.worker_kind` is "processes".

    Raises
    ------
    ValueError
        If worker processes are requested, but a function cannot be pickled.
    """
    if run.worker_kind != "processes":
        return dataset
    try:
        pickle.dumps(dataset)
    except Exception as error:  # noqa: BLE001 (pickling calls foreign code)
        raise ValueError(
            f'worker_kind="processes" cannot be used, because a function of the dataset cannot be pickled: {error}; '
            'define the function at the top level of a module, or use worker_kind="threads"'
        ) from None
    stages = tuple(replace(stage, workers="processes") if isinstance(stage, Map) else stage for stage in dataset.stages)
    return Dataset(dataset.origin, stages)


def _collect_chunks(samples: Iterator[Sample]) -> Iterator[list[Sample]]:
    chunk: list[Sample] = []
    num_bytes = 0
    for sample in samples:
        chunk.append(sample)
        num_bytes += sum(
            len(value) if isinstance(value, bytes) else getattr(value, "nbytes", 8) for value in sample.values()
        )
        if len(chunk) >= _CHUNK_SAMPLES or num_bytes >= _CHUNK_BYTES:
            yield chunk
            chunk, num_bytes = [], 0
    if chunk:
        yield chunk


def _change_samples(changes: Changes, samples: list[Sample]) -> list[Sample]:
    """Apply changes of features to samples."""
    if changes.is_empty:
        return samples
    names = dict.fromkeys(name for sample in samples for name in sample)
    unknown: set[str] = {*(changes.select or ()), *changes.drop, *changes.rename, *changes.cast} - set(names)
    if unknown:
        raise FeatureError(
            f"the samples have no feature {min(unknown)!r}",
            kind="feature_mismatch",
            feature=min(unknown),
            expected=", ".join(names),
        )
    kept = [name for name in names if (changes.select is None or name in changes.select) and name not in changes.drop]
    image = None
    if changes.recoding is not None:
        is_bytes = {name: Feature("bytes") for name in kept if isinstance(samples[0].get(name), bytes)}
        image = changes.find_image(is_bytes)
    return [
        {
            changes.rename.get(name, name): _change_value(changes, name, sample[name], is_image=name == image)
            for name in kept
            if name in sample
        }
        for sample in samples
    ]


def _change_value(changes: Changes, name: str, value: Any, *, is_image: bool) -> Any:
    if is_image and changes.recoding is not None:
        return recode_image(value, changes.recoding)[0]
    kind = changes.cast.get(name)
    return value if kind is None else cast_numbers(name, np.asarray(value), kind)[()]


def build_sample_columns(samples: list[Sample], names: list[str]) -> dict[str, FeatureColumn]:
    """Convert features of samples to the columns on which a `where` condition is evaluated."""
    columns = {}
    for name in names:
        values = [sample.get(name) for sample in samples]
        known = [value for value in values if value is not None]
        if not known:
            continue
        present = np.array([value is not None for value in values])
        is_text = isinstance(known[0], bytes | str)
        counts = np.array(
            [0 if value is None else 1 if is_text else _count_values(value) for value in values], np.int64
        )
        if is_text:
            flat: Any = Ragged.from_rows([value.encode() if isinstance(value, str) else value for value in known])
            columns[name] = FeatureColumn("bytes", flat, counts, present, measures_bytes=True)
        else:
            numbers = np.concatenate(
                [np.asarray(value).reshape(-1) for value in known if _count_values(value)] or [np.zeros(0)]
            )
            kind: Any = "float64" if numbers.dtype.kind == "f" else "uint64" if numbers.dtype.kind == "u" else "int64"
            columns[name] = FeatureColumn(kind, numbers, counts, present, measures_bytes=False)
    return columns


def _count_values(value: Any) -> int:
    return len(value) if isinstance(value, list | tuple | Ragged) else int(np.size(value))
