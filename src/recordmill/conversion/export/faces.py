"""Face recognition datasets: images in the order of the keys, each labeled with the identity of the person."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from recordmill.conversion.export.samples import OnSkip, Sample, read_samples
from recordmill.errors import DamageError, FeatureError
from recordmill.pipeline.compiled_pipeline import SourceOrigin
from recordmill.pipeline.dataset import Dataset
from recordmill.shards.collection import ShardCollection
from recordmill.shards.faces import read_faces

# Number of digits in the folder names. Leading zeros sort the folders by number.
_DIGITS = 6


@dataclass(frozen=True, slots=True)
class FaceImages:
    """The images of a face recognition dataset.

    Parameters
    ----------
    positions : ndarray of int64
        Positions of the images in the dataset.
    identities : ndarray of int64
        Identity of each image; -1 for an image without identity.
    names : list of str
        Name of the folder of each identity.
    """

    positions: NDArray[np.int64]
    identities: NDArray[np.int64]
    names: list[str]

    def read(self, dataset: Dataset, label: str, on_skip: OnSkip | None) -> Iterator[Sample]:
        """Yield the images, with the identity as label."""
        for sample in read_samples(dataset, on_skip, self.positions):
            sample.values[label] = self.identities[sample.position]
            yield sample


def find_face_images(dataset: Dataset) -> FaceImages | None:
    """Find the images and identities of a face dataset; None if the shard has no header of a face dataset."""
    source = dataset.origin.source if isinstance(dataset.origin, SourceOrigin) else None
    if dataset.stages or not isinstance(source, ShardCollection) or len(source.readers) != 1:
        return None
    reader = source.readers[0]
    if reader.format != "recordio" or source.codec_name != "irheader" or not len(source):
        return None
    if not _has_face_header(source):
        return None
    faces = read_faces(reader.path)
    if not len(faces.identities):
        return None
    identities = np.full(len(faces.images), -1, np.int64)
    for number, (start, stop) in enumerate(faces.identities.tolist()):
        identities[start:stop] = number
    classes = source.classes
    is_named = classes is not None and len(classes) == len(faces.identities)
    names = classes if classes and is_named else [f"{number:0{_DIGITS}}" for number in range(len(faces.identities))]
    return FaceImages(faces.images, identities, names)


def _has_face_header(source: ShardCollection) -> bool:
    """Return True if the record with key 0 has two labels and no image."""
    try:
        first = source.__getitems__([source.readers[0].position_of(0)])[0]
    except (DamageError, FeatureError, KeyError):
        return False
    data = [value for value in first.values() if isinstance(value, bytes)]
    return np.size(first.get("label", 0)) == 2 and data == [b""]
