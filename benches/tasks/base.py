"""Classes of tasks and of their goals."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

# "pack": time of one run. "pass": rate of passes over the data for a given time. "value": figures of one run.
# "start": time from process start to the first batch, and memory.
Measure = Literal["pack", "pass", "value", "start"]
# How results are checked: "payloads" and "records" by bytes, "columns" by numbers, "pixels" exactly, "center" and
# "crops" by colors of the sources, "twin" by the exact pixels of the framework that the program was written for.
Compare = Literal["", "payloads", "columns", "records", "pixels", "center", "crops", "twin"]
# How images are transformed: "crop" is a random-resized crop with a random flip as normalized float32, "crop-uint8"
# the same as uint8, "center" a normalized center crop. Digits become float32 from 0 to 1: "digit" from PNG, "array"
# from raw bytes, "function" by a Python function.
Recipe = Literal["", "crop", "crop-uint8", "center", "digit", "array", "function"]


@dataclass(frozen=True)
class Ratio:
    """Goal: our rate is at least `factor` times the best rate of a peer.

    Parameters
    ----------
    peer : str
        Contender to compare with: "" for the fastest one, "ours" to compare two of our variants.
    factor : float
    ours : str
        Our variant; by default the fastest one.
    theirs : str
        Variant of the peer; by default the fastest one.
    """

    peer: str
    factor: float
    ours: str = ""
    theirs: str = ""


@dataclass(frozen=True)
class Bound:
    """Goal: a figure is at least (`is_minimum`) or at most `value` in each of our variants."""

    figure: str
    is_minimum: bool
    value: float
    unit: str


@dataclass(frozen=True)
class Task:
    """One task of the benchmark.

    Parameters
    ----------
    name : str
    title : str
    measure : {"pack", "pass", "value", "start"}
    data : str
        Name of the dataset.
    num_records : int
        Number of records per batch.
    goals : tuple of Ratio or Bound
    limit : tuple of str
        Variants of the contender `limits` whose rates bound that of the task. If there are several, their times add up.
    more_data : tuple of str
        Other datasets that the task needs.
    compare : str
        How results are checked.
    recipe : str
        How images are transformed.
    per_core : bool
        Whether rates per core-second are compared, which depend less on other busy processes.
    """

    name: str
    title: str
    measure: Measure
    data: str
    num_records: int = 0
    goals: tuple[Ratio | Bound, ...] = field(default=())
    limit: tuple[str, ...] = field(default=())
    more_data: tuple[str, ...] = field(default=())
    compare: Compare = ""
    recipe: Recipe = ""
    per_core: bool = False
