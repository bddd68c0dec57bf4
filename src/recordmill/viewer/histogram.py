"""Histograms with round bin widths, such as 0.1, 20 or 500, collected in one pass with bounded memory."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Maximum number of bins that `finish` returns, and maximum number of bins while numbers are added.
_MAX_BINS, _MAX_NARROW_BINS = 32, 1024
# Bin numbers below this magnitude are exact in float64.
_MAX_NUMBER = 1 << 52
# Number of values that are counted at once, which bounds the memory of intermediate arrays.
_SLICE = 1 << 16
_SMALLEST, _LARGEST = 1e-300, sys.float_info.max


class HistogramCollector:
    """Counts numbers in bins of equal width.

    Widths are 1 or 2 times a power of ten, and bins start at multiples of the width. If the numbers need too many bins,
    neighboring bins are merged, which doubles the width or multiplies it by 5. Counts remain exact when bins are
    merged.

    Parameters
    ----------
    is_integer : bool
        Whether all numbers are integers. No bin is then narrower than 1.
    """

    def __init__(self, *, is_integer: bool) -> None:
        self._is_integer = is_integer
        # Number of the bin width in the sequence ..., 0.1, 0.2, 1, 2, 10, 20, ...; the width 1 has the number 0.
        self._step = 0
        # Bin n begins at n * width. `_first` is the n of the first bin in `_counts`.
        self._first = 0
        self._counts: NDArray[np.int64] = np.empty(0, np.int64)
        # Left edge of the first bin, and right edge of the last bin.
        self._covered = [math.inf, -math.inf]
        self._minimum, self._maximum = math.inf, -math.inf

    def add(self, values: NDArray[Any]) -> None:
        """Add finite numbers to the histogram."""
        for start in range(0, len(values), _SLICE):
            self._add_slice(np.asarray(values[start : start + _SLICE], np.float64))

    def _add_slice(self, numbers: NDArray[np.float64]) -> None:
        low, high = float(numbers.min()), float(numbers.max())
        self._minimum, self._maximum = min(self._minimum, low), max(self._maximum, high)
        if not self._covered[0] <= low <= high < self._covered[1]:
            if not len(self._counts):
                self._step = self._choose_first_step(low, high)
            while not self._has_sufficient_width(low, high):
                self._merge_bins()
            self._add_empty_bins(*_compute_bin_numbers(np.array([low, high]), self._step).tolist())
        bins = _compute_bin_numbers(numbers, self._step)
        self._counts += np.bincount(bins - self._first, minlength=len(self._counts))

    def _choose_first_step(self, low: float, high: float) -> int:
        """Return the initial `_step` for numbers from `low` to `high`. `_merge_bins` increases it if needed."""
        width = max(high / _MAX_NARROW_BINS - low / _MAX_NARROW_BINS, max(abs(low), abs(high)) / _MAX_NUMBER, _SMALLEST)
        step = 2 * math.floor(math.log10(width))
        return max(step, 0) if self._is_integer else step

    def _has_sufficient_width(self, low: float, high: float) -> bool:
        """Return True if the current bin width is large enough for the existing bins and the range `low` to `high`."""
        if max(abs(low), abs(high)) / _compute_width(self._step) > _MAX_NUMBER:
            return False
        first, last = map(int, _compute_bin_numbers(np.array([low, high]), self._step))
        if len(self._counts):
            first, last = min(first, self._first), max(last, self._first + len(self._counts) - 1)
        return last - first < _MAX_NARROW_BINS

    def _merge_bins(self) -> None:
        """Multiply the bin width by 2 or 5 by merging bins, so that the width remains 1 or 2 times a power of ten."""
        factor = 5 if self._step % 2 else 2
        self._step += 1
        if len(self._counts):
            self._first, self._counts = _merge_counts(self._first, self._counts, factor)

    def _add_empty_bins(self, first: int, last: int) -> None:
        """Add empty bins before and after the existing bins, to cover bins `first` to `last`."""
        self._first = self._first if len(self._counts) else first
        num_before = max(self._first - first, 0)
        num_after = max(last - self._first - len(self._counts) + 1, 0)
        self._first -= num_before
        self._counts = np.pad(self._counts, (num_before, num_after))
        ends = np.array([self._first, self._first + len(self._counts)])
        self._covered = _compute_left_edges(ends, self._step).tolist()

    def finish(self) -> dict[str, list[Any]] | None:
        """Return the edges and counts of at most 32 bins; None if there are no numbers."""
        if not len(self._counts):
            return None
        if self._minimum == self._maximum:
            width = 1.0 if self._is_integer else max(abs(self._minimum) / 1000, _SMALLEST)
            edges = np.array([self._minimum, min(self._minimum + width, _LARGEST)])
            return {"edges": _to_json(edges), "counts": [int(self._counts.sum())]}
        factor = next(
            factor for factor in _list_merge_factors(self._step) if self._count_bins_after_merge(factor) <= _MAX_BINS
        )
        first, counts = _merge_counts(self._first, self._counts, factor)
        edges = _compute_left_edges(np.arange(first, first + len(counts) + 1) * factor, self._step)
        return {"edges": _to_json(edges), "counts": counts.tolist()}

    def _count_bins_after_merge(self, factor: int) -> int:
        return (self._first + len(self._counts) - 1) // factor - self._first // factor + 1


def create_value_histogram(value_counts: dict[Any, int]) -> dict[str, list[Any]] | None:
    """Return a histogram with one bin per integer; None if there are no integers, or more than 32."""
    values = sorted(value_counts)
    if not 0 < len(values) <= _MAX_BINS:
        return None
    return {"edges": [*values, values[-1] + 1], "counts": [value_counts[value] for value in values]}


def _compute_width(step: int) -> float:
    return float(_compute_left_edges(np.ones(1, np.int64), step)[0])


def _compute_left_edges(bins: NDArray[np.int64], step: int) -> NDArray[np.float64]:
    """Return the left edges of bins, as accurate as possible: 0.3 instead of 0.30000000000000004."""
    numbers, exponent = bins * (1.0 + step % 2), step // 2
    with np.errstate(over="ignore"):
        edges: NDArray[Any] = numbers * 10.0**exponent if exponent >= 0 else numbers / 10.0**-exponent
    np.minimum(np.maximum(edges, -_LARGEST, out=edges), _LARGEST, out=edges)
    return edges


def _compute_bin_numbers(values: NDArray[np.float64], step: int) -> NDArray[np.int64]:
    bins = np.floor(values / _compute_width(step)).astype(np.int64)
    # Division rounds, so a value near an edge may get the number of the neighboring bin.
    bins += values >= _compute_left_edges(bins + 1, step)
    bins -= values < _compute_left_edges(bins, step)
    return bins


def _merge_counts(first: int, counts: NDArray[np.int64], factor: int) -> tuple[int, NDArray[np.int64]]:
    """Merge groups of `factor` bins. Return the index of the first merged bin, and the counts of all merged bins."""
    start = first // factor
    num_before = first - start * factor
    num_after = -(num_before + len(counts)) % factor
    return start, np.pad(counts, (num_before, num_after)).reshape(-1, factor).sum(axis=1)


def _list_merge_factors(step: int) -> list[int]:
    """Return the merge factors that result in a bin width of 1, 2 or 5 times a power of ten."""
    unit = 1 + step % 2
    widths = (digit * 10**exponent for exponent in range(5) for digit in (1, 2, 5))
    return [width // unit for width in widths if width % unit == 0]


def _to_json(edges: NDArray[np.float64]) -> list[int | float]:
    return [int(edge) if edge.is_integer() and abs(edge) < _MAX_NUMBER else edge for edge in edges.tolist()]
