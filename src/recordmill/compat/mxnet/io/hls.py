"""Hue, lightness and saturation of bytes, as OpenCV has them: hue in steps of two degrees."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from recordmill.dataclass import dataclass

Levels = NDArray[np.uint8]
Floats = NDArray[np.float32]
_ONE, _TWO, _HALF = np.float32(1), np.float32(2), np.float32(0.5)
_UNIT, _FULL = np.float32(1 / 255), np.float32(255)
_LARGEST = (180, 255, 255)
# Of red, green and blue, by the sixth of the circle: whether they are the largest, the smallest, or between.
_FAR, _NEAR, _BETWEEN = range(3)
_SECTORS = np.array(
    [
        [_FAR, _BETWEEN, _NEAR],
        [_BETWEEN, _FAR, _NEAR],
        [_NEAR, _FAR, _BETWEEN],
        [_NEAR, _BETWEEN, _FAR],
        [_BETWEEN, _NEAR, _FAR],
        [_FAR, _NEAR, _BETWEEN],
    ],
    np.uint8,
)
_PIXELS = 1 << 15  # at once: what is computed for so many stays in the processor's cache


def shifted(pixels: Levels, shifts: Sequence[int], behind: int = 0) -> Levels:
    """Picture with other hue, lightness and saturation; none leaves its range.

    Parameters
    ----------
    pixels : ndarray of uint8, shape (height, width, 3)
        Red, green, blue.
    shifts : (int, int, int)
        What is added to hue, lightness and saturation.
    behind : int
        Columns on the right that are behind the last four together of the whole picture: OpenCV adds in another order
        there.

    Returns
    -------
    ndarray of uint8, shape (height, width, 3)
    """
    moves = [np.clip(np.arange(256) + by, 0, top).astype(np.uint8) for by, top in zip(shifts, _LARGEST, strict=True)]
    made = _moved(pixels, moves, _forward(False))
    if behind:
        made[:, -behind:] = _moved(pixels[:, -behind:], moves, _forward(True))
    return made


def _moved(pixels: Levels, moves: Sequence[Levels], tables: _Forward) -> Levels:
    flat = np.ascontiguousarray(pixels).reshape(-1, 3)
    made = np.empty_like(flat)
    for start in range(0, len(flat), _PIXELS):
        some = slice(start, start + _PIXELS)
        parts = _to_hls(flat[some], tables)
        hue, light, saturation = (move.take(one) for move, one in zip(moves, parts, strict=True))
        _from_hls(hue, light, saturation, made[some])
    return made.reshape(pixels.shape)


def _to_hls(pixels: Levels, tables: _Forward) -> tuple[Levels, Levels, Levels]:
    planes = np.ascontiguousarray(pixels.T)
    high, low = planes.max(axis=0), planes.min(axis=0)
    pair = _paired(high, low)
    red, green, blue = planes.astype(np.float32) * _UNIT
    is_red = high == planes[0]
    is_green = (high == planes[1]) & ~is_red
    # Masks as factors are several times as quick as choices where pixels differ from their neighbours.
    first, second, third = (one.astype(np.float32) for one in (is_red, is_green, ~(is_red | is_green)))
    hue = (green - blue) * first + (blue - red) * second + (red - green) * third
    hue *= tables.step.take(pair)
    hue += second * np.float32(120) + third * np.float32(240)
    hue += (hue < 0).astype(np.float32) * np.float32(360)
    return _as_levels(hue * _HALF), tables.light.take(pair), tables.saturation.take(pair)


def _from_hls(hue: Levels, light: Levels, saturation: Levels, made: Levels) -> None:
    tables, pair = _backward(), _paired(light, saturation)
    near = tables.near.take(pair)
    between = _as_levels((near + (tables.far.take(pair) - near) * tables.part.take(hue)) * _FULL)
    far_levels, near_levels = tables.far_levels.take(pair), tables.near_levels.take(pair)
    for channel, (is_far, is_near) in enumerate(zip(tables.is_far, tables.is_near, strict=True)):
        far_bits, near_bits = is_far.take(hue), is_near.take(hue)
        made[:, channel] = (far_levels & far_bits) | (near_levels & near_bits) | (between & ~(far_bits | near_bits))


def _paired(first: Levels, second: Levels) -> NDArray[np.int64]:
    pair = first.astype(np.int64)
    pair <<= 8
    pair |= second
    return pair


def _as_levels(values: Floats) -> Levels:
    return np.clip(np.rint(values), 0, 255).astype(np.uint8)


@dataclass(frozen=True, eq=False, slots=True)
class _Forward:
    """By the largest and smallest level of a pixel: lightness, saturation, and degrees for a whole difference."""

    light: Levels
    saturation: Levels
    step: Floats


@dataclass(frozen=True, eq=False, slots=True)
class _Backward:
    """By lightness and saturation: the largest and smallest level; by hue: where what is between lies, and whose."""

    far: Floats
    near: Floats
    far_levels: Levels
    near_levels: Levels
    part: Floats
    is_far: Levels
    is_near: Levels


def _all_pairs() -> tuple[Floats, Floats]:
    units = np.arange(256, dtype=np.float32) * _UNIT
    return np.repeat(units, 256), np.tile(units, 256)


@functools.cache
def _forward(behind: bool) -> _Forward:
    high, low = _all_pairs()
    light, reach = (high + low) * _HALF, high - low
    rest = _TWO - high - low if behind else _TWO - (high + low)
    coloured = reach > np.finfo(np.float32).eps
    reach = np.where(coloured, reach, _ONE)
    whole = np.where(coloured, np.where(light < _HALF, high + low, rest), _ONE)
    saturation = np.where(coloured, reach / whole, np.float32(0))
    step = np.where(coloured, np.float32(60) / reach, np.float32(0))
    return _Forward(_as_levels(light * _FULL), _as_levels(saturation * _FULL), step)


@functools.cache
def _backward() -> _Backward:
    light, saturation = _all_pairs()
    far = np.where(light <= _HALF, light * (_ONE + saturation), light + saturation - light * saturation)
    near = _TWO * light - far
    turn = np.arange(256, dtype=np.float32) * np.float32(6 / 180)
    turn = np.where(turn >= 6, turn - np.float32(6), turn)
    sector = np.floor(turn).astype(np.int64)
    part = turn - sector.astype(np.float32)
    odd = sector % 2 == 1
    roles = _SECTORS[sector % 6].T
    bits = [np.ascontiguousarray((roles == role) * np.uint8(255)) for role in (_FAR, _NEAR)]
    levels = _as_levels(far * _FULL), _as_levels(near * _FULL)
    return _Backward(far, near, *levels, np.where(odd, _ONE - part, part).astype(np.float32), *bits)
