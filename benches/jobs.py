"""What a contender is asked to do, and where its data lie; runs in every contender's environment."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from benches.recipes import Sizes
from benches.tasks import TASKS, Task

# Single records per element of `counted`.
_CHUNK = 256
# Kinds of data whose image files are those of another kind.
_FILES = {"arrays": "digits", "sorted": "digits", "big": "photos"}


@dataclass(frozen=True)
class Job:
    """One contender at one task.

    Parameters
    ----------
    task_name, contender, variant : str
    data : str
        Folder of the data sets.
    seconds : float
        How long to measure, for tasks that are measured by time.
    check : bool
        Whether results are compared before the time is taken.
    checking : bool
        Whether this is the pass whose results are compared: once through all data, the last short batch included.
    """

    task_name: str
    contender: str
    variant: str
    data: str
    seconds: float
    check: bool = True
    checking: bool = False

    @property
    def task(self) -> Task:
        """The task."""
        return TASKS[self.task_name]

    @property
    def shards(self) -> list[str]:
        """TFRecord shards of the task's data set."""
        return shards(self.data, self.task.data)

    @property
    def out(self) -> str:
        """Folder for what is written; nobody else's."""
        return os.path.join(self.data, "out", f"{self.contender}-{self.task_name}")

    @property
    def delivered(self) -> str:
        """File in `out` that says what delivered images look like."""
        return os.path.join(self.out, "delivered.npz")

    def empty_out(self) -> str:
        """Make the folder for what is written anew.

        Returns
        -------
        str
        """
        shutil.rmtree(self.out, ignore_errors=True)
        os.makedirs(self.out)
        return self.out

    def packed(self, suffix: str) -> str:
        """Path of the data set in another format, converted once and kept."""
        os.makedirs(os.path.join(self.data, "packed"), exist_ok=True)
        return os.path.join(self.data, "packed", self.task.data + suffix)

    @property
    def num_records(self) -> int:
        """Records per batch: those of the task, fewer where the data set is tiny."""
        return min(self.task.num_records, self.size // 2)

    @property
    def size(self) -> int:
        """Records of the data set."""
        return int(getattr(Sizes.load(self.data), self.task.data))

    def rows(self) -> list[tuple[str, int]]:
        """Absolute path and label of each image file, in packing order."""
        return rows(self.data, self.task.data)

    @property
    def list_file(self) -> str:
        """Path of the photographs as an MXNet list file."""
        return os.path.join(self.data, "packed", "photos.lst")

    def write_list_file(self) -> None:
        """Write the photographs as an MXNet list file."""
        os.makedirs(os.path.dirname(self.list_file), exist_ok=True)
        with open(f"{self.list_file}.part", "w", encoding="utf-8") as file:
            file.writelines(
                f"{number}\t{float(label)}\t{os.path.relpath(name, self.data)}\n"
                for number, (name, label) in enumerate(self.rows())
            )
        os.replace(f"{self.list_file}.part", self.list_file)

    def to_json(self) -> str:
        """Text form, for the command line of the worker."""
        return json.dumps(asdict(self))


def rows(data: str, kind: str) -> list[tuple[str, int]]:
    """Absolute path and label of each image file, in packing order.

    Parameters
    ----------
    data : str
        Folder of the data sets.
    kind : str

    Returns
    -------
    list of (str, int)
        Of the sorted ones, class by class, each several times.
    """
    with open(os.path.join(data, f"{_FILES.get(kind, kind)}.json"), encoding="utf-8") as file:
        found = [(os.path.join(data, path), label) for path, label in json.load(file)]
    if kind != "sorted":
        return found
    found.sort(key=lambda row: row[1])
    count = Sizes.load(data).sorted
    return [found[place * len(found) // count] for place in range(count)]


def shards(data: str, kind: str) -> list[str]:
    """TFRecord shards of a data set in order.

    Parameters
    ----------
    data : str
        Folder of the data sets.
    kind : str

    Returns
    -------
    list of str
    """
    folder = os.path.join(data, "tfrecord")
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    return [os.path.join(folder, name) for name in names if name.startswith(f"{kind}-") and name.endswith(".tfrecord")]


def counted(records: Iterable[Any], chunk: int = _CHUNK) -> Iterator[tuple[int, None]]:
    """Count single records, so that whoever measures is called once per chunk and not per record."""
    number = 0
    for _ in records:
        number += 1
        if number == chunk:
            yield number, None
            number = 0
    if number:
        yield number, None
