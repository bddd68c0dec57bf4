"""`export`: write the records of shards to image folders, JSON lines, CSV, Parquet or WebDataset tar files."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import Any, Literal

from recordmill.conversion.export.faces import FaceImages, find_face_images
from recordmill.conversion.export.folder import FolderWriter
from recordmill.conversion.export.parquet import ParquetWriter
from recordmill.conversion.export.result import ExportResult, SkippedSample
from recordmill.conversion.export.samples import OnSkip, Sample, read_samples
from recordmill.conversion.export.text import CsvWriter, JsonLinesWriter
from recordmill.conversion.export.webdataset import WebDatasetWriter
from recordmill.conversion.export.writers import ExportOptions, Writer, choose_feature, find_only_bytes_feature
from recordmill.errors import FeatureError, LabelError, RecordmillError
from recordmill.packing.progress import Progress, ProgressOption
from recordmill.pipeline.dataset import Dataset
from recordmill.pipeline.open import open as open_dataset
from recordmill.pipeline.stages.decode import Decode
from recordmill.pipeline.stages.map import Map
from recordmill.shards.paths import Paths
from recordmill.storage.addresses import check_output_path
from recordmill.storage.choose import StorageOptions, choose_storage
from recordmill.suggestions import suggest_arguments

ExportForm = Literal["folder", "jsonl", "csv", "parquet", "webdataset"]
_WRITERS: dict[str, Any] = {
    "folder": FolderWriter,
    "jsonl": JsonLinesWriter,
    "csv": CsvWriter,
    "parquet": ParquetWriter,
    "webdataset": WebDatasetWriter,
}
_IMAGE_FORMS = ("folder", "webdataset")
_DEFAULT_TAR_BYTES = 1 << 30
# Number of records between two progress reports.
_PROGRESS_RECORDS = 64


@suggest_arguments
def export(  # noqa: PLR0913 (the options of one command)
    source: Paths | Dataset,
    destination: str | os.PathLike[str],
    *,
    to: ExportForm,
    image_feature: str | None = None,
    label_feature: str | None = None,
    key_feature: str | None = None,
    classes: Sequence[str] | None = None,
    class_folders: bool | None = None,
    max_shard_bytes: int | None = None,
    on_error: Literal["stop", "skip"] = "stop",
    progress: ProgressOption = None,
    overwrite: bool = False,
    storage_options: StorageOptions = None,
) -> ExportResult:
    """Write the records of shards to files that other programs read.

    A file or folder is written as ``.NAME.tmp-HEX`` beside the destination. It gets its final name after all records
    are written. In an object store, the objects of a folder are renamed one by one, those of the labels last.

    Parameters
    ----------
    source : path, pattern, directory, iterable of them, or Dataset
        The shards, or an unbatched dataset. If the shards need options, or for filters and functions, pass the dataset
        that `open` returns.
    destination : path or address
        A folder for "folder" and "webdataset", a file for the others. An address such as ``s3://bucket/photos`` is
        written to an object store.
    to : str
        Form of the output. "folder" writes images to one folder, or to one folder per class or identity of a face
        dataset, beside ``labels.txt`` and ``labels.jsonl``. "jsonl", "csv" and "parquet" write all features to one
        file. "webdataset" writes tar files with the members ``KEY.jpg``, ``KEY.cls`` and ``KEY.json``.
    image_feature, label_feature : str, optional
        Features with the encoded image and with the label number; by default ``image``, ``label`` and other usual
        names. Only for "folder" and "webdataset".
    key_feature : str, optional
        Feature with the file name of a record; by default ``name``, ``filename``, ``image/filename`` or ``key``. A
        record without a key is named after its position. Only for "folder" and "webdataset".
    classes : sequence of str, optional
        Class names in the order of the label numbers; by default those of the source.
    class_folders : bool, optional
        Whether to write images to one folder per class; by default True if there are labels and class names. Only for
        "folder".
    max_shard_bytes : int, optional
        Size in bytes at which a new tar file begins, 1 GiB by default. Only for "webdataset".
    on_error : str
        Treatment of records that are damaged or cannot be written. "stop" raises the error, and nothing is written.
        "skip" lists them in the result.
    progress : bool or callable, optional
        Whether to show progress on standard error; by default only if it is a terminal. A callable receives the number
        of finished records and the total number, which is None if unknown.
    overwrite : bool
        Whether to replace an existing file, or an existing folder with all files in it.
    storage_options : mapping of str to object, optional
        Settings for addresses such as ``s3://bucket/train``, as in `open`, for the source and the destination.

    Returns
    -------
    ExportResult
        Lists the keys that are not safe and unique file names, with the names that replace them.

    Raises
    ------
    OutputExistsError
        If the destination exists, and is not an empty folder.
    InputError
        If the destination contains a source.
    DamageError, FeatureError, LabelError
        If a record is damaged or cannot be written; the error has shard, record and offset.
    MissingExtraError
        If PyArrow or obstore is needed and is not installed.
    WriteError
        If the disk is full, or the destination is not writable.
    UnsupportedPathError
        If the destination is on a web server.
    ValueError
        If an option is invalid, or the dataset is batched or endless.

    Examples
    --------
    >>> result = rm.export("train.tfrecord", "photos", to="folder")
    >>> result.num_records, sorted(os.listdir("photos"))[:2]
    (8, ['00000000.jpg', '00000001.jpg'])
    >>> rm.export("train.tfrecord", "train.jsonl", to="jsonl").num_files
    1
    """
    target = check_output_path(destination)
    if to not in _WRITERS:
        raise ValueError(f"to must be one of {', '.join(_WRITERS)}, got {to!r}")
    if not target:
        raise ValueError("destination must not be empty")
    if on_error not in ("stop", "skip"):
        raise ValueError(f"on_error must be 'stop' or 'skip', got {on_error!r}")
    _check_options_have_effect(
        to,
        image_feature=(image_feature, _IMAGE_FORMS),
        label_feature=(label_feature, _IMAGE_FORMS),
        key_feature=(key_feature, _IMAGE_FORMS),
        class_folders=(class_folders, ("folder",)),
        max_shard_bytes=(max_shard_bytes, ("webdataset",)),
    )
    if max_shard_bytes is not None and max_shard_bytes < 1:
        raise ValueError(f"max_shard_bytes must be a positive integer, got {max_shard_bytes}")
    dataset = source if isinstance(source, Dataset) else open_dataset(source, storage_options=storage_options)
    _check_dataset(dataset)
    faces = find_face_images(dataset) if to in _IMAGE_FORMS else None
    names = list(classes) if classes is not None else faces.names if faces is not None else dataset.classes
    image, label, key = _choose_features(dataset, image_feature, label_feature, key_feature)
    options = ExportOptions(
        storage=choose_storage([target], storage_options, for_writing=True),
        destination=target,
        overwrite=overwrite,
        sources=[path for origin in dataset.origin.sources for path in getattr(origin, "paths", ())],
        schema=None if _changes_features(dataset) else dataset.schema,
        classes=names,
        class_folders=bool(names) and label is not None if class_folders is None else class_folders,
        max_shard_bytes=max_shard_bytes or _DEFAULT_TAR_BYTES,
        image=image,
        label=label,
        key=key,
        result=ExportResult(target),
    )
    if options.class_folders and not (names and label):
        raise ValueError("class_folders=True requires labels and class names: pass label_feature=... and classes=[...]")
    _write_samples(dataset, faces, _WRITERS[to](options), options, on_error == "skip", progress)
    return options.result


def _check_options_have_effect(to: str, **options: tuple[object, Sequence[str]]) -> None:
    for name, (value, forms) in options.items():
        if value is not None and to not in forms:
            raise ValueError(f'{name} has no effect with to="{to}", only with {" and ".join(forms)}')


def _check_dataset(dataset: Dataset) -> None:
    if dataset.batch_stage is not None:
        raise ValueError("export() does not support a batched dataset; remove batch()")
    if dataset.pipeline.length is None:
        raise ValueError("an endless dataset cannot be exported; call repeat() with a number, or take()")


def _changes_features(dataset: Dataset) -> bool:
    return (
        bool(dataset.pipeline.map_stages)
        or len(dataset.origin.sources) > 1
        or any(isinstance(stage, Decode | Map) for stage in dataset.stages)
    )


def _choose_features(
    dataset: Dataset, image: str | None, label: str | None, key: str | None
) -> tuple[str | None, str | None, str | None]:
    """Return the names of the image, label and key features; None for features that do not exist."""
    if not _changes_features(dataset):
        known = list(dataset.schema)
    else:
        first = next(iter(dataset.take(1)), {})
        known = list(first)
    label, key = choose_feature("label", label, known), choose_feature("key", key, known)
    image = choose_feature("image", image, known) or find_only_bytes_feature(dataset.schema, (label, key))
    return image if image in known else None, label, key


def _write_samples(
    dataset: Dataset,
    faces: FaceImages | None,
    writer: Writer,
    options: ExportOptions,
    skips: bool,
    show: ProgressOption,
) -> None:
    result = options.result

    def add_skipped(position: int, error: RecordmillError) -> None:
        place = {name: getattr(error, name) for name in ("shard", "record", "offset")}
        result.add_skipped(SkippedSample(position, error.message, **place))

    try:
        progress = Progress(_count_samples(dataset, faces), show)
        for sample in _read_source(dataset, faces, options, add_skipped if skips else None):
            try:
                writer.write(sample)
            except (FeatureError, LabelError) as error:
                if not skips:
                    raise
                add_skipped(sample.position, error)
                continue
            result.num_records += 1
            if result.num_records % _PROGRESS_RECORDS == 0:
                progress.advance(_PROGRESS_RECORDS)
        progress.advance(result.num_records % _PROGRESS_RECORDS)
        writer.commit()
        progress.close()
    except BaseException:
        writer.discard()
        raise


def _count_samples(dataset: Dataset, faces: FaceImages | None) -> int | None:
    if faces is not None:
        return len(faces.positions)
    return None if dataset.pipeline.has_filter else len(dataset)


def _read_source(
    dataset: Dataset, faces: FaceImages | None, options: ExportOptions, on_skip: OnSkip | None
) -> Iterator[Sample]:
    if faces is not None and options.label is not None:
        return faces.read(dataset, options.label, on_skip)
    return read_samples(dataset, on_skip)
