"""What a source of image files owes to packing: a cheap list of items, as columns."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recordmill.errors import ImageError
from recordmill.types import Ragged

IMAGE_SUFFIXES = (".jpg", ".jpeg", ".png", ".bmp", ".gif", ".tif", ".tiff", ".webp")
Labels = NDArray[Any] | Ragged


@dataclass(frozen=True, eq=False, slots=True)
class Item:
    """One record to be.

    Parameters
    ----------
    path : str
        The image file.
    label : number, ndarray or None
    key : int
        The caller's id; the position in the source unless the source has ids.
    mask : str or None
        The mask file of a pair.
    extra : mapping of str to value
        Further features.
    """

    path: str
    label: Any
    key: int
    mask: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, slots=True)
class Items:
    """The items of a source as columns; indexing gives `Item` values.

    Parameters
    ----------
    names : list of str
        Image files, relative to `root` or absolute.
    keys : ndarray of int64, shape (num_items,)
    root : str
        Folder of the images; empty for names that are paths as they are.
    labels : ndarray, shape (num_items,) or (num_items, num_labels), Ragged, or None
    masks : list of str, optional
        Mask files, relative to `mask_root`.
    mask_root : str
    extra : mapping of str to ndarray or list of str
        Further features, a column each.
    origin : str, optional
        The file that the items are listed in, for messages.
    lines : sequence of int, optional
        Line of each item in `origin`.
    """

    names: list[str]
    keys: NDArray[np.int64]
    root: str = ""
    labels: Labels | None = None
    masks: list[str] | None = None
    mask_root: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)
    origin: str | None = None
    lines: Sequence[int] | None = None

    def __len__(self) -> int:
        """Return the number of items."""
        return len(self.names)

    def __getitem__(self, position: int) -> Item:
        """Return one item; a negative position counts from the end."""
        row = range(len(self))[position]
        one = self.take(np.array([row]))
        label = None if one.labels is None else one.labels[0]
        extra = {name: values[0] for name, values in one.extra.items()}
        mask = one.mask_paths()[0] if one.masks is not None else None
        return Item(one.paths()[0], label, int(one.keys[0]), mask, extra)

    def paths(self) -> list[str]:
        """Paths of the image files."""
        return _joined(self.root, self.names)

    def mask_paths(self) -> list[str]:
        """Paths of the mask files."""
        return _joined(self.mask_root, self.masks or [])

    def place(self, position: int) -> str | None:
        """Where an item is listed, in words; None if no file lists it."""
        if self.origin is None or self.lines is None:
            return None
        return f"{self.origin}, line {self.lines[position]}"

    def take(self, rows: slice | NDArray[np.integer[Any]]) -> Items:
        """Chosen items, in the order given, without their places."""
        return Items(
            names=_taken(self.names, rows),
            keys=self.keys[rows],
            root=self.root,
            labels=None if self.labels is None else take_labels(self.labels, rows),
            masks=None if self.masks is None else _taken(self.masks, rows),
            mask_root=self.mask_root,
            extra={name: _taken(values, rows) for name, values in self.extra.items()},
        )


def take_labels(labels: Labels, rows: slice | NDArray[np.integer[Any]]) -> Labels:
    """Labels of chosen items."""
    if not isinstance(labels, Ragged):
        return labels[rows]
    return labels[rows] if isinstance(rows, slice) else Ragged.from_rows([labels[row] for row in rows.tolist()])


def _taken(values: Any, rows: slice | NDArray[np.integer[Any]]) -> Any:
    if isinstance(values, list) and not isinstance(rows, slice):
        return [values[row] for row in rows.tolist()]
    return values[rows]


def _joined(root: str, names: list[str]) -> list[str]:
    if not root:
        return names
    prefix = root if root.endswith(os.sep) else root + os.sep
    return [name if name.startswith(os.sep) else prefix + name for name in names]


def refuse_impossible(names: Sequence[str], origin: str, lines: Sequence[int]) -> None:
    """Raise ImageError for the first name that no file can have."""
    if _is_possible("".join(names)):
        return
    for name, line in zip(names, lines, strict=True):
        if not _is_possible(name):
            raise ImageError(
                f"line {line} names an image as no file can be called",
                kind="bad_name",
                shard=origin,
                expected="a file name without NUL and lone surrogates",
                found=repr(name[:80]),
            )


def _is_possible(name: str) -> bool:
    try:
        return b"\0" not in os.fsencode(name)
    except UnicodeEncodeError:
        return False


def refuse_duplicates(names: Sequence[str], origin: str, lines: Sequence[int]) -> None:
    """Raise ImageError for the first name of a file that was named before."""
    if len({*names}) == len(names) and not any(map(_may_be_longer, names)):
        return
    first: dict[str, int] = {}
    for name, line in zip(names, lines, strict=True):
        normal = os.path.normpath(name)
        if normal in first:
            raise ImageError(
                f"line {line} names an image for the second time",
                kind="duplicate_name",
                shard=origin,
                expected="every image once",
                found=f"{name}, first on line {first[normal]}",
                hint="remove one of the lines, or say allow_duplicates=True if that is meant",
            )
        first[normal] = line


def _may_be_longer(name: str) -> bool:
    """Whether there may be a shorter name for the same file."""
    return "//" in name or "/." in name or name.startswith(".") or name.endswith("/")


def refuse_outside(root: str, names: Sequence[str], origin: str, lines: Sequence[int]) -> None:
    """Raise ImageError for the first name that leads out of a folder."""
    suspects = [row for row, name in enumerate(names) if name.startswith(os.sep) or ".." in name]
    if not suspects:
        return
    inside = os.path.join(os.path.abspath(root), "")
    for row in suspects:
        if not os.path.abspath(os.path.join(root, names[row])).startswith(inside):
            raise ImageError(
                f"line {lines[row]} names an image outside the folder of images",
                kind="outside_root",
                shard=origin,
                expected=f"a path inside {root}",
                found=names[row],
                hint="say allow_outside=True if that is meant",
            )


class Source(ABC):
    """A sized, indexable and picklable list of image files; read when it is first asked for.

    Subclasses are frozen dataclasses and say in `read_items` what they hold.
    """

    @abstractmethod
    def read_items(self) -> Items:
        """List what is there.

        Returns
        -------
        Items
        """

    @cached_property
    def _items(self) -> Items:
        return self.read_items()

    def rows(self) -> Items:
        """List the items; the second call costs nothing.

        Returns
        -------
        Items
        """
        return self._items

    def __len__(self) -> int:
        """Return the number of items."""
        return len(self._items)

    def __getitem__(self, position: int) -> Item:
        """Return one item."""
        return self._items[position]

    def __getstate__(self) -> dict[str, Any]:
        """Pickle what the source was made of, not what it listed."""
        return {name: value for name, value in self.__dict__.items() if name != "_items"}
