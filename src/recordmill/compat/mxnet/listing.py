"""Image lists as im2rec makes them: labels from folders, a fixed shuffle, chunks and parts."""

from __future__ import annotations

import argparse
import os
import random
from collections.abc import Collection, Iterator
from pathlib import Path

import recordmill as rm

# The order of a list is that of Python's generator with this seed.
_SEED = 100
Entry = tuple[int, int, str]


def find_images(root: str, exts: Collection[str], *, recursive: bool) -> list[tuple[int, str]]:
    """Label and relative path of all images of a folder."""
    if not recursive:
        return [(0, name) for name in sorted(os.listdir(root)) if _is_image(os.path.join(root, name), exts)]
    labels: dict[str, int] = {}
    found = []
    for folder, names in _walk(root, frozenset()):
        for name in names:
            path = os.path.join(folder, name)
            if _is_image(path, exts):
                found.append((labels.setdefault(folder, len(labels)), os.path.relpath(path, root)))
    for folder, label in labels.items():
        print(os.path.relpath(folder, root), label)
    return found


def _walk(folder: str, above: frozenset[str]) -> Iterator[tuple[str, list[str]]]:
    """Folders with their files, parents first, by name; a link to a folder above is left alone."""
    real = os.path.realpath(folder)
    if real in above:
        return
    entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    yield folder, [entry.name for entry in entries if not entry.is_dir()]
    for entry in entries:
        if entry.is_dir():
            yield from _walk(entry.path, above | {real})


def _is_image(path: str, exts: Collection[str]) -> bool:
    return os.path.splitext(path)[1].lower() in exts and os.path.isfile(path)


def make_lists(prefix: str, root: str, options: argparse.Namespace) -> list[str]:
    """Write the lists of a folder."""
    found = find_images(root, options.exts, recursive=options.recursive)
    entries = [(key, label, name) for key, (label, name) in enumerate(found)]
    if options.shuffle:
        random.Random(_SEED).shuffle(entries)
    length = -(-len(entries) // options.chunks)
    written = []
    for chunk in range(options.chunks):
        name = f"{prefix}_{chunk}" if options.chunks > 1 else prefix
        for part, rows in _parts(entries[chunk * length : (chunk + 1) * length], length, options):
            keys, labels, paths = zip(*rows, strict=True) if rows else ((), (), ())
            Path(f"{name}{part}.lst").write_bytes(rm.format_image_list(keys, labels, paths))
            written.append(f"{name}{part}.lst")
    return written


def _parts(entries: list[Entry], length: int, options: argparse.Namespace) -> list[tuple[str, list[Entry]]]:
    """Suffix and rows of each list; the lengths follow that of a whole chunk."""
    if options.train_ratio == 1.0:
        return [("", entries)]
    num_train, num_test = int(length * options.train_ratio), int(length * options.test_ratio)
    parts = [("_train", entries[num_test : num_test + num_train])]
    if options.test_ratio:
        parts.append(("_test", entries[:num_test]))
    if options.train_ratio + options.test_ratio < 1.0:
        parts.append(("_val", entries[num_test + num_train :]))
    return parts
