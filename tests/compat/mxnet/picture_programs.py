"""Programs that turn, frame and draw on pictures: each takes the module and a folder, and gives plain values."""

from __future__ import annotations

import numpy as np

from tests.compat.mxnet.detection_programs import made
from tests.compat.mxnet.value_programs import told


def turned(mx, folder):
    rng = np.random.RandomState(0)
    pictures, rows = mx.nd.array(rng.rand(3, 3, 21, 34).astype(np.float32) * 255), {}
    for angle in (0, 10, 45, -33.3, 90, 180, 271):
        for zoom in ({}, {"zoom_in": True}, {"zoom_out": True}):
            rows[f"{angle} {zoom}"] = told(mx.image.imrotate(pictures[0], angle, **zoom))
    rows["several"] = told(mx.image.imrotate(pictures, mx.nd.array([3, 50, -70]), zoom_in=True))
    rows["as one"] = told(mx.image.imrotate(pictures, 20))
    transforms = mx.gluon.data.vision.transforms
    rows["step"] = told(transforms.Rotate(25, zoom_out=True)(pictures[2]))
    np.random.seed(3)  # noqa: NPY002
    rows["random"] = [told(mx.image.random_rotate(one, (-40, 40))) for one in (pictures[1], pictures)]
    step = transforms.RandomRotation((-30, 30), zoom_in=True, rotate_with_proba=0.6)
    rows["random steps"] = [told(step(pictures[1])) for _ in range(4)]
    return rows


def framed(mx, folder):
    rng, rows = np.random.RandomState(0), {}
    for shape in ((5, 7, 3), (1, 1, 3)):
        pixels = mx.nd.array(rng.randint(0, 255, shape), dtype="uint8")
        for kind in range(5):
            for sides in ((1, 2, 3, 4), (7, 9, 11, 12), (0, 0, 0, 3)):
                if kind or shape[0] > 1:
                    rows[f"{shape} {kind} {sides}"] = told(mx.image.copyMakeBorder(pixels, *sides, type=kind, value=9))
    return rows


def scaled(mx, folder):
    """Floats whose last bits may differ."""
    pixels = mx.nd.array((np.random.RandomState(0).rand(37, 53, 3) * 255).astype(np.float32))
    return {
        f"{method} {size}": mx.image.imresize(pixels, *size, interp=method)[::5, ::5].asnumpy().astype(float).tolist()
        for method in (2, 3, 4)
        for size in ((20, 15), (30, 70), (9, 37))
    }


def drawn_boxes(mx, folder):
    # MXNet exchanges red and blue of a given colour at every picture.
    rows = {}
    for name, options, drawing in (
        ("plain", {}, {"color": (99.5, 10.4, 99.5)}),
        ("thick", {}, {"color": (1, 2, 1), "thickness": 5}),
        ("thin and random", {}, {"thickness": 1}),
        ("filled", {}, {"thickness": -1}),
        ("normalised", {"mean": True, "std": True}, {"mean": True, "std": True, "clip": True}),
        ("beyond", {"mean": np.array([90.0, 80, 70])}, {"mean": np.array([300.0, 80, 0]), "clip": True}),
    ):
        np.random.seed(4)  # noqa: NPY002
        rows[name] = [told(one) for one in made(mx, folder, inter_method=1, **options).draw_next(**drawing)]
    return rows


PROGRAMS = {one.__name__: one for one in (turned, framed, drawn_boxes)}
CLOSE = {"scaled": scaled}
