"""`plan_pack`: divide the files of a source into parts that any process can pack."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Self

from recordmill.datasets.lock import WriterLock
from recordmill.datasets.shard_names import LOCK_SUFFIX, PARTS_SUFFIX, build_path_prefix, dataset_file_path
from recordmill.errors import InputError, PlanError
from recordmill.formats.registry import choose_format
from recordmill.packing.chunks import split_evenly
from recordmill.packing.options import ImageOptions, OnError, OutputOptions, PackOptions, check_destination
from recordmill.packing.pack_files import FilePacker, PackRun
from recordmill.packing.part_items import select_part, serialize_part
from recordmill.packing.part_record import list_kept_files
from recordmill.packing.recode import Recoding
from recordmill.packing.record_schema import FeatureNames
from recordmill.packing.records import RecordBuilder
from recordmill.packing.resume import RunRecord, digest_of_run, find_versions
from recordmill.packing.sources import Source, detect_source
from recordmill.schema import Schema
from recordmill.shards.dataset_output import DatasetOutput
from recordmill.storage.addresses import absolute_path
from recordmill.storage.base import Storage, write_file_atomically
from recordmill.storage.choose import choose_storage
from recordmill.storage.local import LOCAL
from recordmill.suggestions import check_option_names, suggest_arguments

_VERSION = 1
# Options of `pack` that are arguments of `pack_part`. `plan_pack` does not support them.
_OPTIONS_OF_PARTS = ("workers", "worker_kind")


@dataclass(frozen=True)
class PackPlan:
    """The parts into which `plan_pack` has divided a source. A plan is small, and can be pickled.

    Parameters
    ----------
    destination : str
        Absolute prefix of the shard paths.
    num_parts : int
        Number of parts. Part ``k`` is shard ``k``; with `max_shard_bytes`, all shards are one part.
    num_files : int
        Number of image files in all parts.
    versions : dict of str to str
        Versions of the packages that determine the bytes of the shards.
    digest : str
        Identifies the source and the options.
    lock : str
        Identifies the lock of the destination, which the plan holds until `finish_pack`.
    items_file : str
        Name of the hidden file beside the shards that contains the items of all parts; empty if the dataset that the
        plan would write exists already.
    offsets : tuple of int
        Offset of each part in `items_file`, followed by the size of the file, in bytes.
    builder : object
        Options of the records and images.
    outputs : object
        Options of the shards.
    on_error : str
        "stop" or "skip", as in `pack`.
    classes : list of str or None
        Class names in the order of the label numbers.

    Examples
    --------
    >>> Path("photos/cat").mkdir(parents=True)
    >>> Path("photo.jpg").rename("photos/cat/1.jpg").exists()
    True
    >>> rm.plan_pack("photos", "out/train").save("plan.json")
    >>> rm.PackPlan.load("plan.json").num_parts
    1
    """

    destination: str
    num_parts: int
    num_files: int
    versions: dict[str, str]
    digest: str
    lock: str
    items_file: str
    offsets: tuple[int, ...]
    builder: RecordBuilder
    outputs: OutputOptions
    on_error: OnError
    classes: list[str] | None

    def __repr__(self) -> str:
        """Return the destination, the number of parts and the number of files."""
        return f"PackPlan({self.destination!r}, num_parts={self.num_parts}, num_files={self.num_files})"

    def choose_storage(self) -> Storage:
        """Return the storage for the destination."""
        return choose_storage([self.destination], for_writing=True)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the plan to a JSON file.

        Parameters
        ----------
        path : path
            Path of the file. An existing file is replaced.

        Raises
        ------
        WriteError
            If the file cannot be written.
        """
        builder = asdict(self.builder) | {"schema": self.builder.schema.to_json()}
        del builder["storage"]
        content = asdict(self) | {"builder": builder}
        write_file_atomically(LOCAL, os.fspath(path), json.dumps({"version": _VERSION} | content).encode())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a plan that `save` has written.

        Parameters
        ----------
        path : path
            The file.

        Returns
        -------
        PackPlan

        Raises
        ------
        FileNotFoundError
            If the file does not exist.
        PlanError
            If the file is not a plan, or if another version of recordmill wrote it in another format.
        """
        try:
            content = _check_version(json.loads(LOCAL.read(os.fspath(path))))
            content["builder"] = _build_record_builder(content["builder"])
            content["outputs"] = OutputOptions(**content["outputs"])
            content["offsets"] = tuple(map(int, content["offsets"]))
            return cls(**content)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise PlanError(
                f"the file is not a plan: {error}",
                kind="bad_plan",
                shard=os.fspath(path),
                hint="write the plan again with PackPlan.save",
            ) from None


def _check_version(content: dict[str, Any]) -> dict[str, Any]:
    version = content.pop("version")
    if version != _VERSION:
        raise ValueError(f"the version of a plan must be {_VERSION}, got {version!r}")
    return content


def _build_record_builder(content: dict[str, Any]) -> RecordBuilder:
    images = dict(content["options"])
    recoding = images.pop("recoding")
    return RecordBuilder(
        content["format"],
        content["payload"],
        FeatureNames(**content["names"]),
        Schema.from_json(content["schema"]),
        ImageOptions(None if recoding is None else Recoding(**recoding), **images),
    )


@suggest_arguments
def plan_pack(source: Source | str | os.PathLike[str], destination: str | os.PathLike[str], **options: Any) -> PackPlan:
    """Divide the work of `pack` into parts. Any process on any machine can pack a part with `pack_part`.

    List the source, check the options, and write the items of each part to a hidden file beside the shards. When all
    parts are packed, `finish_pack` gives the shards their final names. The bytes of all files equal those that `pack`
    writes with the same options.

    The destination is locked until `finish_pack`: other writers raise DestinationLockedError. After the process that
    made the plan has ended, a writer on the same machine takes over the lock, which makes the plan invalid.

    Parameters
    ----------
    source : Source or path
        Source of image files, as in `pack`. All machines that pack parts must find the files under the same paths. For
        addresses, each process takes the settings from its environment, so that the plan contains no secrets.
    destination : path
        Prefix of the shard names, as in `pack`. All machines that pack parts must reach it under the same absolute
        path.
    **options
        Options of `pack`, except `workers`, `worker_kind`, `progress`, `schema`, `entry_points` and `storage_options`.
        Each shard is a part, so `shards` is the number of parts; with `max_shard_bytes` there is one part, because the
        start of a shard depends on all images before it. With ``resume=True``, parts that an interrupted run has packed
        with the same source and options are kept; otherwise they are removed.

    Returns
    -------
    PackPlan

    Raises
    ------
    InputError, MissingInputError, LabelError
        If the source cannot be used, or does not exist.
    OutputExistsError
        If a shard with one of the new names exists and `overwrite` is False.
    DestinationLockedError
        If another writer is writing to the same destination.
    ResumeError
        If the source or the options differ from those of the interrupted run; the error names the difference.
    WriteError
        If the folder is not writable or the disk is full.
    TypeError, ValueError
        If an option does not exist, is invalid, or cannot be combined with another one.

    Examples
    --------
    >>> Path("photos/cat").mkdir(parents=True)
    >>> Path("photo.jpg").rename("photos/cat/1.jpg").exists()
    True
    >>> plan = rm.plan_pack(rm.ImageFolder("photos"), "out/train", format="recordio")
    >>> for part in range(plan.num_parts):  # in any processes, in any order
    ...     _ = rm.pack_part(plan, part)
    >>> rm.finish_pack(plan).num_records
    1
    """
    chosen = _check_options(options)
    prefix = absolute_path(build_path_prefix(check_destination(destination)))
    if isinstance(source, str | os.PathLike):
        source = detect_source(source)
    if not isinstance(source, Source):
        raise InputError(
            "only a source of files can be divided into parts",
            kind="bad_source",
            expected="a Source or a path",
            found=type(source).__name__,
            hint="use pack() or ShardWriter to write examples",
        )
    if source.storage_options is not None:
        raise ValueError(
            "plan_pack() does not support a source with storage_options: a plan contains no secrets, so set the "
            "environment variables of the store on all machines instead"
        )
    packer = FilePacker(
        source.rows(),
        prefix,
        choose_format(prefix, chosen.format),
        chosen.output_options(),
        chosen.record_options(),
        chosen.image_options(),
        chosen.run_options(),
    )
    return _write_plan(packer, chosen.shuffle)


def _check_options(options: dict[str, Any]) -> PackOptions:
    for name in _OPTIONS_OF_PARTS:
        if name in options:
            raise TypeError(f"plan_pack() does not support the argument {name!r}; pass it to pack_part()")
    names = [field.name for field in fields(PackOptions) if field.name not in _OPTIONS_OF_PARTS]
    check_option_names("plan_pack", options, names)
    return PackOptions(**options)


def _write_plan(packer: FilePacker, seed: int | None) -> PackPlan:
    """Lock the destination, write the items of all parts to a hidden file, and return the plan."""
    storage, outputs, resume = packer.choose_storage(), packer.outputs, packer.options.resume
    run = packer.prepare(seed)
    digest = digest_of_run(run.description)
    num_parts = 1 if outputs.max_shard_bytes is not None else outputs.shards or 1
    items_file, offsets, lock = "", (0,) * (num_parts + 1), ""
    dataset = DatasetOutput(storage, packer.destination, packer.format, outputs.shard_options())
    try:
        is_finished = resume and dataset.find_finished(digest) is not None
        if not is_finished:
            progress = RunRecord(storage, dataset.progress_path, run.description)
            is_resumed = resume and progress.load()
            dataset.remove_leftover_files(list_kept_files(storage, dataset.prefix, digest) if is_resumed else ())
            dataset.check_not_existing(packer.expected_paths(dataset))
            progress.keep_only(())
            progress.start()
            items_file, offsets = _write_items_file(storage, dataset.prefix, run, num_parts)
    finally:
        dataset.discard()
    if not is_finished:
        lock = WriterLock(storage, dataset_file_path(dataset.prefix, LOCK_SUFFIX)).leave()
    return PackPlan(
        packer.destination,
        num_parts,
        len(run.items),
        find_versions(run.builder),
        digest,
        lock,
        items_file,
        offsets,
        replace(run.builder, storage=LOCAL),
        outputs,
        packer.options.on_error,
        packer.items.classes,
    )


def _write_items_file(storage: Storage, prefix: str, run: PackRun, num_parts: int) -> tuple[str, tuple[int, ...]]:
    """Write the items of all parts to a hidden file; return its name and the offsets of the parts."""
    file = storage.create_output(dataset_file_path(prefix, PARTS_SUFFIX), overwrite=True)
    offsets = [0]
    try:
        for span in split_evenly(len(run.items), num_parts):
            data = serialize_part(select_part(run.items, run.order, span))
            file.write(data)
            offsets.append(offsets[-1] + len(data))
        file.finish()
    except BaseException:
        file.discard()
        raise
    return os.path.basename(file.temporary), tuple(offsets)
