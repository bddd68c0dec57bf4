"""A folder of class folders, or of images alone."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from recordmill.errors import InputError, LabelError
from recordmill.packing.sources.base import IMAGE_SUFFIXES, Items, Source


@dataclass(frozen=True)
class ImageFolder(Source):
    """Images in class folders: the folder directly below the root is the label.

    Folders and files are sorted by code point; class ``i`` is the ``i``-th folder. Folders inside class folders belong
    to the class. Links are followed, hidden files and folders are left out.

    Parameters
    ----------
    root : path
    labels : {"folders"} or None
        None takes all images below the root, without labels.
    classes : sequence of str, optional
        Names of the class folders in the order of their labels; those that are there by default. Two splits of a data
        set want the same ones.
    extensions : sequence of str
        Endings of image files, in any case of letters.

    Raises
    ------
    LabelError
        When the items are listed: an image outside the class folders, a class folder without an image, a folder that
        `classes` does not name.
    InputError
        No images at all, or no folder.

    Examples
    --------
    >>> ImageFolder("photos").classes  # doctest: +SKIP
    ['cat', 'dog']
    """

    root: str | os.PathLike[str]
    labels: Literal["folders"] | None = "folders"
    classes_given: Sequence[str] | None = None
    extensions: Sequence[str] = IMAGE_SUFFIXES

    def __init__(
        self,
        root: str | os.PathLike[str],
        *,
        labels: Literal["folders"] | None = "folders",
        classes: Sequence[str] | None = None,
        extensions: Sequence[str] = IMAGE_SUFFIXES,
    ) -> None:
        if labels not in ("folders", None):
            raise ValueError(f"labels is 'folders' or None, not {labels!r}")
        values = {
            "root": os.fspath(root),
            "labels": labels,
            "classes_given": None if classes is None else tuple(classes),
            "extensions": tuple(ending.lower() for ending in extensions),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def classes(self) -> list[str]:
        """Class names; the label is the position."""
        if self.classes_given is not None:
            return list(self.classes_given)
        return [] if self.labels is None else _class_folders(os.fspath(self.root))

    def read_items(self) -> Items:
        """List the images, class by class."""
        root = os.fspath(self.root)
        if not os.path.isdir(root):
            raise InputError("there is no such folder of images", kind="missing_folder", shard=root)
        names = list(_walk(root, "", tuple(self.extensions), set()))
        if not names:
            endings = " ".join(self.extensions)
            raise InputError("the folder holds no image", kind="no_images", shard=root, expected=endings, found="none")
        keys = np.arange(len(names))
        labels = None if self.labels is None else np.array(self._label_of(names), np.int64)
        return Items(names, keys, root, labels)

    def _label_of(self, names: list[str]) -> list[int]:
        root = os.fspath(self.root)
        numbers = {name: number for number, name in enumerate(self.classes)}
        labels = []
        for name in names:
            folder, _, rest = name.partition(os.sep)
            if not rest:
                raise LabelError(
                    "an image lies outside the class folders",
                    kind="missing_label",
                    shard=os.path.join(root, name),
                    hint="move it into a class folder, or say labels=None",
                )
            if folder not in numbers:
                raise LabelError(
                    "a folder is none of the classes",
                    kind="unknown_label",
                    shard=os.path.join(root, folder),
                    expected=", ".join(self.classes),
                    found=folder,
                )
            labels.append(numbers[folder])
        if self.classes_given is None:
            self._refuse_empty(numbers, labels)
        return labels

    def _refuse_empty(self, numbers: dict[str, int], labels: list[int]) -> None:
        present = set(labels)
        for folder, number in numbers.items():
            if number not in present:
                raise LabelError(
                    "a class folder holds no image",
                    kind="empty_class",
                    shard=os.path.join(os.fspath(self.root), folder),
                    hint="remove it, or say which classes there are with classes=[...]",
                )


def _class_folders(root: str) -> list[str]:
    with os.scandir(root) as entries:
        return sorted(entry.name for entry in entries if entry.is_dir() and not entry.name.startswith("."))


def _walk(root: str, folder: str, extensions: tuple[str, ...], above: set[str]) -> Iterator[str]:
    """Yield image names relative to the root: a folder's own first, then those of its folders; no circles of links."""
    path = os.path.join(root, folder)
    real = os.path.realpath(path)
    if real in above:
        return
    with os.scandir(path) as found:
        entries = sorted((entry.name, entry.is_dir()) for entry in found if not entry.name.startswith("."))
    for name, is_dir in entries:
        if not is_dir and name.lower().endswith(extensions):
            yield os.path.join(folder, name)
    for name, is_dir in entries:
        if is_dir:
            yield from _walk(root, os.path.join(folder, name), extensions, above | {real})
