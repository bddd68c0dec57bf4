"""Preview the samples that a pipeline produces from one record in several epochs."""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterator
from itertools import accumulate
from typing import Any
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from recordmill.decode.display import encode_mask, find_images, to_labels, to_levels
from recordmill.decode.specs.boxes import Boxes, Keypoints
from recordmill.decode.specs.image import Image
from recordmill.decode.specs.mask import Mask
from recordmill.decode.thumbnails import encode_pixels
from recordmill.errors import RecordmillError
from recordmill.pipeline.compiled_pipeline import SourceOrigin
from recordmill.pipeline.dataset import Dataset
from recordmill.pipeline.samples import count_bytes
from recordmill.pipeline.stages.decode import Decode
from recordmill.pipeline.stages.map import Map
from recordmill.pipeline.stages.take import Skip
from recordmill.value_text import describe_value, find_class_name

Sample = dict[str, Any]
MAX_EPOCHS = 8
# Maximum number of samples in the cache, and their maximum total size in bytes.
_MAX_SAMPLES, _MAX_CACHED_BYTES = 32, 64 << 20
# The preview shows at most this many images per feature, boxes per image, and characters per value.
_MAX_IMAGES, _MAX_BOXES, _MAX_CHARS = 16, 1000, 200
# A keypoint is shown as a box. Each edge has this distance from the keypoint, as a fraction of the image size.
_KEYPOINT_RADIUS = 0.01


class Preview:
    """The samples that a pipeline produces from individual records. Thread-safe.

    Stages that select, order or combine samples are omitted. The random parameters of a sample depend on
    the position of its record in the shards.

    Parameters
    ----------
    dataset : Dataset
        Its sources must have lengths.
    """

    def __init__(self, dataset: Dataset) -> None:
        self._pipelines = list(_list_pipelines(dataset.origin, dataset.pipeline.stages))
        self._starts = list(accumulate((len(pipeline) for pipeline in self._pipelines), initial=0))
        self._classes = dataset.classes
        # User functions are called by one thread at a time, because some functions are not thread-safe.
        self._lock = threading.Lock()
        self._cache: OrderedDict[tuple[int, int], Sample | str] = OrderedDict()

    def describe(self, position: int, num_epochs: int = 1) -> dict[str, Any]:
        """Return the samples of a record in the first `num_epochs` epochs. Images are represented by URLs.

        Raises
        ------
        IndexError
            If there is no record at the position.
        ValueError
            If the number of epochs is not from 1 to 8.
        """
        if not 1 <= num_epochs <= MAX_EPOCHS:
            raise ValueError(f"the number of epochs must be from 1 to {MAX_EPOCHS}, got {num_epochs}")
        pipeline, _ = self._find_pipeline(position)
        samples = [self._describe_sample(pipeline, position, epoch) for epoch in range(num_epochs)]
        return {"position": position, "samples": samples}

    def encode_image(self, position: int, epoch: int, name: str, number: int) -> bytes:
        """Return an image of a sample as PNG, with a transparent background if it is a mask.

        Raises
        ------
        IndexError
            If there is no record at the position.
        KeyError
            If the sample has no such image.
        """
        pipeline, _ = self._find_pipeline(position)
        sample = self._compute_sample(position, epoch)
        if isinstance(sample, str):
            raise KeyError(f"the sample cannot be created: {sample}")
        spec = _list_specs(pipeline).get(name)
        images = _find_sample_images(sample, name, spec)
        if not 0 <= number < len(images):
            raise KeyError(f"image {number} is out of range for {len(images)} images in feature {name!r}")
        is_mask = isinstance(spec, Mask)
        return encode_mask(to_labels(images[number])) if is_mask else encode_pixels(to_levels(images[number], spec))

    def _find_pipeline(self, position: int) -> tuple[Dataset, int]:
        """Return the pipeline that produces the samples of a record, and the position of the record in its source."""
        if not 0 <= position < self._starts[-1]:
            raise IndexError(f"position {position} is out of range for {self._starts[-1]:,} records")
        number = bisect_right(self._starts, position) - 1
        return self._pipelines[number], position - self._starts[number]

    def _compute_sample(self, position: int, epoch: int) -> Sample | str:
        """Return a sample, or the error message if the pipeline fails."""
        key = position, epoch
        with self._lock:
            if key not in self._cache:
                pipeline, record = self._find_pipeline(position)
                try:
                    self._cache[key] = pipeline.fetch([record], epoch=epoch)[0]
                except (RecordmillError, MemoryError) as error:
                    self._cache[key] = str(error)
                self._limit_cache()
            self._cache.move_to_end(key)
            return self._cache[key]

    def _limit_cache(self) -> None:
        """Drop the oldest samples while the cache exceeds its limits, but always keep the newest sample."""
        num_bytes = sum(map(count_bytes, self._cache.values()))
        while len(self._cache) > 1 and (len(self._cache) > _MAX_SAMPLES or num_bytes > _MAX_CACHED_BYTES):
            num_bytes -= count_bytes(self._cache.popitem(last=False)[1])

    def _describe_sample(self, pipeline: Dataset, position: int, epoch: int) -> dict[str, Any]:
        sample = self._compute_sample(position, epoch)
        if isinstance(sample, str):
            return {"epoch": epoch, "images": [], "values": [], "error": sample}
        specs = _list_specs(pipeline)
        found = {name: _find_sample_images(sample, name, specs.get(name)) for name in sample}
        masks = _choose_masks(found, specs)
        images: list[dict[str, Any]] = []
        for name, arrays in found.items():
            if name in masks.values():
                continue
            for number, array in enumerate(arrays[:_MAX_IMAGES]):
                height, width = array.shape[:2]
                images.append(
                    {
                        "feature": name,
                        "url": _build_image_url(position, epoch, name, number),
                        "width": width,
                        "height": height,
                    }
                    | {"mask": None, "boxes": None, "labels": None}
                )
                if number == 0:
                    mask = masks.get(name)
                    images[-1]["mask"] = None if mask is None else _build_image_url(position, epoch, mask, 0)
                    images[-1] |= _describe_boxes(sample, specs, name, (width, height), self._classes)
        shown = {name for name, arrays in found.items() if arrays}
        values = [{"name": name, "text": _describe_value(value)} for name, value in sample.items() if name not in shown]
        return {"epoch": epoch, "images": images, "values": values, "error": None}


