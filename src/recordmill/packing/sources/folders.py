"""Sources that list folders: images in class folders, and pairs of image and mask."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Literal, Self

import numpy as np

from recordmill.errors import ImageError, InputError, LabelError
from recordmill.packing.sources.base import IMAGE_SUFFIXES, Items, Source, check_exists
from recordmill.suggestions import suggest_constructor_arguments

# Names of the image folder and the mask folder in a Pascal VOC dataset.
VOC_FOLDERS = ("JPEGImages", "SegmentationClass")


def check_folder(path: str | os.PathLike[str]) -> str:
    """Return the path of an image folder as str; raise an error if it does not exist or is a file."""
    name = check_exists(path)
    if not os.path.isdir(name):
        raise InputError(f"{name} is a file, expected a folder of images", kind="missing_folder", shard=name)
    return name


@suggest_constructor_arguments
@dataclass(frozen=True)
class ImageFolder(Source):
    """Images in class folders: the folder directly below the root determines the label.

    Folders and files are sorted by code point; the label of class folder ``i`` is ``i``. Nested folders belong to
    their class folder. Hidden files and folders are ignored. Symbolic links are followed, but each class folder lists a
    folder only once. A link to the root, or to a folder that contains the root, is ignored.

    Parameters
    ----------
    root : path
        Folder that contains the class folders.
    labels : str or None
        "folders" derives labels from the class folders. None lists all images below the root, without labels.
    classes : sequence of str, optional
        Names of the class folders in the order of their labels; by default the sorted class folders. Pass the same
        names for all splits of a dataset.
    extensions : sequence of str
        Suffixes of image files, matched without regard to case.
    allow_outside : bool
        Whether links may lead to files outside `root`.

    Raises
    ------
    LabelError
        When the items are listed: an image is outside the class folders, a class folder has no images, or `classes`
        does not contain a folder.
    MissingInputError
        When the items are listed: the folder does not exist.
    InputError
        When the items are listed: the folder contains no images.

    Examples
    --------
    >>> rm.ImageFolder("photos").classes  # doctest: +SKIP
    ['cat', 'dog']
    """

    root: str | os.PathLike[str]
    labels: Literal["folders"] | None = "folders"
    class_names: Sequence[str] | None = None
    extensions: Sequence[str] = IMAGE_SUFFIXES
    allow_outside: bool = False

    # `dataclass` does not generate this method, because the argument `classes` is stored as `class_names`: `classes` is
    # a property.
    def __init__(
        self,
        root: str | os.PathLike[str],
        *,
        labels: Literal["folders"] | None = "folders",
        classes: Sequence[str] | None = None,
        extensions: Sequence[str] = IMAGE_SUFFIXES,
        allow_outside: bool = False,
    ) -> None:
        if labels not in ("folders", None):
            raise ValueError(f"labels must be 'folders' or None, got {labels!r}")
        values = {
            "root": os.fspath(root),
            "labels": labels,
            "class_names": None if classes is None else tuple(classes),
            "extensions": tuple(extension.lower() for extension in extensions),
            "allow_outside": allow_outside,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def classes(self) -> list[str]:
        """Class names; the position of a name is its label."""
        if self.class_names is not None:
            return list(self.class_names)
        return [] if self.labels is None else _list_class_folders(check_folder(self.root))

    def read_items(self) -> Items:
        """List the images, class by class.

        Returns
        -------
        Items
        """
        root = check_folder(self.root)
        links: list[str] = []
        names = list(_walk_images(root, "", tuple(self.extensions), set(), links))
        if not names:
            suffixes = " ".join(self.extensions)
            raise InputError(
                "the folder contains no images", kind="no_images", shard=root, expected=suffixes, found="none"
            )
        keys, allow_outside = np.arange(len(names)), self.allow_outside or not links
        if self.labels is None:
            return Items(names, keys, root, allow_outside=allow_outside)
        labels = np.array(self._find_labels(names), np.int64)
        return Items(names, keys, root, labels, allow_outside=allow_outside, classes=self.classes)

    def _find_labels(self, names: list[str]) -> list[int]:
        root = os.fspath(self.root)
        classes = self.classes
        label_of = {name: label for label, name in enumerate(classes)}
        labels = []
        for name in names:
            folder, _, rest = name.partition(os.sep)
            if not rest:
                raise LabelError(
                    "the image is outside the class folders",
                    kind="missing_label",
                    shard=os.path.join(root, name),
                    hint="move the image into a class folder, or pass labels=None",
                )
            if folder not in label_of:
                raise LabelError(
                    "the folder is not one of the classes",
                    kind="unknown_label",
                    shard=os.path.join(root, folder),
                    expected=", ".join(classes),
                    found=folder,
                )
            labels.append(label_of[folder])
        if self.class_names is None:
            self._check_no_empty_class(classes, set(labels))
        return labels

    def _check_no_empty_class(self, classes: list[str], present: set[int]) -> None:
        for label, folder in enumerate(classes):
            if label not in present:
                raise LabelError(
                    "the class folder contains no images",
                    kind="empty_class",
                    shard=os.path.join(os.fspath(self.root), folder),
                    hint="remove the folder, or list the classes with classes=[...]",
                )


def _list_class_folders(root: str) -> list[str]:
    entries = _list_entries(root)
    return [entry.name for entry in entries if _is_folder(entry) and not _contains_folder(entry.path, root)]


def _list_entries(folder: str) -> list[os.DirEntry[str]]:
    """List the visible entries of a folder, sorted by the code points of their names."""
    with os.scandir(folder) as entries:
        return sorted((entry for entry in entries if not entry.name.startswith(".")), key=attrgetter("name"))


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError as error:
        if error.errno != errno.ELOOP:  # ELOOP: a symbolic link leads to itself.
            raise
        return False


def _contains_folder(folder: str, other: str) -> bool:
    """Return True if `other` is the same folder as `folder`, or lies inside `folder`."""
    return os.path.join(os.path.realpath(other), "").startswith(os.path.join(os.path.realpath(folder), ""))


def _walk_images(
    root: str, folder: str, extensions: tuple[str, ...], visited: set[str], links: list[str]
) -> Iterator[str]:
    """Yield image names relative to the root: the files of a folder, then those of its subfolders.

    Links can form loops and lead to a folder several times, so a folder whose real path was visited is skipped. The
    paths of links are added to `links`.
    """
    path = os.path.join(root, folder)
    real_path = os.path.realpath(path)
    if real_path in visited or (folder and _contains_folder(real_path, root)):
        return
    visited.add(real_path)
    subfolders = []
    for entry in _list_entries(path):
        if entry.is_symlink():
            links.append(entry.path)
        name = os.path.join(folder, entry.name)
        if _is_folder(entry):
            subfolders.append(name)
        elif entry.name.lower().endswith(extensions):
            yield name
    for name in subfolders:
        yield from _walk_images(root, name, extensions, visited if folder else set(), links)


@suggest_constructor_arguments
@dataclass(frozen=True)
class ImagePairs(Source):
    """Pairs of an image and a label mask from two folders, matched by file stem.

    Parameters
    ----------
    images, masks : path
        Folders of the images and of the masks.
    names : path, optional
        Text file with one stem per line, which selects and orders the pairs. By default all files are used, sorted
        by stem, and every image needs a mask and every mask an image.
    mask_ending : str
        Text between the stem and the suffix of a mask file, such as ``_mask``.
    extensions : sequence of str
        Suffixes of image and mask files, matched without regard to case.
    allow_outside : bool
        Whether links may lead to files outside `images` and `masks`.

    Raises
    ------
    ImageError
        When the items are listed: an image or mask is missing, or two files have the same stem.
    MissingInputError
        When the items are listed: a folder or the list of stems does not exist.
    InputError
        When the items are listed: there are no pairs.

    Examples
    --------
    >>> rm.ImagePairs.voc("VOCdevkit/VOC2012", "train")  # doctest: +SKIP
    """

    images: str | os.PathLike[str]
    masks: str | os.PathLike[str]
    names: str | os.PathLike[str] | None = None
    mask_ending: str = ""
    extensions: Sequence[str] = IMAGE_SUFFIXES
    allow_outside: bool = False

    @classmethod
    def voc(cls, root: str | os.PathLike[str], image_set: str = "train", *, allow_outside: bool = False) -> Self:
        """Return the segmentation pairs of a Pascal VOC dataset.

        Parameters
        ----------
        root : path
            Folder that contains ``JPEGImages``, ``SegmentationClass`` and ``ImageSets/Segmentation``.
        image_set : str
            Name of a list in ``ImageSets/Segmentation``: ``train``, ``val``, ``trainval`` or another one.
        allow_outside : bool
            Whether links may lead to files outside the folders of images and masks.

        Returns
        -------
        ImagePairs
        """
        folder = os.fspath(root)
        names = os.path.join(folder, "ImageSets", "Segmentation", image_set + ".txt")
        images, masks = (os.path.join(folder, name) for name in VOC_FOLDERS)
        return cls(images, masks, names, allow_outside=allow_outside)

    def read_items(self) -> Items:
        """List the pairs.

        Returns
        -------
        Items
        """
        images, masks = check_folder(self.images), check_folder(self.masks)
        image_of = _list_stems(images, self.extensions, "")
        mask_of = _list_stems(masks, self.extensions, self.mask_ending)
        if self.names is None:
            stems, lines, origin = sorted(image_of.keys() | mask_of.keys()), None, None
        else:
            origin = check_exists(self.names)
            stems, lines = _read_stems(origin)
        if not stems:
            raise InputError("there are no pairs of image and mask", kind="no_images", shard=origin or images)
        for row, stem in enumerate(stems):
            listed = f"{origin}, line {lines[row]}" if lines is not None else None
            _check_has_partner(stem, image_of, images, "image", listed)
            _check_has_partner(stem, mask_of, masks, "mask", listed)
        return Items(
            [image_of[stem] for stem in stems],
            np.arange(len(stems)),
            images,
            masks=[mask_of[stem] for stem in stems],
            mask_root=masks,
            origin=origin,
            lines=lines,
            allow_outside=self.allow_outside,
        )


def _list_stems(folder: str, extensions: Sequence[str], ending: str) -> dict[str, str]:
    """Map the stem of each image file in a folder, without `ending`, to the file name."""
    suffixes = tuple(extension.lower() for extension in extensions)
    name_of: dict[str, str] = {}
    for name in sorted(os.listdir(folder)):
        stem = os.path.splitext(name)[0]
        if name.startswith(".") or not name.lower().endswith(suffixes) or not stem.endswith(ending):
            continue
        stem = stem.removesuffix(ending)
        if stem in name_of:
            raise ImageError(
                "two files have the same stem",
                kind="duplicate_name",
                shard=os.path.join(folder, name),
                expected="one file per stem",
                found=name_of[stem],
                hint='select one file type with extensions=[".png"]',
            )
        name_of[stem] = name
    return name_of


def _read_stems(path: str) -> tuple[list[str], list[int]]:
    """Read a text file of file stems, one per line; return the stems and their line numbers."""
    try:
        text = Path(path).read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError("the list of names must be UTF-8 text", kind="bad_list_line", shard=path) from None
    numbered = [(line.strip(), number) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    return [stem for stem, _ in numbered], [number for _, number in numbered]


def _check_has_partner(
    stem: str, name_of: Mapping[str, str], folder: str, role: Literal["image", "mask"], listed: str | None
) -> None:
    if stem in name_of:
        return
    partner = "mask" if role == "image" else "image"
    context = f" ({listed})" if listed else f", but its {partner} exists"
    raise ImageError(
        f"the {role} of {stem!r} is missing{context}",
        kind="missing_partner",
        shard=folder,
        expected=f"a file {stem}.*",
        found="none",
        hint="list the complete pairs in a text file, and pass the file as names=...",
    )
