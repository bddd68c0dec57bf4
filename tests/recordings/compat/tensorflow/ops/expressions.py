"""The expressions that are recorded, and the tensors in them."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def names_for(tf: Any, np: Any) -> dict[str, Any]:
    """Names that the expressions use."""
    m = tf.reshape(tf.range(6), [2, 3])
    return {
        "tf": tf,
        "np": np,
        "i": tf.constant([1, 2, 3]),
        "n": tf.constant([-7, 0, 5]),
        "l": tf.constant([1, 2, 3], tf.int64),
        "u": tf.constant([1, 2, 255], tf.uint8),
        "f": tf.constant([1.0, 2.0, 3.0]),
        "g": tf.constant([-2.5, -0.5, 0.1, 0.5, 1.5, 7.25]),
        "d": tf.constant([1.0, 2.0, 3.0], tf.float64),
        "h": tf.constant([1.0, 2.0, 3.0], tf.float16),
        "b": tf.constant([True, False, True]),
        "s": tf.constant(["a", "b", "c"]),
        "m": m,
        "c": tf.reshape(tf.range(24), [2, 3, 4]),
        "e": tf.cast(m, tf.float32) / 4,
    }


_TENSORS = "iulfdhbs"
_SIGNS = ("+", "-", "*", "/", "//", "%", "<", ">=", "==", "!=", "&", "|", "^")
# TensorFlow raises another type of error for a sum than for other operators.
_OMITTED = ("b+2", "s+2")
_OPERATORS = [
    expression for sign in _SIGNS for x in _TENSORS for y in ("2", x) if (expression := f"{x}{sign}{y}") not in _OMITTED
]
_OPERATORS += [f"2{sign}{x}" for sign in _SIGNS[:6] for x in "iulfdh"]
_PARTS = [
    f"{tensor}[{key}]"
    for tensor, keys in {
        "i": "0;-1;5;-4;...;None;tf.newaxis,:;::2;::-1;1:10;5:;:-1;2:0;3:0:-1;tf.constant(1);np.int64(1);"
        "tf.constant(1):;[0,1];np.array([0,1]);b;[True,False,True];1.5;'a';0,0;:,None,None;::0;0:tf.constant(2,tf.int64);"
        "tf.constant(1,tf.uint8);tf.constant([0]);1:1",
        "c": "0;0,1;0,1,2;...,0;:,::2,1:;1,...,-1;...,None,0;0,...;None,...,None;:,-1;[0,1];0,5;..., ...;:,:,:,0;"
        "tf.constant([True,False]);c>20;1,tf.newaxis,::-1,2",
        "s": "0;1:;::-1",
        "tf.constant(5)": "...;None;0",
    }.items()
    for key in keys.split(";")
]
_OVER = [
    "i",
    "n",
    "f",
    "g",
    "u",
    "b",
    "s",
    "h",
    "e,0",
    "m,-1,True",
    "m,[0,1]",
    "m,2",
    "m,[0,0]",
    "tf.zeros([0,3]),0",
    "tf.zeros([0])",
    "e,axis=(1,)",
    "m,[]",
]
_REDUCTIONS = [f"tf.reduce_{name}({x})" for name in ("sum", "mean", "prod", "max", "min") for x in _OVER]
_REDUCTIONS += [f"tf.math.reduce_{name}({x})" for name in ("std", "variance") for x in _OVER]
_REDUCTIONS += [f"tf.reduce_{name}({x})" for name in ("any", "all") for x in ("i", "b", "b,0,True", "m>9,1", "m>2,1")]
_FUNCTIONS = ["exp", "math.log", "math.log1p", "sin", "cos", "tan", "tanh", "sigmoid", "math.rsqrt", "norm"]


def _lines(name: str) -> list[str]:
    return (Path(__file__).parent / name).read_text("utf-8").splitlines()


EXACT = [*_OPERATORS, *_PARTS, *_REDUCTIONS, *_lines("exact.txt")]
CLOSE = [f"tf.{name}({x})" for name in _FUNCTIONS for x in ("g", "f", "d", "i")]
CLOSE += ["f**0.5", "g**3", "tf.pow(d,1.5)", "tf.linspace(0.,1.,7)"]
CLOSE += ["tf.norm(e,axis=1)", "tf.norm(e,ord=1,axis=1)", "f@f", "e@e"]
CLOSE += [
    "tf.exp(tf.ragged.constant([[1.,2],[3]])).flat_values",
    "tf.math.log(tf.ragged.constant([[1.,2],[3]])).flat_values",
    "tf.linalg.inv([[1.,2.],[3.,4.]])",
    "tf.nn.softmax(e)",
    "tf.nn.softmax(e,0)",
]
