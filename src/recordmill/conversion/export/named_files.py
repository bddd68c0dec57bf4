"""Choose the file names of an export from the keys of the records."""

from __future__ import annotations

from recordmill.conversion.export.names import NameRegistry, find_problem
from recordmill.conversion.export.result import ExportResult
from recordmill.shards.class_names import LABELS_FILE

LABEL_LINES, LABEL_LIST = "labels.jsonl", "labels.lst"


class FileNames:
    """Chooses a safe and unique file name for each record. Reports each key that is not used as the file name.

    Parameters
    ----------
    result : ExportResult
    """

    def __init__(self, result: ExportResult) -> None:
        self._result, self._registry = result, NameRegistry()
        for name in (LABELS_FILE, LABEL_LINES, LABEL_LIST):
            self._registry.add_file(name)

    def choose_class_folders(self, classes: list[str]) -> list[str]:
        """Return one folder name per class.

        The folder has the name of the class. If that name is unsafe, or equals another name except for case, the
        folder has a name such as ``class-00012``.
        """
        folders: list[str] = []
        for number, name in enumerate(classes):
            problem = "it contains a slash" if "/" in name else find_problem(name) if name else "it is empty"
            problem = problem or self._reserve_class_folder(name, folders)
            if problem is None:
                folders.append(name)
                continue
            folder = f"class-{number:05}"
            while self._reserve_class_folder(folder, folders) is not None:
                folder += "-"
            folders.append(folder)
            self._result.add_renamed(name, folder, problem)
        return folders

    def _reserve_class_folder(self, name: str, folders: list[str]) -> str | None:
        return "another class has this name" if name in folders else self._registry.add_folder(name)

    def choose(self, folder: str, text: str, problem: str | None, suffix: str, position: int, *, join: str = "") -> str:
        """Return the file name of a record in a folder: the key, or the position if the key is empty or cannot be used.

        If `join` is not empty, it replaces dots in the key.
        """
        if text and problem is None:
            inner = text.removeprefix(f"{folder}/") if folder else text
            name = inner if inner.lower().endswith(suffix) else inner + suffix
            if join and "." in name:
                problem, name = "it contains a dot", name.replace(".", join)
            name = f"{folder}/{name}" if folder else name
            collision = self._registry.add_file(name)
            if collision is None:
                if problem is not None:
                    self._result.add_renamed(text, name, problem)
                return name
            problem = collision
        prefix = f"{folder}/" if folder else ""
        base = f"{prefix}{position:08}"
        name, attempt = base + suffix, 0
        while self._registry.add_file(name) is not None:
            attempt += 1
            name = f"{base}-{attempt}{suffix}"
        if problem is not None:
            self._result.add_renamed(text, name, problem)
        return name

    def close(self) -> None:
        """Remove the database of used names."""
        self._registry.close()
