"""Options of `pack`, grouped into classes that check the values."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Literal, get_args

from recordmill.concurrency.threads import num_cpus
from recordmill.packing.recode import Encoding, Recoding
from recordmill.shards.dataset_output import ShardOptions
from recordmill.shards.index import IndexMode
from recordmill.storage.addresses import check_output_path
from recordmill.storage.base import Storage
from recordmill.storage.choose import StorageOptions, choose_storage

Check = Literal["signature", "header", "decode", "none"]
LabelKind = Literal["int32", "int64", "float32", "vector"]
MaskForm = Literal["png", "raw"]
OnError = Literal["stop", "skip"]
WorkerKind = Literal["threads", "processes"]


@dataclass(frozen=True, slots=True)
class ImageOptions:
    """Options for checking and recoding image and mask files; without a recoding, files are stored unchanged."""

    recoding: Recoding | None = None
    mask: MaskForm = "png"
    check: Check = "signature"
    keep_shape: bool = False

    def __post_init__(self) -> None:
        _check_choice("mask", self.mask, get_args(MaskForm))
        _check_choice("check", self.check, get_args(Check))


@dataclass(frozen=True, slots=True)
class RecordOptions:
    """Options of the records: payload codec, names of the features, and kind of the labels."""

    payload: str | None = None
    image_feature: str | None = None
    label_feature: str | None = None
    label_kind: LabelKind | None = None
    name_feature: str | None = None

    def __post_init__(self) -> None:
        if self.label_kind is not None:
            _check_choice("label_kind", self.label_kind, get_args(LabelKind))
        features: dict[str, Any] = {
            "image_feature": self.image_feature,
            "label_feature": self.label_feature,
            "keep_name": self.name_feature,
        }
        for option, name in features.items():
            if name is not None and (not isinstance(name, str) or not name):
                raise ValueError(f"{option} must be the name of a feature, got {name!r}")


@dataclass(frozen=True, slots=True)
class OutputOptions:
    """Options of the shards: number, size, compression and index."""

    shards: int | None = None
    max_shard_bytes: int | None = None
    compression: str | None = None
    compression_level: int = -1
    overwrite: bool = False
    index: IndexMode = "auto"
    break_lock: bool = False

    def __post_init__(self) -> None:
        if self.shards is not None and self.max_shard_bytes is not None:
            raise ValueError("shards= and max_shard_bytes= cannot be combined")
        if self.shards is not None and self.shards < 1:
            raise ValueError(f"shards must be at least 1, got {self.shards}")
        if self.max_shard_bytes is not None and self.max_shard_bytes < 1:
            raise ValueError(f"max_shard_bytes must be at least 1, got {self.max_shard_bytes}")

    def shard_options(self) -> ShardOptions:
        """Return the `ShardOptions` for a `DatasetOutput`."""
        return ShardOptions(self.compression, self.compression_level, self.overwrite, self.index, self.break_lock)


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of the run: workers, reaction to errors, and storage. They do not affect the bytes of the records."""

    workers: int = 1
    worker_kind: WorkerKind = "threads"
    on_error: OnError = "stop"
    resume: bool = False
    storage_options: StorageOptions = None

    def choose_output_storage(self, destination: str) -> Storage:
        """Return the storage for a destination."""
        return choose_storage([destination], self.storage_options, for_writing=True)

    def __post_init__(self) -> None:
        _check_choice("worker_kind", self.worker_kind, get_args(WorkerKind))
        _check_choice("on_error", self.on_error, get_args(OnError))
        if self.workers < 1:
            raise ValueError(f"workers must be at least 1, got {self.workers}")


