"""Name the shards of a destination, and find shards of an earlier run that have other names.

A run that writes another number of shards produces other names. Old shards would then match the same glob pattern as
the new ones, so writers refuse to run beside them, or remove them with ``overwrite=True``.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from itertools import count

from recordmill.errors import OutputExistsError
from recordmill.formats.base import Format
from recordmill.shards.foreign_index import foreign_index_path
from recordmill.shards.index import ENTRY_POINTS_SUFFIX, SIDECAR_SUFFIX, cache_path, sidecar_path
from recordmill.storage.base import Storage
from recordmill.storage.local import LOCAL


def build_shard_paths(
    destination: str | os.PathLike[str], format_: Format, num_shards: int, suffix: str = ""
) -> list[str]:
    """Return the paths of the shards of a destination; `suffix` is that of the compression, such as ``.gz``."""
    prefix = _build_path_prefix(destination)
    if num_shards == 1 and _names_single_file(prefix, format_, suffix):
        return [prefix]
    pattern = format_.pattern
    return [pattern.format(prefix=prefix, shard=shard, num_shards=num_shards) + suffix for shard in range(num_shards)]


def check_leftover_shards(
    storage: Storage, destination: str | os.PathLike[str], format_: Format, suffix: str, paths: Iterable[str]
) -> None:
    """Raise OutputExistsError if the destination has shards of an earlier run that are not among `paths`."""
    for path in _find_leftover_shards(storage, destination, format_, suffix, set(paths)):
        raise OutputExistsError(
            "shards with the same prefix from a run with another number of shards exist; "
            "a glob pattern would match them and the new ones",
            shard=path,
            hint="choose another name or use overwrite=True, which removes them",
        )


def remove_leftover_shards(
    storage: Storage, destination: str | os.PathLike[str], format_: Format, suffix: str, paths: Iterable[str]
) -> None:
    """Remove shards of an earlier run that are not among `paths`, with their index files."""
    for path in list(_find_leftover_shards(storage, destination, format_, suffix, set(paths))):
        storage.remove(path)
        for index_suffix in (SIDECAR_SUFFIX, ENTRY_POINTS_SUFFIX):
            storage.remove(sidecar_path(path, index_suffix))
            LOCAL.remove(cache_path(path, index_suffix))
        if format_.index is not None:
            storage.remove(foreign_index_path(path, format_.index.suffix))


def _build_path_prefix(destination: str | os.PathLike[str]) -> str:
    """Return the common prefix of the shard paths; if `destination` is a directory, append ``part`` to it."""
    prefix = os.fspath(destination)
    return os.path.join(prefix, "part") if prefix.endswith(os.sep) or prefix in ("", ".") else prefix


def _names_single_file(prefix: str, format_: Format, suffix: str) -> bool:
    return prefix.removesuffix(suffix).endswith(format_.suffixes)


def _find_leftover_shards(
    storage: Storage, destination: str | os.PathLike[str], format_: Format, suffix: str, written: set[str]
) -> Iterator[str]:
    prefix = _build_path_prefix(destination)
    if _names_single_file(prefix, format_, suffix):
        return iter(())
    if "{num_shards" in format_.pattern:
        return _find_shards_with_other_total(storage, prefix, format_.pattern, suffix, written)
    return _find_consecutive_shards(storage, prefix, format_.pattern, suffix, len(written))


def _find_shards_with_other_total(
    storage: Storage, prefix: str, pattern: str, suffix: str, written: set[str]
) -> Iterator[str]:
    """Yield existing shards of the destination whose names contain another number of shards, as in ``-of-00008``."""
    folder, name_prefix = os.path.split(prefix)
    fixed = re.escape(pattern).replace(r"\{prefix\}", re.escape(name_prefix))
    any_numbers = re.sub(r"\\{(shard|num_shards)(:05d)?\\}", lambda _: "([0-9]+)", fixed) + re.escape(suffix)
    written_names = {os.path.basename(path) for path in written}
    for path in storage.expand(folder or "."):
        name = os.path.basename(path)
        is_in_folder = os.path.dirname(path) == (folder or ".")
        if is_in_folder and name not in written_names and re.fullmatch(any_numbers, name):
            yield os.path.join(folder, name)


def _find_consecutive_shards(storage: Storage, prefix: str, pattern: str, suffix: str, first: int) -> Iterator[str]:
    """Yield existing shards from number `first` to the first gap; later files (``coco-2017``) may be unrelated."""
    for shard in count(first):
        path = pattern.format(prefix=prefix, shard=shard) + suffix
        if not storage.exists(path):
            return
        yield path
