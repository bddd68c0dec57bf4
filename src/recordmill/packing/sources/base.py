"""Base classes of the sources of `pack`, which list image files, labels and further features as columns."""

from __future__ import annotations

import os
import posixpath
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote

import numpy as np
from numpy.typing import NDArray

from recordmill import _core
from recordmill.errors import ImageError, MissingInputError
from recordmill.storage.addresses import check_path, describe_path, is_address, is_web_address, redact
from recordmill.storage.base import Storage
from recordmill.storage.choose import StorageOptions, choose_storage
from recordmill.storage.local import LOCAL
from recordmill.types import Ragged

if TYPE_CHECKING:
    from recordmill.storage.object_store import ObjectInfo
    from recordmill.storage.remote import RemoteStorage

    FileInfos = list[ObjectInfo | None]

IMAGE_SUFFIXES = (".jpg", ".jpeg", ".png", ".bmp", ".gif", ".tif", ".tiff", ".webp")
Labels = NDArray[Any] | Ragged
Rows = slice | NDArray[np.integer[Any]]


class Source(ABC):
    """A sized, indexable and picklable list of image files, which is read on first use.

    Subclasses are frozen dataclasses that implement `read_items`.
    """

    storage_options: StorageOptions = None

    @abstractmethod
    def read_items(self) -> Items:
        """Read the list of items.

        Returns
        -------
        Items
        """

    @cached_property
    def _items(self) -> Items:
        return add_remote_files(self.read_items(), self.storage_options)

    def rows(self) -> Items:
        """Return all items as columns. The first call reads the source, later calls return the same object.

        Returns
        -------
        Items
        """
        return self._items

    def __len__(self) -> int:
        """Return the number of items."""
        return len(self._items)

    def __getitem__(self, position: int) -> Item:
        """Return the item at a position; a negative position counts from the end."""
        return self._items[position]

    def __repr__(self) -> str:
        """Return the arguments of the constructor, without secrets."""
        values = {each.name: getattr(self, each.name) for each in fields(self) if each.repr}  # type: ignore[arg-type]
        arguments = ", ".join(f"{name}={value!r}" for name, value in values.items())
        return redact(f"{type(self).__name__}({arguments})")

    def __getstate__(self) -> dict[str, Any]:
        """Return all attributes except the cached items. A pickled copy reads the items again."""
        return {name: value for name, value in self.__dict__.items() if name != "_items"}


@dataclass(frozen=True, eq=False, slots=True)
class Item:
    """One image file with its label.

    Parameters
    ----------
    path : str
        Path of the image file.
    label : number, ndarray or None
        Label of the image; None if the source has no labels.
    key : int
        Key of the record; the position in the source, unless the source lists keys.
    mask : str or None
        Path of the mask file; None unless the source lists pairs of image and mask.
    extra : mapping of str to value
        Further features by name.
    """

    path: str
    label: Any
    key: int
    mask: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False, slots=True)