def _list_pipelines(origin: Any, stages: tuple[Any, ...]) -> Iterator[Dataset]:
    """Yield one dataset per source, and keep only the stages that change samples.

    Other stages are replaced with a stage that does nothing, because random numbers depend on the number of the stage.
    """
    kept = tuple(stage if isinstance(stage, Decode | Map) else Skip(0) for stage in stages)
    parts = getattr(origin, "parts", None)
    if parts is None:
        yield from (Dataset(SourceOrigin(source), kept) for source in origin.sources)
        return
    for part in parts:
        for pipeline in _list_pipelines(part.origin, part.stages):
            yield Dataset(pipeline.origin, pipeline.stages + kept)


def _list_specs(pipeline: Dataset) -> dict[str, Any]:
    """Map the name of each decoded feature to its spec, for all decode stages."""
    return {name: spec for stage in pipeline.stages if isinstance(stage, Decode) for name, spec in stage.specs}


def _find_sample_images(sample: Sample, name: str, spec: Any) -> list[NDArray[Any]]:
    """Return the images in a feature as arrays; the last axis of an array with three axes is the channel."""
    value = sample.get(name)
    if isinstance(spec, Mask):
        is_mask = isinstance(value, np.ndarray) and value.ndim == 2 and value.size and value.dtype.kind in "iu"
        return [value] if is_mask and isinstance(value, np.ndarray) else []
    if isinstance(spec, Boxes | Keypoints):
        return []
    return find_images(value, spec.layout if isinstance(spec, Image) else None)


def _choose_masks(found: dict[str, list[NDArray[Any]]], specs: dict[str, Any]) -> dict[str, str]:
    """Map the name of each image to the name of its first mask."""
    masks: dict[str, str] = {}
    for name, arrays in found.items():
        spec = specs.get(name)
        if arrays and isinstance(spec, Mask) and spec.of is not None and found.get(spec.of):
            masks.setdefault(spec.of, name)
    return masks


def _build_image_url(position: int, epoch: int, name: str, number: int) -> str:
    return f"api/preview/{position}/{epoch}/{quote(name, safe='')}/{number}"


def _describe_boxes(
    sample: Sample, specs: dict[str, Any], image: str, size: tuple[int, int], classes: list[str] | None
) -> dict[str, Any]:
    """Return the boxes and keypoints of an image as fractions of its width and height, and their labels."""
    boxes: list[list[float]] = []
    labels: list[str] = []
    scale = np.array(size * 2, np.float64)
    for name, spec in specs.items():
        if not isinstance(spec, Boxes | Keypoints) or spec.of != image or getattr(sample.get(name), "ndim", 0) != 2:
            continue
        rows = np.asarray(sample[name], np.float64)
        if rows.shape[1] == (4 if isinstance(spec, Boxes) else 3):
            edges = (
                rows / scale if isinstance(spec, Boxes) else _create_keypoint_boxes(rows, size, centers=spec.centers)
            )
            names = _find_labels(sample, spec, len(edges), classes) if isinstance(spec, Boxes) else [""] * len(edges)
            boxes += edges.tolist()
            labels += names
    if not any(isinstance(spec, Boxes | Keypoints) and spec.of == image for spec in specs.values()):
        return {}
    return {"boxes": boxes[:_MAX_BOXES], "labels": labels[:_MAX_BOXES] if any(labels) else None}


def _create_keypoint_boxes(points: NDArray[np.float64], size: tuple[int, int], *, centers: bool) -> NDArray[np.float64]:
    """Return small boxes around the keypoints that lie in the image."""
    inside = (points[points[:, 2] > 0, :2] + (0.5 if centers else 0.0)) / np.array(size)
    return np.concatenate([inside - _KEYPOINT_RADIUS, inside + _KEYPOINT_RADIUS], axis=1)


def _find_labels(sample: Sample, spec: Boxes, count: int, classes: list[str] | None) -> list[str]:
    """Return the label of each box from the first feature that has one value per box."""
    for name in spec.along:
        values = sample.get(name)
        if values is not None and np.ndim(values[0] if len(values) else 0) == 0 and len(values) == count:
            return [_describe_label(value, classes) for value in values]
    return [""] * count


def _describe_label(value: Any, classes: list[str] | None) -> str:
    if isinstance(value, int | float | np.number):
        return find_class_name(float(value), classes) or f"{value:.6g}"
    return _describe_value(value)


def _describe_value(value: Any) -> str:
    text = describe_value(value, _MAX_CHARS)[0]
    if getattr(value, "ndim", 0):
        text = f"{value.dtype} {'x'.join(map(str, value.shape))}: {text}"
    return text[:_MAX_CHARS]
