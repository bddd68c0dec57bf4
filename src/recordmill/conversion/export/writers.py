"""Interface of the export writers, and functions with which they read the image and the labels of a sample."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, cast

import numpy as np

from recordmill.conversion.export.output import LocalFolder, OutputFolder
from recordmill.conversion.export.result import ExportResult
from recordmill.conversion.export.samples import Sample
from recordmill.errors import FeatureError, LabelError
from recordmill.schema import Schema
from recordmill.storage.base import Storage

if TYPE_CHECKING:
    from recordmill.storage.remote import RemoteStorage

_IMAGE_FEATURES = ("image", "images", "image/encoded", "encoded", "image_raw", "data")
_LABEL_FEATURES = ("label", "labels", "image/class/label")
_KEY_FEATURES = ("name", "filename", "image/filename", "key", "__key__")
# First bytes of each image type, and the suffix of its files.
_SIGNATURES = (
    (b"\xff\xd8\xff", ".jpg"),
    (b"\x89PNG\r\n\x1a\n", ".png"),
    (b"GIF8", ".gif"),
    (b"BM", ".bmp"),
    (b"II*\0", ".tif"),
    (b"MM\0*", ".tif"),
    (b"II+\0", ".tif"),
    (b"MM\0+", ".tif"),
)


class Writer(Protocol):
    """Writes samples to the destination of an export. Files get their final names in `commit`."""

    def write(self, sample: Sample) -> None:
        """Write one sample. If this raises FeatureError or LabelError, the output is unchanged."""
        ...

    def commit(self) -> None:
        """Complete the output, rename it to its final name, and add its size to the result."""
        ...

    def discard(self) -> None:
        """Remove everything that was written; never raises."""
        ...


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """Options of an export writer.

    Parameters
    ----------
    storage : Storage
        Storage of the destination.
    destination : str
    overwrite : bool
    sources : list of str
        Paths of the shards that are read.
    schema : Schema or None
        Features of all samples; None if functions or decoders may change them.
    classes : list of str or None
        Class names in the order of the label numbers.
    class_folders : bool
        Write images to one folder per class.
    max_shard_bytes : int
        Size at which a new tar shard begins.
    image, label, key : str or None
        Names of the features.
    result : ExportResult
        Collects counts, renamed keys and skipped records.
    """

    storage: Storage
    destination: str
    overwrite: bool
    sources: list[str]
    schema: Schema | None
    classes: list[str] | None
    class_folders: bool
    max_shard_bytes: int
    image: str | None
    label: str | None
    key: str | None
    result: ExportResult = field(default_factory=lambda: ExportResult(""))


def create_folder(options: ExportOptions) -> OutputFolder:
    """Create the destination of an export that consists of several files."""
    path, overwrite, sources = options.destination, options.overwrite, options.sources
    if not options.storage.is_remote:
        return LocalFolder(path, overwrite=overwrite, sources=sources)
    from recordmill.conversion.export.remote_folder import RemoteFolder

    return RemoteFolder(cast("RemoteStorage", options.storage), path, overwrite=overwrite, sources=sources)


def choose_feature(role: str, name: str | None, known: Collection[str]) -> str | None:
    """Choose the feature for a role: "image", "label" or "key".

    Returns the feature `name`, and raises FeatureError if it does not exist. If `name` is None, returns a feature with
    a common name for the role, or None if there is no such feature.
    """
    if name is not None:
        if name not in known:
            raise FeatureError(
                f"there is no feature {name!r}",
                feature=name,
                kind="feature_mismatch",
                expected=", ".join(known),
                found=name,
            )
        return name
    candidates = {"image": _IMAGE_FEATURES, "label": _LABEL_FEATURES, "key": _KEY_FEATURES}[role]
    return next((candidate for candidate in candidates if candidate in known), None)


def find_only_bytes_feature(schema: Schema, others: Sequence[str | None]) -> str | None:
    """Find a feature with one byte string per record.

    The features in `others` are ignored. Returns None if there is no such feature, or more than one.
    """
    names = [
        name
        for name, feature in schema.items()
        if feature.kind == "bytes" and feature.shape == () and not feature.sequence and name not in others
    ]
    return names[0] if len(names) == 1 else None


def find_suffix(data: bytes) -> str:
    """Return the suffix for an image file with these bytes; ``.bin`` if it is not an image."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return ".webp"
    return next((suffix for signature, suffix in _SIGNATURES if data.startswith(signature)), ".bin")


def get_image(sample: Sample, feature: str) -> bytes:
    """Return the bytes of an image; raise FeatureError if the feature does not consist of one byte string."""
    value = sample.values.get(feature)
    if isinstance(value, bytes):
        return value
    found = "nothing" if value is None else f"{type(value).__name__} of shape {getattr(value, 'shape', '?')}"
    raise FeatureError(
        f"feature {feature!r} does not contain the bytes of an image",
        feature=feature,
        kind="feature_mismatch",
        expected="one byte string",
        found=found,
        **sample.locate(),
    )


def get_labels(sample: Sample, feature: str | None) -> list[int | float]:
    """Return the label numbers of a sample; numbers without a fraction become integers."""
    value = None if feature is None else sample.values.get(feature)
    if value is None:
        return []
    if isinstance(value, np.integer):
        return [int(value)]
    array = np.asarray(value) if isinstance(value, np.generic | np.ndarray | int | float) else np.zeros(0, "S")
    if array.dtype.kind not in "iufb" or not np.isfinite(array).all():
        raise create_label_error(sample, "finite numbers", repr(value)[:80])
    return [int(number) if float(number).is_integer() else number for number in array.reshape(-1).tolist()]


def find_class(sample: Sample, labels: Sequence[int | float], classes: Sequence[Any]) -> int:
    """Return the number of the class of a sample; raise LabelError if it has no class."""
    if len(labels) == 1 and isinstance(labels[0], int) and 0 <= labels[0] < len(classes):
        return labels[0]
    raise create_label_error(sample, f"one number from 0 to {len(classes) - 1}", str(labels)[:80])


def create_label_error(sample: Sample, expected: str, found: str) -> LabelError:
    """Create the error for a sample without a usable label."""
    return LabelError(
        "the label is not a class number",
        kind="bad_label",
        expected=expected,
        found=found,
        hint='use class_folders=False to write no class folders, or on_error="skip" to skip such records',
        **sample.locate(),
    )
