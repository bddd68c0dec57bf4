"""File names for keys: safe on every file system, unique regardless of case, and inside the destination."""

from __future__ import annotations

import re
import sqlite3
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager

from recordmill.errors import WriteError
from recordmill.packing.sources.base import IMAGE_SUFFIXES

# Maximum length of a path component, and of a whole path, in bytes. File systems allow more (255 and 4096 bytes). The
# difference leaves room for the suffix and for the path of the destination folder.
_MAX_COMPONENT_BYTES, _MAX_BYTES = 200, 1000
_RESERVED_CHARACTERS = re.compile(r'[<>:"|?*\\]')
_RESERVED_NAMES = re.compile(r"(?:^|/)(?:CON|PRN|AUX|NUL|COM\d|LPT\d)(?:[./]|$)", re.IGNORECASE)
# Most keys have this form, which needs no further checks except for reserved names and lengths.
_PLAIN_KEY = re.compile(r"\w+(?:[.-]+\w+)*(?:/\w+(?:[.-]+\w+)*)*", re.ASCII)
# Maximum numbers of names and folders that are kept in memory.
_RECENT_NAMES = 100_000
_CACHED_FOLDERS = 20_000
_CREATE_DATABASE = (
    "PRAGMA journal_mode=OFF",
    "PRAGMA synchronous=OFF",
    "PRAGMA cache_size=-32768",
    "CREATE TABLE names (folded TEXT PRIMARY KEY, name TEXT, is_folder INTEGER) WITHOUT ROWID",
    "BEGIN",
)


def find_problem(key: str) -> str | None:
    """Return the reason why a key cannot be used as a relative path; None if the key can be used."""
    if len(key) <= _MAX_COMPONENT_BYTES and _PLAIN_KEY.fullmatch(key) and not _RESERVED_NAMES.search(key):
        return None
    if not key.isprintable():
        return "it contains an unprintable character"
    if key.startswith(("/", "\\")) or re.match(r"[A-Za-z]:", key):
        return "it is an absolute path"
    components = key.split("/")
    if ".." in components or "." in components or "" in components:
        return "it leads out of its folder, or has an empty component"
    if _RESERVED_CHARACTERS.search(key) or _RESERVED_NAMES.search(key):
        return "it contains a reserved character or name"
    if any(component[0] in ". " or component[-1] in ". " for component in components):
        return "a component begins or ends with a dot or a space"
    sizes = [len(component.encode()) for component in components]
    if max(sizes) > _MAX_COMPONENT_BYTES or sum(sizes) > _MAX_BYTES:
        return "it is too long"
    return None


def decode_key(value: object) -> tuple[str, str | None]:
    """Return a key as text, and the reason why the key cannot be used as a relative path (None if it can be used)."""
    if isinstance(value, bytes):
        try:
            text = value.decode()
        except UnicodeDecodeError:
            return value[:200].decode("utf-8", "backslashreplace"), "it is not UTF-8 text"
    elif isinstance(value, str):
        text = value
    else:
        text = str(value)
    return text, find_problem(text) if text else None


def split_suffix(name: str) -> tuple[str, str]:
    """Split the suffix of an image file from a name; the suffix is empty if there is none."""
    for suffix in IMAGE_SUFFIXES:
        if name.lower().endswith(suffix) and len(name) > len(suffix) and name[-len(suffix) - 1] != "/":
            return name[: -len(suffix)], name[-len(suffix) :]
    return name, ""


def _normalize_name(name: str) -> str:
    """Normalize a name. Names that some file systems do not distinguish have the same normalized name."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


class NameRegistry:
    """The names that an export has used. Memory is bounded: most names are kept in a temporary database."""

    def __init__(self) -> None:
        self._folders: set[str] = set()
        # The most recent names: maps the normalized name to (name, is_folder). The database contains all other names.
        self._recent: dict[str, tuple[str, bool]] = {}
        self._database: sqlite3.Connection | None = None

    def add_folder(self, name: str) -> str | None:
        """Reserve a folder name; it may be reserved again. Return None, or the reason why the name cannot be used."""
        if name in self._folders:
            return None
        problem = self._insert(name, is_folder=True)
        if problem is None:
            if len(self._folders) >= _CACHED_FOLDERS:
                self._folders.clear()
            self._folders.add(name)
        return problem

    def add_file(self, name: str) -> str | None:
        """Reserve the names of a file and its parent folders. Return None, or the reason why a name cannot be used."""
        end = name.find("/")
        while end >= 0:
            problem = self.add_folder(name[:end])
            if problem is not None:
                return problem
            end = name.find("/", end + 1)
        return self._insert(name, is_folder=False)

    def _insert(self, name: str, *, is_folder: bool) -> str | None:
        folded = name.lower() if name.isascii() else _normalize_name(name)
        entry = self._recent.get(folded) or self._find_in_database(folded)
        if entry is None:
            self._recent[folded] = name, is_folder
            if len(self._recent) >= _RECENT_NAMES:
                self._move_to_database()
            return None
        known, was_folder = entry
        if known != name:
            return f"it differs from {known!r} only in case or Unicode form"
        if is_folder and was_folder:
            return None
        return "a file has this name" if not (is_folder or was_folder) else "a file and a folder have this name"

    def _find_in_database(self, folded: str) -> tuple[str, bool] | None:
        if self._database is None:
            return None
        with self._convert_database_errors():
            query = "SELECT name, is_folder FROM names WHERE folded = ?"
            entry: tuple[str, bool] | None = self._database.execute(query, (folded,)).fetchone()
        return entry

    def _move_to_database(self) -> None:
        with self._convert_database_errors():
            if self._database is None:
                # SQLite creates the file of this database in the folder for temporary files, and removes it.
                self._database = sqlite3.connect("", isolation_level=None)
                for statement in _CREATE_DATABASE:
                    self._database.execute(statement)
            rows = ((folded, *entry) for folded, entry in self._recent.items())
            self._database.executemany("INSERT INTO names VALUES (?, ?, ?)", rows)
        self._recent = {}

    @contextmanager
    def _convert_database_errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            raise WriteError(f"cannot store the file names of the export: {error}") from error

    def close(self) -> None:
        """Close the database."""
        if self._database is not None:
            self._database.close()
