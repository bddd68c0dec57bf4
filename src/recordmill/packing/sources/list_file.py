"""MXNet's image list (``.lst``) and the folder that its paths are relative to."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from recordmill.formats.recordio.lst import read_image_list
from recordmill.packing.sources.base import Items, Source, refuse_duplicates, refuse_impossible, refuse_outside


@dataclass(frozen=True)
class ListFile(Source):
    """Images of a ``.lst`` file; its index is the key of each record, several labels make a vector.

    Parameters
    ----------
    path : path
    root : path, optional
        Folder that the paths are relative to; the list's own by default.
    allow_outside : bool
        Whether paths may lead out of `root`.
    allow_duplicates : bool
        Whether a file may be named more than once.

    Raises
    ------
    LabelError
        When the items are listed: a line without index, labels and path.
    ImageError
        When the items are listed: a path that is there twice, or leads out of the folder.
    """

    path: str | os.PathLike[str]
    root: str | os.PathLike[str] | None = None
    allow_outside: bool = False
    allow_duplicates: bool = False

    def read_items(self) -> Items:
        """List the images in the order of the file."""
        origin = os.fspath(self.path)
        found = read_image_list(Path(origin).read_bytes(), origin)
        root = (os.path.dirname(origin) or os.curdir) if self.root is None else os.fspath(self.root)
        refuse_impossible(found.names, origin, found.lines)
        if not self.allow_duplicates:
            refuse_duplicates(found.names, origin, found.lines)
        if not self.allow_outside:
            refuse_outside(root, found.names, origin, found.lines)
        return Items(found.names, found.keys, root, found.labels, origin=origin, lines=found.lines)