def build_recoding(
    *,
    encode: Encoding | None,
    quality: int | None,
    resize: int | None,
    center_crop: bool | int,
    color: bool | None,
    exif: bool,
    restart_markers: bool | None,
) -> Recoding | None:
    """Combine the options that change images into a `Recoding`; return None if none of these options is set."""
    if encode is None:
        changes = {
            "quality": quality,
            "resize": resize,
            "center_crop": center_crop or None,
            "color": color,
            "exif": exif or None,
            "restart_markers": restart_markers,
        }
        names = [name for name, value in changes.items() if value is not None]
        if names:
            raise ValueError(f"{', '.join(names)} cannot be used without encode=; set encode= to one of {_ENCODINGS}")
        return None
    _check_choice("encode", encode, get_args(Encoding))
    if quality is not None and encode not in ("jpeg", "webp"):
        raise ValueError(f'quality cannot be combined with encode="{encode}", which is lossless')
    if quality is not None and not 1 <= quality <= 100:
        raise ValueError(f"quality must be from 1 to 100, got {quality}")
    if resize is not None and resize < 1:
        raise ValueError(f"resize must be at least 1 (pixels of the shorter side), got {resize}")
    if center_crop is not True and center_crop is not False and center_crop < 1:
        raise ValueError(f"center_crop must be True, False or a positive number of pixels, got {center_crop}")
    if restart_markers is not None and encode != "jpeg":
        raise ValueError(f'restart_markers requires encode="jpeg", got encode="{encode}"')
    return Recoding(
        encode, 95 if quality is None else quality, resize, center_crop, color, exif, restart_markers is not False
    )


def check_destination(destination: str | os.PathLike[str]) -> str:
    """Return the destination of `pack` as str; raise ValueError if it is empty."""
    path = check_output_path(destination)
    if not path:
        raise ValueError("destination must not be empty: it is the prefix of the shard names, such as 'packed/train'")
    return path


_ENCODINGS = ", ".join(get_args(Encoding))


@dataclass(frozen=True, slots=True)
class PackOptions:
    """The options of `pack` for a source of files, with their defaults. The docstring of `pack` explains them."""

    format: str | None = None
    shards: int | None = None
    max_shard_bytes: int | None = None
    payload: str | None = None
    compression: str | None = None
    compression_level: int = -1
    image_feature: str | None = None
    label_feature: str | None = None
    label_kind: LabelKind | None = None
    keep_shape: bool = False
    keep_name: bool | str = False
    encode: Encoding | None = None
    quality: int | None = None
    resize: int | None = None
    center_crop: bool | int = False
    color: bool | None = None
    exif: bool = False
    restart_markers: bool | None = None
    mask: MaskForm = "png"
    shuffle: int | None = None
    workers: int | None = 1
    worker_kind: WorkerKind = "threads"
    check: Check | bool = "signature"
    on_error: OnError = "stop"
    overwrite: bool = False
    index: IndexMode = "auto"
    resume: bool = False
    break_lock: bool = False

    def output_options(self) -> OutputOptions:
        """Return the options of the shards."""
        return OutputOptions(
            self.shards,
            self.max_shard_bytes,
            self.compression,
            self.compression_level,
            self.overwrite,
            self.index,
            self.break_lock,
        )

    def image_options(self) -> ImageOptions:
        """Return the options for checking and recoding images."""
        recoding = build_recoding(
            encode=self.encode,
            quality=self.quality,
            resize=self.resize,
            center_crop=self.center_crop,
            color=self.color,
            exif=self.exif,
            restart_markers=self.restart_markers,
        )
        check = self.check
        if isinstance(check, bool):
            check = "header" if check else "none"
        return ImageOptions(recoding, self.mask, check, self.keep_shape)

    def record_options(self) -> RecordOptions:
        """Return the options of the records."""
        name = ("name" if self.keep_name else None) if isinstance(self.keep_name, bool) else self.keep_name
        return RecordOptions(self.payload, self.image_feature, self.label_feature, self.label_kind, name)

    def run_options(self) -> RunOptions:
        """Return the options of the run."""
        workers = num_cpus() if self.workers is None else self.workers
        return RunOptions(workers, self.worker_kind, self.on_error, self.resume)


def _check_choice(name: str, value: object, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(allowed)}, got {value!r}")
