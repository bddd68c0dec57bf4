"""Build and parse the names of shards, and of the hidden files that belong to a dataset.

A destination, such as ``out/train``, is the prefix of all shard names. The manifest, the lock, the journal and the
progress file of a run are hidden files in the same folder. Their names begin with the last part of the prefix.
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count

from recordmill.errors import OutputExistsError
from recordmill.formats.base import Format
from recordmill.formats.registry import FORMATS
from recordmill.storage.addresses import is_address
from recordmill.storage.base import Storage
from recordmill.storage.compression import SUFFIXES

MANIFEST_SUFFIX = ".manifest.json"
JOURNAL_SUFFIX = ".journal.json"
LOCK_SUFFIX = ".lock"
PROGRESS_SUFFIX = ".progress.jsonl"
# Suffixes of the files that `plan_pack` writes for a plan. These files have temporary names, so that the next writer
# removes them if the plan is abandoned.
PARTS_SUFFIX = ".parts"
PART_SUFFIX = ".part"
_DATASET_SUFFIXES = (MANIFEST_SUFFIX, JOURNAL_SUFFIX, LOCK_SUFFIX, PROGRESS_SUFFIX, PARTS_SUFFIX, PART_SUFFIX)
# Names of temporary files, see `LocalOutputFile`.
_TEMPORARY_NAME = re.compile(r"\.(?P<name>.+)\.tmp-[0-9a-f]+")
# Names such as ``train-00002-of-00004.tfrecord`` and ``train.tfrecord-00002-of-00004``.
_COUNTED_NAME = re.compile(r"(?P<prefix>.*)-(?P<shard>[0-9]+)-of-(?P<total>[0-9]+)(?P<suffix>[^0-9].*|)")
_NUMBERED_NAME = re.compile(r"(?P<prefix>.*)-(?P<shard>[0-9]+)")
# Maximum shard count in a name; the count in ``train-00002-of-00004`` is 4. Names with a larger count are ignored, so
# that the list of missing shards cannot fill the memory.
_MAX_TOTAL = 1_000_000


def build_path_prefix(destination: str | os.PathLike[str]) -> str:
    """Return the common prefix of the shard paths; if `destination` is a directory, append ``part`` to it."""
    prefix = os.fspath(destination)
    is_bucket = is_address(prefix) and "/" not in prefix.partition("://")[2]
    return os.path.join(prefix, "part") if prefix.endswith(os.sep) or prefix in ("", ".") or is_bucket else prefix


def dataset_file_path(prefix: str, suffix: str) -> str:
    """Return the path of a hidden file that belongs to the dataset with this path prefix."""
    folder, name = os.path.split(prefix)
    return os.path.join(folder, f".{name}{suffix}")


def build_shard_paths(
    destination: str | os.PathLike[str], format_: Format, num_shards: int, suffix: str = ""
) -> list[str]:
    """Return the paths of the shards of a destination; `suffix` is the compression suffix, such as ``.gz``."""
    prefix = build_path_prefix(destination)
    return [build_shard_path(prefix, format_, shard, num_shards, suffix) for shard in range(num_shards)]


def build_shard_path(prefix: str, format_: Format, shard: int, num_shards: int, suffix: str = "") -> str:
    """Return the path of one shard; `prefix` is a result of `build_path_prefix`."""
    if num_shards == 1 and _is_single_file_name(prefix, format_, suffix):
        return prefix
    return format_.pattern.format(prefix=prefix, shard=shard, num_shards=num_shards) + suffix


def check_leftover_shards(
    storage: Storage, destination: str | os.PathLike[str], format_: Format, suffix: str, paths: Iterable[str]
) -> None:
    """Raise OutputExistsError if the destination has shards of an earlier run that are not among `paths`."""
    for path in find_leftover_shards(storage, destination, format_, suffix, paths):
        raise OutputExistsError(
            "the destination has shards of an earlier run with a different number of shards; "
            "a glob pattern would match the old and the new shards",
            shard=path,
            hint="choose another name or use overwrite=True to remove the old shards",
        )


def find_leftover_shards(
    storage: Storage, destination: str | os.PathLike[str], format_: Format, suffix: str, paths: Iterable[str]
) -> list[str]:
    """Find shards of an earlier run to the same destination that are not among `paths`.

    If a run writes a different number of shards, it does not replace all old shards. A glob pattern would match the
    old and the new shards, so writers raise an error, or remove the old shards with ``overwrite=True``.
    """
    written, prefix = set(paths), build_path_prefix(destination)
    if _is_single_file_name(prefix, format_, suffix):
        return []
    if "{num_shards" in format_.pattern:
        return list(_find_shards_with_other_total(storage, prefix, format_.pattern, suffix, written))
    return list(_find_consecutive_shards(storage, prefix, format_.pattern, suffix, len(written)))


def _is_single_file_name(prefix: str, format_: Format, suffix: str) -> bool:
    return prefix.removesuffix(suffix).endswith(format_.suffixes)


def _find_shards_with_other_total(
    storage: Storage, prefix: str, pattern: str, suffix: str, written: set[str]
) -> Iterator[str]:
    """Yield the shards of an earlier run that wrote a different number of shards to the destination."""
    folder, name_prefix = os.path.split(prefix)
    any_numbers = _compile_pattern(pattern, re.escape(name_prefix), suffix)
    written_names = {os.path.basename(path) for path in written}
    for path in storage.expand(folder or "."):
        name = os.path.basename(path)
        is_in_folder = os.path.dirname(path) == (folder or ".")
        if is_in_folder and name not in written_names and any_numbers.fullmatch(name):
            yield os.path.join(folder, name)


def _compile_pattern(pattern: str, prefix: str, suffix: str) -> re.Pattern[str]:
    """Compile a regular expression that matches shard names with any numbers. `prefix` is a regular expression, too."""
    fixed = re.escape(pattern).replace(r"\{prefix\}", prefix)
    return re.compile(re.sub(r"\\{(shard|num_shards)(:05d)?\\}", lambda _: "[0-9]+", fixed) + re.escape(suffix))


def _find_consecutive_shards(storage: Storage, prefix: str, pattern: str, suffix: str, first: int) -> Iterator[str]:
    """Yield the shards from number `first` up to the first missing shard.

    A file with a larger number, such as ``coco-2017``, may not be a shard.
    """
    for shard in count(first):
        path = pattern.format(prefix=prefix, shard=shard) + suffix
        if not storage.exists(path):
            return
        yield path


def is_name_of_dataset(name: str, prefix_name: str) -> bool:
    """Return True if a file name (without folder) may belong to a shard with this prefix."""
    match = _COUNTED_NAME.fullmatch(name)
    if match is not None and match["prefix"] == prefix_name:
        return True
    patterns = [(format_.pattern, suffix) for format_ in FORMATS.values() for suffix in SUFFIXES.values()]
    return name == prefix_name or any(
        _compile_pattern(pattern, re.escape(prefix_name), suffix).fullmatch(name) for pattern, suffix in patterns
    )


def find_temporary_files(storage: Storage, prefix: str) -> list[str]:
    """Find the temporary files that writers of the dataset with this path prefix have created."""
    folder, prefix_name = os.path.split(prefix)
    names = [name for name in storage.list_names(folder) if ".tmp-" in name]
    return [os.path.join(folder, name) for name in names if _is_temporary_file_of(name, prefix_name)]


def _is_temporary_file_of(name: str, prefix_name: str) -> bool:
    match = _TEMPORARY_NAME.fullmatch(name)
    if match is None:
        return False
    final = match["name"]
    if final in {f".{prefix_name}{suffix}" for suffix in _DATASET_SUFFIXES}:
        return True
    # A `PART_SUFFIX` file has a temporary name. While the file is written, its name gets a second temporary suffix.
    if _is_temporary_file_of(final, prefix_name):
        return True
    # The name of a sidecar is the name of the shard between a dot and an additional suffix, as in ``.train.rec.rmx``.
    candidates = {final, os.path.splitext(final.removeprefix("."))[0]}
    candidates |= {os.path.splitext(final)[0] + suffix for format_ in FORMATS.values() for suffix in format_.suffixes}
    return any(is_name_of_dataset(candidate, prefix_name) for candidate in candidates)


def find_possible_prefixes(path: str) -> list[str]:
    """Return the path prefixes of the datasets to which a shard may belong, judging by its name."""
    folder, name = os.path.split(path)
    matches = [pattern.fullmatch(name) for pattern in (_COUNTED_NAME, _NUMBERED_NAME)]
    return [path, *(os.path.join(folder, match["prefix"]) for match in matches if match is not None)]


@dataclass(frozen=True, slots=True)
class CountedShards:
    """Shards of one folder whose names contain the same prefix and the same total number of shards.

    Parameters
    ----------
    paths : list of str
        Existing shards.
    missing : list of str
        Paths of the shards that do not exist, although they are part of the total in the names.
    key : tuple of str
        Folder, prefix and suffix, which all shards of one dataset share.
    """

    paths: list[str]
    missing: list[str]
    key: tuple[str, str, str]


def count_shards(paths: Iterable[str]) -> list[CountedShards]:
    """Group shards that have names such as ``train-00002-of-00004``, and list the missing shards of each group."""
    groups: dict[tuple[str, str, str, str], dict[int, str]] = defaultdict(dict)
    for path in paths:
        folder, name = os.path.split(path)
        match = _COUNTED_NAME.fullmatch(name)
        if match is not None and 0 < int(match["total"]) <= _MAX_TOTAL:
            groups[folder, match["prefix"], match["suffix"], match["total"]][int(match["shard"])] = path
    counted = []
    for (folder, prefix, suffix, total), shards in groups.items():
        first = 1 if int(total) in shards else 0  # Some programs number their shards from 1.
        width = len(os.path.basename(next(iter(shards.values()))).removeprefix(f"{prefix}-").partition("-of-")[0])
        missing = [
            os.path.join(folder, f"{prefix}-{number:0{width}d}-of-{total}{suffix}")
            for number in range(first, first + int(total))
            if number not in shards
        ]
        counted.append(CountedShards(list(shards.values()), missing, (folder, prefix, suffix)))
    return counted
