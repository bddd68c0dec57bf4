"""The options of packing, checked together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

from recordmill.packing.labels import LABEL_KINDS, LabelKind
from recordmill.packing.recode import Encoding, Recoding
from recordmill.shards.index import IndexMode

Check = Literal["signature", "header", "decode", "none"]
MaskForm = Literal["png", "raw"]
OnError = Literal["stop", "skip"]
WorkerKind = Literal["threads", "processes"]


@dataclass(frozen=True, slots=True)
class ImageOptions:
    """What becomes of the files of a source.

    Parameters
    ----------
    recoding : Recoding or None
        None passes file bytes through.
    mask : {"png", "raw"}
    check : {"signature", "header", "decode", "none"}
        How closely files that are passed through are looked at.
    keep_shape : bool
    """

    recoding: Recoding | None = None
    mask: MaskForm = "png"
    check: Check = "signature"
    keep_shape: bool = False

    def __post_init__(self) -> None:
        """Refuse words that mean nothing."""
        one_of("mask", self.mask, get_args(MaskForm))
        one_of("check", self.check, get_args(Check))


def make_recoding(
    *,
    encode: Encoding | None,
    quality: int | None,
    resize: int | None,
    center_crop: bool | int,
    color: bool | None,
    exif: bool,
    restart_markers: bool | None = None,
) -> Recoding | None:
    """Check the options of re-encoding; None where file bytes are passed through."""
    if encode is None:
        idle = {
            "quality": quality,
            "resize": resize,
            "center_crop": center_crop or None,
            "color": color,
            "exif": exif or None,
            "restart_markers": restart_markers,
        }
        given = [name for name, value in idle.items() if value is not None]
        if given:
            raise ValueError(f"{', '.join(given)} changes pictures, which then need encode=: jpeg, png, tiff or webp")
        return None
    one_of("encode", encode, get_args(Encoding))
    if quality is not None and encode not in ("jpeg", "webp"):
        raise ValueError(f"{encode} is stored without loss: it has no quality")
    if quality is not None and not 1 <= quality <= 100:
        raise ValueError(f"quality is 1 to 100, not {quality}")
    if resize is not None and resize < 1:
        raise ValueError(f"resize is the shorter side in pixels, at least 1, not {resize}")
    if center_crop is not True and center_crop is not False and center_crop < 1:
        raise ValueError(f"center_crop is True, False or a number of pixels, not {center_crop}")
    if restart_markers is not None and encode != "jpeg":
        raise ValueError(f"{encode} has no restart markers")
    return Recoding(
        encode, 95 if quality is None else quality, resize, center_crop, color, exif, restart_markers is not False
    )


@dataclass(frozen=True, slots=True)
class RecordOptions:
    """Names and kinds of the features.

    Parameters
    ----------
    payload : str, optional
    image_feature, label_feature : str, optional
        The usual ones of the format by default.
    label_kind : {"int32", "int64", "float32", "vector"}, optional
    name_feature : str, optional
        Feature that holds the file name.
    """

    payload: str | None = None
    image_feature: str | None = None
    label_feature: str | None = None
    label_kind: LabelKind | None = None
    name_feature: str | None = None

    def __post_init__(self) -> None:
        """Refuse words that mean nothing."""
        if self.label_kind is not None:
            one_of("label_kind", self.label_kind, LABEL_KINDS)
        names: tuple[Any, ...] = (self.image_feature, self.label_feature, self.name_feature)
        for option, name in zip(("image_feature", "label_feature", "keep_name"), names, strict=True):
            if name is not None and (not isinstance(name, str) or not name):
                raise ValueError(f"{option} is the name of a feature, not {name!r}")


@dataclass(frozen=True, slots=True)
class RunOptions:
    """How the work is done; it has no influence on the bytes.

    Parameters
    ----------
    workers : int
    worker_kind : {"threads", "processes"}
    on_error : {"stop", "skip"}
    """

    workers: int = 1
    worker_kind: WorkerKind = "threads"
    on_error: OnError = "stop"

    def __post_init__(self) -> None:
        """Refuse words and numbers that mean nothing."""
        one_of("worker_kind", self.worker_kind, get_args(WorkerKind))
        one_of("on_error", self.on_error, get_args(OnError))
        if self.workers < 1:
            raise ValueError(f"workers is at least 1, not {self.workers}")


@dataclass(frozen=True, slots=True)
class OutputOptions:
    """Which shards are written, and how.

    Parameters
    ----------
    shards : int, optional
        1 by default.
    max_shard_bytes : int, optional
        Instead of `shards`.
    compression : {"gzip", "zlib"}, optional
    compression_level : int
    overwrite : bool
    index : {"auto", "never"}
        Whether sidecars are put beside them.
    """

    shards: int | None = None
    max_shard_bytes: int | None = None
    compression: str | None = None
    compression_level: int = -1
    overwrite: bool = False
    index: IndexMode = "auto"

    def __post_init__(self) -> None:
        """Refuse numbers that mean nothing."""
        if self.shards is not None and (self.shards < 1 or self.max_shard_bytes is not None):
            raise ValueError("shards is at least 1, and not given together with max_shard_bytes")
        if self.max_shard_bytes is not None and self.max_shard_bytes < 1:
            raise ValueError(f"max_shard_bytes is at least 1, not {self.max_shard_bytes}")


def one_of(name: str, value: object, allowed: tuple[str, ...]) -> None:
    """Raise ValueError if a value is none of those that an option may have."""
    if value not in allowed:
        raise ValueError(f"{name} is one of {', '.join(allowed)}, not {value!r}")
