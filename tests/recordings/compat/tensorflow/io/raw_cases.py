"""Calls of `decode_raw`, `serialize_tensor` and `parse_tensor`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

Cases = Iterator[tuple[str, Callable[[], Any]]]
DTYPES = (
    "float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool",
)  # fmt: skip
# Messages in hexadecimal, and the dtype that is asked for: values in lists, equal values, what is broken.
PROTOS = {
    "list of int32": ("08031204120208043a0107", "int32"),
    "last value repeated": ("08031204120208043a020708", "int32"),
    "no values": ("0803120412020802", "int32"),
    "more values than the shape": ("08031204120208013a020708", "int32"),
    "unknown rank": ("080312021801", "int32"),
    "no shape": ("0803", "int32"),
    "one string for two": ("0807120412020802420161", "string"),
    "half floats": ("08136a028078", "float16"),
    "uint8 above its bits": ("08043a02ac02", "uint8"),
    "values of another list": ("08013a0107", "float32"),
    "bools": ("080a1204120208025a020100", "bool"),
    "int64 repeated": ("0809120412020803520107", "int64"),
    "unknown field": ("080312041202080122040100000098060a", "int32"),
    "content too short": ("0803120412020802220401000000", "int32"),
    "negative length": ("0803120d120b08ffffffffffffffffff01", "int32"),
    "no dtype": ("120412020802", "int32"),
    "shape without end": ("0803121412060880bcc1960b12060880bcc1960b1202081e3a0107", "int32"),
    "nothing": ("", "int64"),
    "another dtype": ("0809120412020803520107", "float32"),
    "no message": ("616263", "float32"),
}


def _arrays() -> Iterator[tuple[str, Any]]:
    for dtype in DTYPES:
        yield f"{dtype}, none", np.zeros(0, dtype)
        yield f"{dtype}, one", np.array(1, dtype)
        yield f"{dtype}, matrix", np.array([[1, 0, 3], [0, 7, 1]], dtype)
    yield "negative numbers", np.array([-1, -5, 2**40], np.int64)
    yield "odd floats", np.array([-0.0, np.inf, 1e-42], np.float32)
    yield "axis of nothing", np.zeros((2, 0, 3), np.int32)
    yield "text", ["a", "bc", ""]
    yield "one text", "ü"
    yield "no text", np.zeros((0, 3), object)
    yield "long", np.arange(200, dtype=np.uint8)


def _raw(tf: Any) -> Cases:
    decode = tf.io.decode_raw
    two = [b"ab", b"cd"]
    yield "raw: one string", lambda: decode(b"abcd", tf.uint16)
    yield "raw: text", lambda: decode("ab", tf.int8)
    yield "raw: big-endian", lambda: decode(b"abcdefgh", tf.float32, little_endian=False)
    yield "raw: batch", lambda: decode(two, tf.uint8)
    yield "raw: matrix", lambda: decode([two, two], tf.int16)
    yield "raw: bool", lambda: decode(b"\0\1\2", tf.bool)
    yield "raw: empty", lambda: decode([b"", b""], tf.float64)
    yield "raw: none", lambda: decode(np.zeros(0, object), tf.float32)
    yield "raw: a byte too many", lambda: decode(b"abc", tf.uint16)
    yield "raw: different lengths", lambda: decode([b"abc", b"a"], tf.uint8)
    yield "raw: text as dtype", lambda: decode(b"abc", tf.string)
    yield "raw: dtype that is not allowed", lambda: decode(b"abcdefgh", tf.uint64)
    yield "raw: numbers", lambda: decode(3, tf.uint8)
    yield "padded: shorter and longer", lambda: decode([b"abcdef", b"a"], tf.uint16, fixed_length=4)
    yield "padded: big-endian", lambda: decode([b"abc"], tf.uint16, False, 4)
    yield "padded: odd length", lambda: decode([b"abcd"], tf.uint16, fixed_length=3)
    yield "padded: no length", lambda: decode([b"abcd"], tf.uint16, fixed_length=0)
    yield "padded: bool", lambda: decode([b"abc"], tf.bool, fixed_length=3)


def cases(tf: Any) -> Cases:
    """Yield names and calls."""
    for name, array in _arrays():
        yield f"serialized: {name}", lambda array=array: tf.io.serialize_tensor(array)
        dtype = np.asarray(array).dtype.name if not isinstance(array, str | list) else "string"
        wanted = tf.as_dtype("string" if dtype == "object" else dtype)
        yield (
            f"there and back: {name}",
            lambda array=array, wanted=wanted: tf.io.parse_tensor(tf.io.serialize_tensor(array), wanted),
        )
    for name, (data, dtype) in PROTOS.items():
        yield (
            f"parsed: {name}",
            lambda data=data, dtype=dtype: tf.io.parse_tensor(bytes.fromhex(data), tf.as_dtype(dtype)),
        )
    yield "parsed: a batch", lambda: tf.io.parse_tensor([b"", b""], tf.int64)
    yield from _raw(tf)
