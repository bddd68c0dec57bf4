"""The job of a contender and the paths of its data. Imported in the environments of all contenders."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from benches.recipes import Sizes
from benches.tasks import TASKS, Task

# Records per item that `count_in_chunks` yields.
_CHUNK = 256
# Kinds of data that use the image files of another kind.
_FILES = {"arrays": "digits", "sorted": "digits", "big": "photos"}


@dataclass(frozen=True)
class Job:
    """One variant of a contender in one task.

    Parameters
    ----------
    task_name, contender, variant : str
    data : str
        Folder of the datasets.
    seconds : float
        Duration of the measurement, for tasks that repeat passes.
    check : bool
        Whether to compare results before the measurement.
    is_check_pass : bool
        Whether this pass is the one whose results are compared: once through all data, including a short last batch.
    """

    task_name: str
    contender: str
    variant: str
    data: str
    seconds: float
    check: bool = True
    is_check_pass: bool = False

    @property
    def task(self) -> Task:
        """Task of this job."""
        return TASKS[self.task_name]

    @property
    def shards(self) -> list[str]:
        """Paths of the TFRecord shards of the task's dataset."""
        return shards(self.data, self.task.data)

    @property
    def out(self) -> str:
        """Folder for the output of this contender and task."""
        return os.path.join(self.data, "out", f"{self.contender}-{self.task_name}")

    @property
    def delivered(self) -> str:
        """File in `out` with the colors of the delivered images."""
        return os.path.join(self.out, "delivered.npz")

    def empty_out(self) -> str:
        """Create the output folder, empty.

        Returns
        -------
        str
        """
        shutil.rmtree(self.out, ignore_errors=True)
        os.makedirs(self.out)
        return self.out

    def packed(self, suffix: str) -> str:
        """Return the path of the dataset in another format, which is converted once and kept."""
        os.makedirs(os.path.join(self.data, "packed"), exist_ok=True)
        return os.path.join(self.data, "packed", self.task.data + suffix)

    @property
    def num_records(self) -> int:
        """Number of records per batch: that of the task, or fewer for a tiny dataset."""
        return min(self.task.num_records, self.size // 2)

    @property
    def size(self) -> int:
        """Number of records of the dataset."""
        return int(getattr(Sizes.load(self.data), self.task.data))

    def rows(self) -> list[tuple[str, int]]:
        """Return path and label of each image file, in packing order."""
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
        """Return the job as JSON, for the command line of the worker."""
        return json.dumps(asdict(self))


def rows(data: str, kind: str) -> list[tuple[str, int]]:
    """Return absolute path and label of each image file, in packing order.

    Parameters
    ----------
    data : str
        Folder of the datasets.
    kind : str

    Returns
    -------
    list of (str, int)
        For "sorted", files are ordered by class and repeated.
    """
    with open(os.path.join(data, f"{_FILES.get(kind, kind)}.json"), encoding="utf-8") as file:
        found = [(os.path.join(data, path), label) for path, label in json.load(file)]
    if kind != "sorted":
        return found
    found.sort(key=lambda row: row[1])
    count = Sizes.load(data).sorted
    return [found[place * len(found) // count] for place in range(count)]


def shards(data: str, kind: str) -> list[str]:
    """Return the paths of the TFRecord shards of a dataset in order.

    Parameters
    ----------
    data : str
        Folder of the datasets.
    kind : str

    Returns
    -------
    list of str
    """
    folder = os.path.join(data, "tfrecord")
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    return [os.path.join(folder, name) for name in names if name.startswith(f"{kind}-") and name.endswith(".tfrecord")]


def count_in_chunks(records: Iterable[Any], chunk: int = _CHUNK) -> Iterator[tuple[int, None]]:
    """Iterate over records and yield their number per chunk, so that measuring costs little per record."""
    number = 0
    for _ in records:
        number += 1
        if number == chunk:
            yield number, None
            number = 0
    if number:
        yield number, None
