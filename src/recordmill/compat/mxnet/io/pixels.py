"""Encoded images to the array of a batch, natively wherever one call gives MXNet's pixels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import recordmill as rm
from recordmill.compat.mxnet.base import MXNetError
from recordmill.compat.mxnet.io.asked import has_jitter, has_light, has_map, has_shifts
from recordmill.compat.mxnet.io.geometry import route
from recordmill.compat.mxnet.io.given import Drawn, draw_all
from recordmill.compat.mxnet.io.lighting import draw_light, lights_of
from recordmill.compat.mxnet.io.lots import Lots, lots_of
from recordmill.compat.mxnet.io.normalising import Normalising
from recordmill.compat.mxnet.io.numbers import Numbers
from recordmill.compat.mxnet.io.order import Visit
from recordmill.compat.mxnet.io.singles import make_each
from recordmill.compat.mxnet.io.spec import drawn_spec, given_spec
from recordmill.compat.mxnet.io.steps import draw_mirror, prepare_image
from recordmill.compat.mxnet.kernels import RANDOM

Ints = NDArray[np.int64]
_ANY = -1


class PixelPlan:
    """How images become the data of a batch; a value of the parameters, used by any thread."""

    def __init__(self, values: Mapping[str, Any], image: NDArray[np.float32] | None = None) -> None:
        self._values = values
        self._normalising = Normalising(values, image)
        self._exact = values["seed_aug"] is not None
        self._stepwise = _needs_steps(values, exact=self._exact)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the batch."""
        return self._normalising.dtype

    def decode(self, images: Sequence[Any], visit: Visit) -> NDArray[Any]:
        """Decode, cut and normalise images."""
        seed, seed_aug = self._values["seed"], self._values["seed_aug"]
        lots, everything = lots_of(visit, seed, seed_aug), np.arange(len(images))
        if self._stepwise:
            return self._by_steps(images, lots, everything)
        made: NDArray[Any] = np.empty((len(images), *self._values["data_shape"]), self.dtype)
        drawn = draw_all(self._sizes(images), self._values, lots.numbers()) if self._exact else None
        for method, rows in self._groups(images) if drawn is None else _possible(drawn):
            some, theirs = [images[row] for row in rows], lots[rows]
            if method is None:
                numbers = self._by_steps(some, theirs, rows)
            elif drawn is None:
                numbers = self._natively(some, method, theirs, rows)
            else:
                numbers = self._as_drawn(some, drawn[rows], rows)
            if len(rows) == len(images):
                return numbers
            made[rows] = numbers
        return made

    def _sizes(self, images: Sequence[Any]) -> Ints:
        upright: Any = "ignore" if self._values["data_shape"][0] == 4 else "apply"
        return rm.image_sizes(images, like="mxnet", orientation=upright)

    def _groups(self, images: Sequence[Any]) -> list[tuple[int | None, Ints]]:
        """Rows that are treated alike: an interpolation for native ones, None for the others."""
        if self._values["random_resized_crop"]:
            return [(self._values["inter_method"], np.arange(len(images)))]
        found = route(self._sizes(images), self._values)
        methods = np.unique(found.methods[found.native & (found.methods != _ANY)]).tolist() or [_ANY]
        groups: list[tuple[int | None, Ints]] = []
        for number, method in enumerate(methods):
            alike = (found.methods == method) | ((found.methods == _ANY) & (number == 0))
            groups.append((method, np.flatnonzero(found.native & alike)))
        groups.append((None, np.flatnonzero(~found.native)))
        return [group for group in groups if len(group[1])]

    def _natively(self, images: Sequence[Any], method: int, lots: Lots, rows: Ints) -> NDArray[Any]:
        """Whole images by the draws of seed, epoch and position."""
        values = self._values
        spec = drawn_spec(values, method, self._normalising.options)
        levels = self._decoded({"data": list(images)}, spec, rows, rng=lots.draws, positions=lots.positions)
        mirrors = np.full(len(rows), bool(values["mirror"]))
        if values["rand_mirror"] and not values["mirror"]:
            mirrors = lots.draws.booleans(lots.positions, rm.Stage.FLIP, 0.5)
        return self._normalising.finish(levels, mirrors, lights_of(lots, values) if has_light(values) else None)

    def _as_drawn(self, images: Sequence[Any], drawn: Drawn, rows: Ints) -> NDArray[Any]:
        """Whole images by MXNet's draws."""
        spec = given_spec(self._values, self._normalising.options)
        columns = {"data": list(images), "window": drawn.windows, "mirror": drawn.mirrors}
        levels = self._decoded(columns, spec, rows)
        return self._normalising.finish(levels, drawn.mirrors, drawn.lights if has_light(self._values) else None)

    def _decoded(self, columns: dict[str, Any], spec: rm.Image, rows: Ints, **options: Any) -> NDArray[Any]:
        channels, threads = self._values["data_shape"][0], self._values["preprocess_threads"]
        try:
            decoded: NDArray[Any] = rm.decode_batch(columns, {"data": spec}, threads=threads, **options)["data"]
        except rm.DecodeError as error:
            error.position = int(rows[error.position or 0])
            raise
        if decoded.shape[1] != channels:
            raise MXNetError(f"Expected {channels} channels, got {decoded.shape[1]}", kind="channel_mismatch")
        return decoded

    def _by_steps(self, images: Sequence[Any], lots: Lots, rows: Ints) -> NDArray[Any]:
        made: NDArray[Any] = np.empty((len(images), *self._values["data_shape"]), self.dtype)
        numbers = lots.numbers()

        def make(row: int) -> None:
            made[row] = self._one_by_steps(images[row], numbers[row])

        make_each(make, rows, self._values["preprocess_threads"])
        return made

    def _one_by_steps(self, data: Any, chance: Numbers) -> NDArray[Any]:
        pixels, mirror = prepare_image(data, self._values, chance), draw_mirror(self._values, chance)
        light = draw_light(self._values, chance)[None] if has_light(self._values) else None
        numbers = self._normalising.begin(pixels[:, ::-1] if mirror else pixels)
        finished: NDArray[Any] = self._normalising.finish(numbers[None], np.array([mirror]), light)[0]
        return finished


def _needs_steps(values: Mapping[str, Any], *, exact: bool) -> bool:
    """Whether no native call does what is asked for, whatever the images are."""
    if has_map(values) or has_shifts(values) or values["inter_method"] == RANDOM:
        return True
    if values["random_resized_crop"] and (values["resize"] != -1 or values["pad"]):
        return True
    return values["max_crop_size"] > 0 or (exact and has_jitter(values))


def _possible(drawn: Drawn) -> list[tuple[int | None, Ints]]:
    groups: list[tuple[int | None, Ints]] = [
        (0, np.flatnonzero(drawn.possible)),
        (None, np.flatnonzero(~drawn.possible)),
    ]
    return [group for group in groups if len(group[1])]
