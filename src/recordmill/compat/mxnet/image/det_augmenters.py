"""Augmenters of pictures with boxes: ``mx.image.Det…Aug`` and ``CreateDetAugmenter``."""

from __future__ import annotations

import random
from typing import Any

from recordmill.compat.mxnet.base import ParameterError
from recordmill.compat.mxnet.image import boxes, functions
from recordmill.compat.mxnet.image.augmenters import (
    Augmenter,
    CastAug,
    ForceResizeAug,
    ResizeAug,
    normalising_augmenters,
)
from recordmill.compat.mxnet.image.colours import colour_augmenters
from recordmill.compat.mxnet.nd import flip


class DetAugmenter(Augmenter):
    """What all augmenters of pictures with boxes have."""

    def __call__(self, src: Any, label: Any) -> tuple[Any, Any]:  # type: ignore[override]
        """Give the picture and the boxes that become of these."""
        raise NotImplementedError("Must override implementation.")


class DetBorrowAug(DetAugmenter):
    """An augmenter that moves no boxes."""

    def __init__(self, augmenter: Augmenter) -> None:
        if not isinstance(augmenter, Augmenter):
            raise TypeError("Borrowing from invalid Augmenter")
        super().__init__(augmenter=augmenter.dumps())
        self.augmenter = augmenter

    def dumps(self) -> Any:
        """Names of both, and parameters."""
        return [type(self).__name__.lower(), self.augmenter.dumps()]

    def __call__(self, src: Any, label: Any) -> tuple[Any, Any]:  # type: ignore[override]
        """Apply it to the picture."""
        return self.augmenter(src), label


class DetRandomSelectAug(DetAugmenter):
    """One of several augmenters, or none."""

    def __init__(self, aug_list: Any, skip_prob: float = 0) -> None:
        super().__init__(skip_prob=skip_prob)
        self.aug_list = list(aug_list) if isinstance(aug_list, list | tuple) else [aug_list]
        if not all(isinstance(one, DetAugmenter) for one in self.aug_list):
            raise ParameterError("Allow DetAugmenter in list only")
        self.skip_prob = skip_prob if self.aug_list else 1

    def dumps(self) -> Any:
        """Names and parameters of all."""
        return [type(self).__name__.lower(), [one.dumps() for one in self.aug_list]]

    def __call__(self, src: Any, label: Any) -> tuple[Any, Any]:  # type: ignore[override]
        """Apply the one that is drawn."""
        if random.random() < self.skip_prob:
            return src, label
        random.shuffle(self.aug_list)
        found: tuple[Any, Any] = self.aug_list[0](src, label)
        return found


class DetHorizontalFlipAug(DetAugmenter):
    """Mirror with a probability."""

    def __init__(self, p: float) -> None:
        super().__init__(p=p)
        self.p = p

    def __call__(self, src: Any, label: Any) -> tuple[Any, Any]:  # type: ignore[override]
        """Mirror picture and boxes, or not."""
        if random.random() < self.p:
            src = flip(src, axis=1)
            boxes.mirrored(label)
        return src, label


class DetRandomCropAug(DetAugmenter):
    """A random window that covers enough of the boxes that it touches."""

    def __init__(
        self,
        min_object_covered: float = 0.1,
        aspect_ratio_range: Any = (0.75, 1.33),
        area_range: Any = (0.05, 1.0),
        min_eject_coverage: float = 0.3,
        max_attempts: int = 50,
    ) -> None:
        ratios, areas = (_range(one) for one in (aspect_ratio_range, area_range))
        super().__init__(
            min_object_covered=min_object_covered,
            aspect_ratio_range=ratios,
            area_range=areas,
            min_eject_coverage=min_eject_coverage,
            max_attempts=max_attempts,
        )
        _check_range("aspect_ratio_range", ratios, ratios[0] > 0)
        _check_range("area_range", areas, areas[1] > 0)
        self._ratios, self._areas, self._attempts = ratios, areas, max_attempts
        self._covered, self._left = min_object_covered, min_eject_coverage

    def __call__(self, src: Any, label: Any) -> tuple[Any, Any]:  # type: ignore[override]
        """Cut picture and boxes."""
        height, width = src.shape[:2]
        for window in boxes.windows(width, height, self._ratios, self._areas, self._attempts):
            if boxes.covers(label, window, width, height, self._covered):
                found = boxes.cut(label, window, width, height, self._left)
                if found is not None:
                    return functions.fixed_crop(src, *window), found
        return src, label


