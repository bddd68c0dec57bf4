"""Sources of `pack`: class folders, image and mask pairs, label files, image lists and tables."""

from __future__ import annotations

import os
from typing import Literal

from recordmill.packing.sources.base import Item, Items, Source, check_exists
from recordmill.packing.sources.folders import VOC_FOLDERS, ImageFolder, ImagePairs
from recordmill.packing.sources.lists import LabelFile, ListFile, Table

__all__ = [
    "ImageFolder",
    "ImagePairs",
    "Item",
    "Items",
    "LabelFile",
    "ListFile",
    "Source",
    "Table",
    "check_exists",
    "detect_source",
    "detect_source_kind",
]

SourceKind = Literal["folder", "labels", "list", "table", "pairs"]
_KIND_OF_SUFFIX: dict[str, SourceKind] = {".lst": "list", ".csv": "table", ".tsv": "table", ".tab": "table"}


def detect_source(path: str | os.PathLike[str]) -> Source:
    """Create a source for a path: detect its kind, and use default options."""
    name = os.fspath(path)
    kind = detect_source_kind(name)
    if kind == "folder":
        return ImageFolder(name)
    if kind == "pairs":
        return ImagePairs.voc(name)
    if kind == "list":
        return ListFile(name)
    return Table(name) if kind == "table" else LabelFile(name)


def detect_source_kind(path: str | os.PathLike[str]) -> SourceKind:
    """Detect the kind of the source at a path: a folder by its subfolders, a file by its suffix or first line."""
    name = check_exists(path)
    if os.path.isdir(name):
        return "pairs" if all(os.path.isdir(os.path.join(name, part)) for part in VOC_FOLDERS) else "folder"
    return _KIND_OF_SUFFIX.get(os.path.splitext(name)[1].lower()) or _detect_text_file_kind(name)


def _detect_text_file_kind(path: str) -> SourceKind:
    with open(path, encoding="utf-8", errors="replace") as file:
        first_line = file.readline(1 << 16).lstrip("\ufeff").strip()
    fields = first_line.split("\t")
    if first_line.startswith("{") or not first_line:
        return "labels"
    if len(fields) >= 3 and fields[0].strip().isdecimal():
        return "list"
    return "table" if "," in first_line else "labels"
