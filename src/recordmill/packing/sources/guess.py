"""Chooses the source that a path stands for."""

from __future__ import annotations

import os
from typing import Literal

from recordmill.errors import InputError
from recordmill.packing.sources.base import Source
from recordmill.packing.sources.image_folder import ImageFolder
from recordmill.packing.sources.image_pairs import VOC_FOLDERS, ImagePairs
from recordmill.packing.sources.label_file import LabelFile
from recordmill.packing.sources.list_file import ListFile
from recordmill.packing.sources.table import Table

SourceKind = Literal["folder", "labels", "list", "table", "pairs"]
_ENDINGS: dict[str, SourceKind] = {".lst": "list", ".csv": "table", ".tsv": "table", ".tab": "table"}


def find_kind(path: str | os.PathLike[str]) -> SourceKind:
    """Tell the kind of a source from what is there."""
    name = os.fspath(path)
    if os.path.isdir(name):
        return "pairs" if all(os.path.isdir(os.path.join(name, part)) for part in VOC_FOLDERS) else "folder"
    if not os.path.exists(name):
        hint = "give a folder of class folders, or a label file, .lst, .csv or .tsv"
        raise InputError("there is nothing to pack", kind="missing_source", shard=name, hint=hint)
    return _ENDINGS.get(os.path.splitext(name)[1].lower()) or _kind_of_text(name)


def _kind_of_text(path: str) -> SourceKind:
    """Tell label file, list and table apart by the first line."""
    with open(path, encoding="utf-8", errors="replace") as file:
        first = file.readline(1 << 16).lstrip("\ufeff").strip()
    fields = first.split("\t")
    if first.startswith("{") or not first:
        return "labels"
    if len(fields) >= 3 and fields[0].strip().isdecimal():
        return "list"
    return "table" if "," in first else "labels"


def find_source(path: str | os.PathLike[str], root: str | os.PathLike[str] | None = None) -> Source:
    """Return the source for a path: class folders, a VOC layout, an image list, a table or a label file."""
    name = os.fspath(path)
    kind = find_kind(name)
    if kind == "folder":
        return ImageFolder(name)
    if kind == "pairs":
        return ImagePairs.voc(name)
    if kind == "list":
        return ListFile(name, root=root)
    return Table(name, root=root) if kind == "table" else LabelFile(name, root=root)
