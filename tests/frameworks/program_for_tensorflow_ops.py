"""Prints what operations make of random tensors: run under TensorFlow, and under ours with the other import."""

from __future__ import annotations

import itertools

import numpy as np
import tensorflow as tf

DTYPES = ("uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64")
BINARY = (
    "add subtract multiply divide math.floordiv math.floormod maximum minimum less less_equal greater greater_equal "
    "equal not_equal math.squared_difference"
)
UNARY = "negative abs sign square sqrt floor math.ceil round zeros_like ones_like"
REDUCTIONS = "reduce_max reduce_min reduce_prod reduce_sum reduce_mean argmax argmin math.cumsum"
rng = np.random.RandomState(20240607)


def find(name):
    """A function of tf by its dotted name."""
    found = tf
    for part in name.split("."):
        found = getattr(found, part)
    return found


def numbers(shape, dtype):
    """Random numbers with limits, zeros and what is not finite among them."""
    if dtype.startswith("float"):
        values = (rng.standard_normal(shape) * 10.0 ** rng.randint(-3, 4)).astype(dtype)
        odd = [0.0, -0.0, 1.0, -1.5, 2.5, np.inf, -np.inf, np.nan]
    else:
        limits = np.iinfo(dtype)
        values = np.asarray(rng.randint(-50, 50, shape)).astype(dtype)
        odd = [0, 1, limits.max, limits.min]
    chosen = np.asarray(rng.random_sample(shape)) < 0.15
    picks = np.array(odd).astype(dtype)[rng.randint(len(odd), size=shape)]
    return np.where(chosen, picks, values).astype(dtype)


def shape_pair():
    """Two shapes that broadcast, mostly."""
    full = [int(one) for one in rng.randint(0, 5, rng.randint(0, 4))]
    other = [1 if rng.randint(3) == 0 else one for one in full][rng.randint(len(full) + 1) :]
    if rng.randint(12) == 0:
        other = [*other[:-1], 7]
    return (full, other) if rng.randint(2) else (other, full)


def show(label, function, *args, **options):
    """Print dtype, shape and values, or the type of the error."""
    try:
        with np.errstate(all="ignore"):
            found = function(*args, **options)
        values = np.asarray(found.numpy())
    except Exception as error:  # noqa: BLE001 (whatever is raised)
        print(label, type(error).__name__)
        return
    if values.dtype.kind == "f":
        values = np.where(np.isnan(values), np.nan, values) + 0.0
    print(label, found.dtype.name, [int(one) for one in found.shape], values.ravel().tolist())


def pad_sums(array, widths, mode):
    """Sums over the padded axes."""
    return tf.reduce_sum(tf.pad(tf.constant(array), widths, mode), axis=[1, 2])


for name, dtype in itertools.product(BINARY.split(), DTYPES):
    for case in range(6):
        one, other = (numbers(shape, dtype) for shape in shape_pair())
        if dtype.startswith("int") and "div" in name:
            other = np.where(other == -1, 1, other).astype(dtype)  # TensorFlow ends its process
        show(f"{name} {dtype} {case}", find(name), tf.constant(one), tf.constant(other))
for name, dtype in itertools.product(UNARY.split(), DTYPES):
    values = numbers((3, 5), dtype)
    show(f"{name} {dtype}", find(name), tf.constant(values))
for name, dtype in itertools.product(REDUCTIONS.split(), DTYPES):
    for axis in (None, 0, -1):
        # Whole numbers, few of them: the order of additions does not matter.
        values = rng.randint(0, 7, (2, 3, 4)).astype(dtype)
        if axis is not None or name.startswith("reduce"):
            show(f"{name} {dtype} {axis}", find(name), tf.constant(values), axis=axis)
for source, target in itertools.product((*DTYPES, "bool"), (*DTYPES, "bool", "uint16")):
    values = rng.randint(-9, 300, (7,)).astype(source)
    show(f"cast {source} {target}", tf.cast, tf.constant(values), target)
    if source != "int64":  # TensorFlow 2.21 makes the smallest number of each
        show(f"saturate {source} {target}", tf.saturate_cast, tf.constant(values), target)
for case in range(200):
    array = np.arange(60).reshape(3, 4, 5)
    keys = []
    for length in array.shape[: rng.randint(1, 4)]:
        start, stop = (int(one) for one in rng.randint(-length - 1, length + 2, 2))
        keys.append([start, slice(start, stop, int(rng.choice([-2, -1, 1, 2]))), slice(None), None][rng.randint(4)])
    show(f"part {case} {keys}", tf.Tensor.__getitem__, tf.constant(array), tuple(keys))
for case in range(60):
    array = np.arange(60).reshape(3, 4, 5)
    axis, batch = int(rng.randint(0, 3)), int(rng.randint(0, 2))
    shape = array.shape[:batch] + tuple(int(one) for one in rng.randint(0, 4, rng.randint(1, 3)))
    indices = rng.randint(0, 4 if rng.randint(6) else 6, shape)
    show(f"gather {case}", tf.gather, tf.constant(array), indices, axis=max(axis, batch), batch_dims=batch)
    permutation = [int(one) for one in rng.permutation(3)]
    show(f"transpose {case}", tf.transpose, tf.constant(array), permutation)
    sizes = [int(one) for one in rng.choice([-1, 1, 2, 3, 4, 5, 12], rng.randint(1, 4))]
    show(f"reshape {case} {sizes}", tf.reshape, tf.constant(array), sizes)
    widths = rng.randint(0, 4, (3, 2))
    mode = str(rng.choice(["CONSTANT", "REFLECT", "SYMMETRIC"]))
    show(f"pad {case}", pad_sums, array, widths, mode)
    depth, place, equals = int(rng.randint(0, 5)), int(rng.randint(-1, 3)), rng.randint(0, 4, (3, 6))
    show(f"one_hot {case}", tf.one_hot, indices, depth, axis=place, dtype=tf.int32)
    show(f"argsort {case}", tf.argsort, tf.constant(equals), direction="DESCENDING")