class DetRandomPadAug(DetAugmenter):
    """A random frame around the picture."""

    def __init__(
        self,
        aspect_ratio_range: Any = (0.75, 1.33),
        area_range: Any = (1.0, 3.0),
        max_attempts: int = 50,
        pad_val: Any = (128, 128, 128),
    ) -> None:
        ratios, areas = (_range(one) for one in (aspect_ratio_range, area_range))
        super().__init__(aspect_ratio_range=ratios, area_range=areas, max_attempts=max_attempts, pad_val=pad_val)
        _check_range("aspect_ratio_range", ratios, ratios[0] > 0)
        _check_range("area_range", areas, areas[1] > 1)
        self._ratios, self._areas, self._attempts = ratios, areas, max_attempts
        self._fill = pad_val if isinstance(pad_val, list | tuple) else (pad_val,) * 3

    def __call__(self, src: Any, label: Any) -> tuple[Any, Any]:  # type: ignore[override]
        """Frame picture and boxes."""
        height, width = src.shape[:2]
        for window in boxes.frames(width, height, self._ratios, self._areas, self._attempts):
            x, y, w, h = window
            src = functions.copyMakeBorder(src, y, h - y - height, x, w - x - width, values=self._fill)
            return src, boxes.framed(label, window, width, height)
        return src, label


def _range(value: Any) -> tuple[float, float]:
    return tuple(value) if isinstance(value, list | tuple) else (value, value)


def _check_range(name: str, pair: tuple[float, float], is_sound: bool) -> None:
    if not is_sound or pair[0] > pair[1]:
        raise ParameterError(f"{name} is two numbers in order that leave room", kind="bad_parameter", found=str(pair))


def CreateMultiRandCropAugmenter(
    min_object_covered: Any = 0.1,
    aspect_ratio_range: Any = (0.75, 1.33),
    area_range: Any = (0.05, 1.0),
    min_eject_coverage: Any = 0.3,
    max_attempts: Any = 50,
    skip_prob: float = 0,
) -> DetRandomSelectAug:
    """One of several `DetRandomCropAug`; lists of parameters are as many augmenters."""
    given = (min_object_covered, aspect_ratio_range, area_range, min_eject_coverage, max_attempts)
    lists = [one if isinstance(one, list) else [one] for one in given]
    count = max(map(len, lists))
    if any(len(one) not in (1, count) for one in lists):
        raise ParameterError(f"lists of one length are expected, found {[len(one) for one in lists]}")
    rows = zip(*(one * (count // len(one)) for one in lists), strict=True)
    return DetRandomSelectAug([DetRandomCropAug(*row) for row in rows], skip_prob=skip_prob)


def CreateDetAugmenter(
    data_shape: Any,
    resize: int = 0,
    rand_crop: float = 0,
    rand_pad: float = 0,
    rand_gray: float = 0,
    rand_mirror: bool = False,
    mean: Any = None,
    std: Any = None,
    brightness: float = 0,
    contrast: float = 0,
    saturation: float = 0,
    pca_noise: float = 0,
    hue: float = 0,
    inter_method: int = 2,
    min_object_covered: Any = 0.1,
    aspect_ratio_range: Any = (0.75, 1.33),
    area_range: Any = (0.05, 3.0),
    min_eject_coverage: Any = 0.3,
    max_attempts: Any = 50,
    pad_val: Any = (127, 127, 127),
) -> list[DetAugmenter]:
    """Augmenters for a training with boxes, in MXNet's order."""
    made: list[DetAugmenter] = [DetBorrowAug(ResizeAug(resize, inter_method))] if resize > 0 else []
    if rand_crop > 0:
        crops = (min_object_covered, aspect_ratio_range, area_range, min_eject_coverage, max_attempts)
        made.append(CreateMultiRandCropAugmenter(*crops, skip_prob=1 - rand_crop))
    if rand_mirror:
        made.append(DetHorizontalFlipAug(0.5))
    if rand_pad > 0:
        frame = DetRandomPadAug(aspect_ratio_range, (1.0, _range(area_range)[1]), max_attempts, pad_val)
        made.append(DetRandomSelectAug([frame], 1 - rand_pad))
    plain = [ForceResizeAug((data_shape[2], data_shape[1]), inter_method), CastAug()]
    plain += colour_augmenters(brightness, contrast, saturation, hue, pca_noise, rand_gray)
    return made + [DetBorrowAug(one) for one in plain + normalising_augmenters(mean, std)]
