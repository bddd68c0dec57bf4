"""Pairs of an image and a label mask: two folders matched by file stem, or the layout of Pascal VOC."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np

from recordmill.errors import ImageError, InputError
from recordmill.packing.sources.base import IMAGE_SUFFIXES, Items, Source

VOC_FOLDERS = ("JPEGImages", "SegmentationClass")


@dataclass(frozen=True)
class ImagePairs(Source):
    """Images and masks of two folders; a pair has the same file name but for the ending.

    Parameters
    ----------
    images, masks : path
        The folders.
    names : path, optional
        A file with one stem per line, which chooses and orders the pairs; without it all images are taken, sorted,
        and every image needs a mask and every mask an image.
    mask_ending : str
        Put behind the stem to make the name of the mask, in front of its suffix (``_mask``).
    extensions : sequence of str
        Endings of image and mask files, in any case of letters.

    Raises
    ------
    ImageError
        When the items are listed: a partner is missing, or two files have the same stem.
    InputError
        No folder or no images.

    Examples
    --------
    >>> ImagePairs.voc("VOCdevkit/VOC2012", "train")  # doctest: +SKIP
    """

    images: str | os.PathLike[str]
    masks: str | os.PathLike[str]
    names: str | os.PathLike[str] | None = None
    mask_ending: str = ""
    extensions: Sequence[str] = IMAGE_SUFFIXES

    @classmethod
    def voc(cls, root: str | os.PathLike[str], image_set: str = "train") -> Self:
        """Pairs of a Pascal VOC data set.

        Parameters
        ----------
        root : path
            Folder with ``JPEGImages``, ``SegmentationClass`` and ``ImageSets/Segmentation``.
        image_set : str
            ``train``, ``val``, ``trainval`` or another list that is there.

        Returns
        -------
        ImagePairs
        """
        at = os.fspath(root)
        names = os.path.join(at, "ImageSets", "Segmentation", image_set + ".txt")
        images, masks = (os.path.join(at, folder) for folder in VOC_FOLDERS)
        return cls(images, masks, names)

    def read_items(self) -> Items:
        """List the pairs."""
        images, masks = os.fspath(self.images), os.fspath(self.masks)
        by_image = _by_stem(images, self.extensions, "")
        by_mask = _by_stem(masks, self.extensions, self.mask_ending)
        if self.names is None:
            stems, lines, origin = sorted(by_image.keys() | by_mask.keys()), None, None
        else:
            origin = os.fspath(self.names)
            stems, lines = _read_stems(origin)
        if not stems:
            raise InputError("there is no pair of image and mask", kind="no_images", shard=origin or images)
        for row, stem in enumerate(stems):
            place = f"{origin}, line {lines[row]}" if lines is not None else None
            _need(stem, by_image, images, "image", place)
            _need(stem, by_mask, masks, "mask", place)
        return Items(
            [by_image[stem] for stem in stems],
            np.arange(len(stems)),
            images,
            masks=[by_mask[stem] for stem in stems],
            mask_root=masks,
            origin=origin,
            lines=lines,
        )


def _by_stem(folder: str, extensions: Sequence[str], ending: str) -> dict[str, str]:
    """File name of each stem in a folder."""
    if not os.path.isdir(folder):
        raise InputError("there is no such folder of images", kind="missing_folder", shard=folder)
    wanted = tuple(extension.lower() for extension in extensions)
    names: dict[str, str] = {}
    for name in sorted(os.listdir(folder)):
        stem = os.path.splitext(name)[0]
        if name.startswith(".") or not name.lower().endswith(wanted) or not stem.endswith(ending):
            continue
        stem = stem.removesuffix(ending)
        if stem in names:
            raise ImageError(
                "two files have the same stem",
                kind="duplicate_name",
                shard=os.path.join(folder, name),
                expected="one file per stem",
                found=names[stem],
                hint='choose one kind with extensions=[".png"]',
            )
        names[stem] = name
    return names


def _read_stems(path: str) -> tuple[list[str], list[int]]:
    try:
        text = Path(path).read_text("utf-8-sig")
    except FileNotFoundError:
        raise InputError("there is no such list of names", kind="missing_source", shard=path) from None
    except UnicodeDecodeError:
        raise InputError("the list of names is no UTF-8 text", kind="bad_list_line", shard=path) from None
    numbered = [(line.strip(), number) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    return [stem for stem, _ in numbered], [number for _, number in numbered]


def _need(stem: str, found: Mapping[str, str], folder: str, what: str, place: str | None) -> None:
    if stem in found:
        return
    other = "mask" if what == "image" else "image"
    listed = f", {place}" if place else f", of which there is a {other}"
    raise ImageError(
        f"the {what} of {stem!r} is missing{listed}",
        kind="missing_partner",
        shard=folder,
        expected=f"a file {stem}.*",
        found="none",
        hint="list the complete pairs in a file, and give it as names=...",
    )
