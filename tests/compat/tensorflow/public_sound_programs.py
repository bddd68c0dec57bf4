"""Sound, and map functions that choose, as public programs have them: each takes the module and a folder."""

from __future__ import annotations

import struct

import numpy as np

from tests.compat.tensorflow.data_programs import listed


def wav(bits=16, channels=1, kind=1, data=bytes(range(48)), extra=b"", names=(b"RIFF", b"WAVE"), **wrong):
    """File of which some parts are as told, and others wrong."""
    size, rate = wrong.get("size", 16), wrong.get("rate", 8000)
    a_sample = wrong.get("a_sample", channels * bits // 8)
    form = struct.pack("<HHIIHH", kind, channels, rate, wrong.get("a_second", rate * a_sample), a_sample, bits)
    form += bytes(size - 16)
    body = names[1] + b"fmt " + struct.pack("<I", size) + form + extra
    body += b"data" + struct.pack("<I", wrong.get("length", len(data))) + data
    return names[0] + struct.pack("<I", len(body)) + body


def chunk(name, data, length=None):
    return name + struct.pack("<I", len(data) if length is None else length) + data


FILES = {
    "mono": wav(),
    "stereo": wav(channels=2),
    "longer format": wav(size=18),
    "other chunk": wav(extra=chunk(b"LIST", b"abcdef")),
    "odd chunk": wav(extra=chunk(b"LIST", b"abcde")),
    "odd chunk, filled up": wav(extra=chunk(b"LIST", b"abcde") + b"\0"),
    "no samples": wav(data=b""),
    "half a sample": wav(data=bytes(47)),
    "8 bits": wav(bits=8),
    "24 bits": wav(bits=24),
    "floats": wav(bits=32, kind=3),
    "long format": wav(size=40),
    "no RIFF": wav(names=(b"RIFX", b"WAVE")),
    "no WAVE": wav(names=(b"RIFF", b"WAVF")),
    "short": wav()[:60],
    "shorter": wav()[:20],
    "nothing": b"",
    "longer than it is": wav(length=100),
    "wrong sample": wav(a_sample=3),
    "wrong second": wav(a_second=5),
    "no channels": wav(channels=0),
    "no data": wav()[:36],
    "data twice": wav() + chunk(b"data", b"abcd"),
    "something behind": wav() + b"xyz",
}
WAYS = ({}, {"desired_channels": 1}, {"desired_channels": 3}, {"desired_samples": 5}, {"desired_samples": 30})
SOUNDS = (
    [[0.1], [-0.5], [1.5], [-2.0], [0.99999], [float("nan")]],
    [[0.1, 0.2]],
    [[1 / 65536], [3 / 65536], [-1 / 65536], [-3 / 65536]],
    np.zeros((0, 1)),
    np.zeros((3, 0)),
    [0.5],
)


def attempt(function):
    try:
        return function()
    except Exception as error:  # noqa: BLE001 (what it is told of is compared)
        return [type(error).__name__, getattr(error, "message", str(error)).split("}} ")[-1].split(" [Op:")[0]]


def sounds(tf, folder):
    """Sound that is read and written."""

    def read(data, way):
        audio, rate = tf.audio.decode_wav(data, **way)
        return [audio.dtype.name, audio.shape.as_list(), audio.numpy().tolist(), rate.dtype.name, int(rate)]

    def written(values, rate):
        return tf.audio.encode_wav(tf.constant(values, tf.float32), rate).numpy().hex()

    found = {
        name: [attempt(lambda d=data, w=way: read(d, w)) for way in WAYS[: 1 + 4 * (name in ("mono", "stereo"))]]
        for name, data in FILES.items()
    }
    path = f"{folder}/a.wav"
    tf.io.write_file(path, FILES["stereo"])
    clips = tf.data.Dataset.from_tensor_slices([path] * 3)
    clips = clips.map(lambda name: tf.squeeze(tf.audio.decode_wav(tf.io.read_file(name), 1, 10).audio, -1)).batch(2)
    made = [attempt(lambda v=values, r=rate: written(v, r)) for values in SOUNDS for rate in (8000, 0)]
    return [found, made, listed(clips)]


def one_way_or_the_other(x):
    if x > 3:  # noqa: SIM108 (TensorFlow turns statements into branches, not expressions)
        x = x * 2
    else:
        x = x - 1
    return x


def two_ways(x):
    y = x
    if x > 2 and x < 7:
        y = y + 10
    if not x % 2 == 0:  # noqa: SIM201 (as programs have it)
        y = -y
    return x, y


def by_case(tf):
    def function(x):
        name = tf.switch_case(tf.cast(x % 4, tf.int32), [lambda: x, lambda: x * 10], default=lambda: x * 100)
        return tf.cond(x > 5, lambda: {"a": name, "b": tf.constant(1)}, lambda: {"a": -x, "b": tf.constant(0)})

    return function


def choices(tf, folder):
    """Functions that do one thing or another, as values tell."""
    numbers = tf.data.Dataset.range(9)
    return [
        listed(numbers.map(one_way_or_the_other)),
        listed(numbers.map(two_ways).batch(4)),
        listed(numbers.map(by_case(tf))),
        [repr(numbers.map(one).element_spec) for one in (one_way_or_the_other, two_ways, by_case(tf))],
    ]


PROGRAMS = {one.__name__: one for one in (choices,)}
