"""Chooses the source that a path stands for."""

from __future__ import annotations

import os

from recordmill.errors import InputError
from recordmill.packing.sources.base import Source
from recordmill.packing.sources.image_folder import ImageFolder
from recordmill.packing.sources.label_file import LabelFile
from recordmill.packing.sources.list_file import ListFile
from recordmill.packing.sources.table import Table


def find_source(path: str | os.PathLike[str], root: str | os.PathLike[str] | None = None) -> Source:
    """Source that a path stands for: a folder of class folders, ``.lst``, ``.csv`` or ``.tsv``, else a label file.

    Parameters
    ----------
    path : path
    root : path, optional
        Folder that the names in the file are relative to.

    Returns
    -------
    Source

    Raises
    ------
    InputError
        Nothing is there.
    """
    name = os.fspath(path)
    if os.path.isdir(name):
        return ImageFolder(name)
    if not os.path.exists(name):
        hint = "give a folder of class folders, or a label file, .lst, .csv or .tsv"
        raise InputError("there is nothing to pack", kind="missing_source", shard=name, hint=hint)
    ending = os.path.splitext(name)[1].lower()
    if ending == ".lst":
        return ListFile(name, root=root)
    if ending in (".csv", ".tsv", ".tab"):
        return Table(name, root=root)
    return LabelFile(name, root=root)
