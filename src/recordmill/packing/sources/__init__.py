"""Sources of `pack`: class folders, image and mask pairs, label files, image lists and tables."""

from __future__ import annotations

import os
from typing import Literal

from recordmill.packing.sources.base import Item, Items, Source, find_source, is_folder
from recordmill.packing.sources.folders import VOC_FOLDERS, ImageFolder, ImagePairs
from recordmill.packing.sources.lists import LabelFile, ListFile, Table
from recordmill.storage.base import Storage
from recordmill.storage.choose import StorageOptions

__all__ = [
    "ImageFolder",
    "ImagePairs",
    "Item",
    "Items",
    "LabelFile",
    "ListFile",
    "Source",
    "Table",
    "detect_source",
    "detect_source_kind",
    "find_source",
]

SourceKind = Literal["folder", "labels", "list", "table", "pairs"]
_KIND_OF_SUFFIX: dict[str, SourceKind] = {".lst": "list", ".csv": "table", ".tsv": "table", ".tab": "table"}


def detect_source(path: str | os.PathLike[str], storage_options: StorageOptions = None) -> Source:
    """Create a source for a path: detect its kind, and use default options."""
    name = os.fspath(path)
    kind = detect_source_kind(name, storage_options)
    if kind == "folder":
        return ImageFolder(name, storage_options=storage_options)
    if kind == "pairs":
        return ImagePairs.voc(name, storage_options=storage_options)
    if kind == "list":
        return ListFile(name, storage_options=storage_options)
    source = Table if kind == "table" else LabelFile
    return source(name, storage_options=storage_options)


def detect_source_kind(path: str | os.PathLike[str], storage_options: StorageOptions = None) -> SourceKind:
    """Detect the kind of the source at a path: a folder by its subfolders, a file by its suffix or first line."""
    name, storage = find_source(path, storage_options)
    if is_folder(name, storage):
        return "pairs" if all(is_folder(f"{name.rstrip('/')}/{part}", storage) for part in VOC_FOLDERS) else "folder"
    return _KIND_OF_SUFFIX.get(os.path.splitext(name)[1].lower()) or _detect_text_file_kind(name, storage)


def _detect_text_file_kind(path: str, storage: Storage) -> SourceKind:
    source = storage.open([path])
    start = source.read(0, min(source.num_bytes or 0, 1 << 16))
    first_line = bytes(start).decode("utf-8-sig", "replace").split("\n")[0].strip()
    fields = first_line.split("\t")
    if first_line.startswith("{") or not first_line:
        return "labels"
    if len(fields) >= 3 and fields[0].strip().isdecimal():
        return "list"
    return "table" if "," in first_line else "labels"
