"""What a task is, and what can be demanded of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

# "pack": one run from call to end. "pass": passes over the data until the time is up. "value": figures of one run.
# "start": from the start of the process to the first batch, and the memory of it.
Measure = Literal["pack", "pass", "value", "start"]
# What is compared before figures count: records as bytes, columns of numbers, exact pixels, likeness to the sources'
# centers, or what random crops have in common with their sources; "twin": exact pixels, with those of the framework
# that the program was written for.
Compare = Literal["", "payloads", "columns", "records", "pixels", "center", "crops", "twin"]
# What is made of an image: a random-resized crop, mirrored at random, of normalized float32 or of uint8; a center crop,
# normalized; a digit as float32 from 0 to 1, from a PNG or from the bytes of an array, or by a function of NumPy calls.
Recipe = Literal["", "crop", "crop-uint8", "center", "digit", "array", "function"]


@dataclass(frozen=True)
class Ratio:
    """Our rate is at least `factor` times the best rate among the variants of a peer ("" for every peer).

    Parameters
    ----------
    peer : str
        "ours" compares two variants of our own.
    factor : float
    ours : str
        Our variant; the best one by default.
    theirs : str
        The peer's variant; the best one by default.
    """

    peer: str
    factor: float
    ours: str = ""
    theirs: str = ""


@dataclass(frozen=True)
class Bound:
    """A figure of each of our variants is at least, or at most, `value`."""

    figure: str
    least: bool
    value: float
    unit: str


@dataclass(frozen=True)
class Task:
    """One thing that is measured.

    Parameters
    ----------
    name : str
    title : str
    measure : {"pack", "pass", "value", "start"}
    data : str
        Kind of the data set.
    num_records : int
        Records per batch.
    goals : tuple of Ratio or Bound
    limit : tuple of str
        Variants of the contender `limits` that bound the task: the times of those with one thread add up.
    also : tuple of str
        Data sets that are needed too.
    compare : str
        How what is delivered is compared.
    recipe : str
        What is made of an image.
    per_core : bool
        Whether rates are compared per core-second, which holds also while other processes are busy.
    """

    name: str
    title: str
    measure: Measure
    data: str
    num_records: int = 0
    goals: tuple[Ratio | Bound, ...] = field(default=())
    limit: tuple[str, ...] = field(default=())
    also: tuple[str, ...] = field(default=())
    compare: Compare = ""
    recipe: Recipe = ""
    per_core: bool = False