class Items:
    """The items of a source as columns; indexing returns an `Item`.

    Parameters
    ----------
    names : list of str
        Image files, absolute or relative to `root`.
    keys : ndarray of int64, shape (num_items,)
        Keys of the records.
    root : str
        Folder that `names` are relative to; if empty, they are used as they are.
    labels : ndarray, shape (num_items,) or (num_items, num_labels), Ragged, or None
        Labels of the images.
    masks : list of str, optional
        Mask files, absolute or relative to `mask_root`.
    mask_root : str
        Folder that `masks` are relative to.
    extra : mapping of str to ndarray or list of str
        Further features, one column each.
    origin : str, optional
        File that lists the items, for error messages.
    lines : sequence of int, optional
        Line number of each item in `origin`.
    allow_outside : bool
        Whether links may lead to files outside `root` and `mask_root`.
    classes : list of str, optional
        Names of the classes, in the order of the label numbers.
    storage : Storage
        Storage of the files.
    infos, mask_infos : list of ObjectInfo or None, optional
        Only for remote files: size and version of each image and mask file; None for a file that does not exist.
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
    allow_outside: bool = True
    classes: list[str] | None = None
    storage: Storage = LOCAL
    infos: FileInfos | None = None
    mask_infos: FileInfos | None = None

    def __len__(self) -> int:
        """Return the number of items."""
        return len(self.names)

    def __getitem__(self, position: int) -> Item:
        """Return the item at a position; a negative position counts from the end."""
        row = range(len(self))[position]
        single = self.take(np.array([row]))
        label = None if single.labels is None else single.labels[0]
        extra = {name: values[0] for name, values in single.extra.items()}
        mask = single.mask_paths()[0] if single.masks is not None else None
        return Item(single.paths()[0], label, int(single.keys[0]), mask, extra)

    def paths(self) -> list[str]:
        """Return the paths of the image files.

        Returns
        -------
        list of str
        """
        return _join_paths(self.root, self.names)

    def mask_paths(self) -> list[str]:
        """Return the paths of the mask files.

        Returns
        -------
        list of str
        """
        return _join_paths(self.mask_root, self.masks or [])

    def count_fitting(self, max_bytes: int) -> tuple[int, NDArray[np.int64]]:
        """Count how many files, from the first one on, fit into `max_bytes`; also return their stamps.

        Parameters
        ----------
        max_bytes : int
            Maximum total size in bytes. A missing file counts as 0 bytes; a single file always fits.

        Returns
        -------
        count : int
        stamps : ndarray of int64, shape (count,)
            A checksum of the size and modification time of each file, or of its size and version if it is remote.
        """
        if self.infos is None:
            count, stamps = _core.count_fitting(self.paths(), max_bytes)
            return count, np.asarray(stamps)
        ends = np.cumsum([0 if info is None else info.num_bytes for info in self.infos])
        count = max(int(np.searchsorted(ends, max_bytes, side="right")), 1)
        return count, np.array(list(map(_compute_stamp, self.infos[:count])), np.int64)

    def describe_origin(self, position: int) -> str | None:
        """Return the file and the line that list an item, for error messages.

        Parameters
        ----------
        position : int
            Position of the item.

        Returns
        -------
        str or None
            Such as ``"train.lst, line 7"``; None if no file lists the items.
        """
        if self.origin is None or self.lines is None:
            return None
        return f"{self.origin}, line {self.lines[position]}"

    def take(self, rows: Rows) -> Items:
        """Return the items at the given positions. Line numbers and the storage are dropped.

        Parameters
        ----------
        rows : slice or ndarray of int
            Positions, in the order of the result.

        Returns
        -------
        Items
        """
        return Items(
            names=take_rows(self.names, rows),
            keys=self.keys[rows],
            root=self.root,
            labels=None if self.labels is None else take_rows(self.labels, rows),
            masks=None if self.masks is None else take_rows(self.masks, rows),
            mask_root=self.mask_root,
            extra={name: take_rows(values, rows) for name, values in self.extra.items()},
            allow_outside=self.allow_outside,
            infos=None if self.infos is None else take_rows(self.infos, rows),
            mask_infos=None if self.mask_infos is None else take_rows(self.mask_infos, rows),
        )


def find_source(path: str | os.PathLike[str], options: StorageOptions = None) -> tuple[str, Storage]:
    """Return the path of a source as str, and its storage; raise MissingInputError if it does not exist."""
    name = check_path(path)
    storage = choose_storage([name], options)
    exists = storage.exists(name) or is_folder(name, storage) if storage.is_remote else os.path.exists(name)
    if not exists:
        place = "" if storage.is_remote else f" and the working directory, {os.getcwd()}"
        shown, hint = describe_path(name), f"check the spelling{place}"
        raise MissingInputError(f"{shown} does not exist", kind="missing_source", shard=shown, hint=hint)
    return name, storage


def is_folder(path: str, storage: Storage) -> bool:
    """Return True for an existing folder. A remote folder exists if it contains objects."""
    return bool(storage.list_names(path)) if storage.is_remote else os.path.isdir(path)


def read_text(path: str, storage: Storage) -> str:
    """Return the content of a UTF-8 file; all line breaks become a newline character."""
    text = storage.read(path).decode("utf-8-sig")
    return text.replace("\r\n", "\n").replace("\r", "\n")


def add_remote_files(items: Items, options: StorageOptions) -> Items:
    """If the files of the items are remote, add their storage, sizes and versions."""
    start = items.root or next(iter(items.names), "")
    if not is_address(start):
        _check_same_kind(items, [] if items.root else [row for row, name in enumerate(items.names) if is_address(name)])
        return items
    paths = items.paths()
    _check_same_kind(items, [row for row, path in enumerate(paths) if not is_address(path)])
    listed = items.storage if items.storage.is_remote else choose_storage([start], options)
    find_objects = cast("RemoteStorage", listed).find_objects
    infos, mask_infos = find_objects(paths), None if items.masks is None else find_objects(items.mask_paths())
    if not any(infos):
        listed.list_names(start)  # Raises an error if the bucket does not exist.
    # A new storage contains no listings, and can therefore be sent to worker processes.
    return replace(items, storage=choose_storage([start], options), infos=infos, mask_infos=mask_infos)


def _check_same_kind(items: Items, rows: list[int]) -> None:
    """Raise ImageError if there are `rows`: positions of local paths in a list of addresses, or the reverse."""
    if not rows:
        return
    listed = items.describe_origin(rows[0])
    raise ImageError(
        f"the images are partly local and partly remote{f' ({listed})' if listed else ''}",
        kind="remote_path",
        shard=items.origin,
        expected="only addresses, or only local paths",
        found=describe_path(items.names[rows[0]]),
        hint="list the local and the remote images in two files, and pack them separately",
    )


def _compute_stamp(info: ObjectInfo | None) -> int:
    if info is None:
        return 0
    # Listings and other responses round the time differently, so it is only used without a version, in seconds.
    return _core.crc32c(f"{info.num_bytes} {info.version or info.modified_ns // 10**9}".encode())


def take_rows(values: Any, rows: Rows) -> Any:
    """Return the given rows of a column: an array, a list or a Ragged."""
    if isinstance(rows, slice) or isinstance(values, np.ndarray):
        return values[rows]
    chosen = [values[row] for row in rows.tolist()]
    return Ragged.from_rows(chosen) if isinstance(values, Ragged) else chosen


def _join_paths(root: str, names: list[str]) -> list[str]:
    if not root:
        return names
    prefix = root if root.endswith(os.sep) else root + os.sep
    if not is_address(root):
        return [name if name.startswith(os.sep) else prefix + name for name in names]
    encode = quote if is_web_address(root) else str
    return [name if name.startswith("/") or is_address(name) else _join_address(prefix, encode(name)) for name in names]


def _join_address(prefix: str, name: str) -> str:
    """Append a relative path to an address; resolve ``.``, ``..`` and empty parts, which keys do not contain."""
    address = prefix + name
    if "/." not in f"/{name}" and "//" not in name:
        return address
    scheme, _, rest = address.partition("://")
    bucket, _, key = rest.partition("/")
    return f"{scheme}://{bucket}/{posixpath.normpath(f'/{key}').lstrip('/')}"
