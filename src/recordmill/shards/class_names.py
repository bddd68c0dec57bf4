"""Class names of a dataset: stored by the writer, or listed in the file ``labels.txt`` beside the shards."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence

from recordmill.storage.base import Storage

# Name of the file with one class name per line, in the order of the label numbers.
LABELS_FILE = "labels.txt"
# Files with more bytes than this are ignored, because they are too large for a list of class names.
_MAX_BYTES = 16 << 20
_NUMBERED_LINE = re.compile(r"(\d+):(.*)", re.DOTALL)


def find_classes(
    storage: Storage,
    paths: Sequence[str],
    from_manifests: list[str] | None,
    from_indexes: Iterable[list[str] | None],
) -> list[str] | None:
    """Return class names of a dataset. Search the manifest first, then the indexes, then ``labels.txt``."""
    if from_manifests is not None:
        return from_manifests
    stored = list(from_indexes)
    if stored and stored[0] is not None and all(names == stored[0] for names in stored):
        return stored[0]
    folders = {os.path.dirname(path) for path in paths}
    if any(names is not None for names in stored) or len(folders) != 1:
        return None
    return read_labels_file(storage, os.path.join(folders.pop(), LABELS_FILE))


def read_labels_file(storage: Storage, path: str) -> list[str] | None:
    """Read class names from a file; return None if it does not exist or does not contain class names."""
    try:
        if storage.stat(path).num_bytes > _MAX_BYTES:
            return None
        return parse_labels(storage.read(path))
    except OSError:
        return None


def parse_labels(data: bytes) -> list[str] | None:
    """Parse lines with one class name each, or ``number:name`` lines as in TF-Slim; return None for other content."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
    lines = [line.strip() for line in text.split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    # Lines with JSON objects, or with tabs (an image list), describe single images. They are not class names.
    if not lines or not all(lines) or any("\t" in line or line.startswith("{") for line in lines):
        return None
    matches = [_NUMBERED_LINE.fullmatch(line) for line in lines]
    numbered = {int(match[1]): match[2] for match in matches if match is not None and len(match[1]) < 10}
    if sorted(numbered) == list(range(len(lines))):
        return [numbered[number] for number in range(len(lines))]
    return lines


def format_labels(classes: Sequence[str]) -> bytes | None:
    """Return the content of a ``labels.txt`` file; None if `parse_labels` would not return the same class names."""
    lists = (classes, [f"{number}:{name}" for number, name in enumerate(classes)])
    for lines in lists:
        data = "".join(f"{line}\n" for line in lines).encode("utf-8", "replace")
        if parse_labels(data) == list(classes):
            return data
    return None
