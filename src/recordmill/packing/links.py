"""Find files of a source that lie outside its folder because of symbolic links."""

from __future__ import annotations

import os
from collections.abc import Iterator

from recordmill.packing.sources.base import Items
from recordmill.storage.addresses import is_address

# Every cause that `find_files_outside_folder` returns starts with this text.
OUTSIDE = "the file is outside the image folder"


def find_files_outside_folder(items: Items) -> dict[int, tuple[str, str]]:
    """Return {row: (path, cause)} for the items whose files lie outside the source folder because of symbolic links."""
    if items.allow_outside:
        return {}
    masks = _find_paths_outside(items.mask_root, items.mask_paths())
    return dict(masks) | dict(_find_paths_outside(items.root, items.paths()))


def _find_paths_outside(root: str, paths: list[str]) -> Iterator[tuple[int, tuple[str, str]]]:
    if not root or is_address(root):
        return
    real_root = os.path.join(os.path.realpath(root), "")
    # Resolve each folder once, and a file only if it is a link, because resolving every file would be slow.
    is_inside: dict[str, bool] = {}
    for row, path in enumerate(paths):
        folder = path[: path.rfind(os.sep) + 1]
        if folder not in is_inside:
            is_inside[folder] = os.path.join(os.path.realpath(folder), "").startswith(real_root)
        if is_inside[folder] and not os.path.islink(path):
            continue
        real_path = os.path.realpath(path)
        if not real_path.startswith(real_root):
            yield row, (path, f"{OUTSIDE} {root}: its real path is {real_path}")
