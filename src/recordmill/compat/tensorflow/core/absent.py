"""Errors for TensorFlow names that recordmill does not provide; an error may suggest a replacement."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import NoReturn

from recordmill.suggestions import MISSPELLED, suggest_name

_PACKAGE = "recordmill.compat.tensorflow"
_KERAS = "train with Keras, JAX or PyTorch"
_NUMPY = "use keras.ops, or NumPy or SciPy in tf.numpy_function"
_ANY = f"{_NUMPY}; {_KERAS}"
_IMAGE = "use NumPy, Pillow or OpenCV in tf.numpy_function"
_DATA = "use the tf.data methods that the migration page lists"
_PYTHON = "use Python's functions on bytes in tf.py_function"

# Suggested replacement for each unsupported name or namespace. The keys omit the prefix "compat.v1.".
HINTS: dict[str, str] = {
    "": _ANY,
    "FIFOQueue": "use tf.data",
    "GradientTape": _KERAS,
    "LMDBReader": "read the database in tf.data.Dataset.from_generator",
    "Module": _KERAS,
    "PaddingFIFOQueue": "use tf.data and padded_batch",
    "Print": "use tf.print",
    "RandomShuffleQueue": "use tf.data and shuffle",
    "audio": "use SciPy or soundfile in tf.numpy_function",
    "bitwise": "use Python's operators & | ^ ~, or NumPy in tf.numpy_function",
    "compat.v1": _ANY,
    "config": "remove the setting: it does not change results here",
    "contrib": _KERAS,
    "contrib.image": _IMAGE,
    "contrib.slim": "read the files with tf.data.TFRecordDataset; train with Keras, JAX or PyTorch",
    "data": _DATA,
    "data.FixedLengthRecordDataset": "read the file in Dataset.from_generator, or use tf.io.decode_raw",
    "data.experimental": _DATA,
    "data.experimental.Reducer": "use Dataset.group_by_window, or Dataset.reduce for each key",
    "data.experimental.SqlDataset": "read the rows with sqlite3 in Dataset.from_generator",
    "data.experimental.assert_cardinality": "remove it: the number of elements is not declared here",
    "data.experimental.copy_to_device": "remove it, or use recordmill's loaders for PyTorch and JAX",
    "data.experimental.group_by_reducer": "use Dataset.group_by_window, or Dataset.reduce for each key",
    "data.experimental.prefetch_to_device": "use prefetch, or recordmill's loaders for PyTorch and JAX",
    "debugging": "use tf.debugging.Assert, or Python's debugger: functions run eagerly",
    "distribute": "use tf.distribute.get_strategy(), or Dataset.shard, and train with JAX or PyTorch",
    "dtypes": "use a dtype that NumPy has",
    "errors": "catch tf.errors.OpError, the base class of the other errors",
    "estimator": _KERAS,
    "feature_column": "use Keras's preprocessing layers, and parse records with a dict of tf.io.FixedLenFeature",
    "gfile": "use pathlib or shutil",
    "gradients": _KERAS,
    "image": _IMAGE,
    "io": "use tf.io.parse_example, tf.train.Example, or Python in tf.py_function",
    "io.gfile": "use pathlib or shutil",
    "keras": "use the keras package",
    "layers": _KERAS,
    "linalg": "use keras.ops.linalg, or NumPy or SciPy in tf.numpy_function",
    "logging": "use Python's logging",
    "lookup": "use tf.lookup.StaticHashTable, or a Python dict in tf.py_function",
    "losses": "use keras.losses",
    "math": _NUMPY,
    "metrics": "use keras.metrics",
    "nest": "use tf.nest.flatten and tf.nest.pack_sequence_as",
    "nn": "use keras.ops.nn",
    "profiler": "use Dataset.explain(), or cProfile",
    "ragged": "use RaggedTensor.to_list() and Python, or to_tensor()",
    "random": "use numpy.random in tf.numpy_function",
    "raw_ops": "use the public name of the operation",
    "saved_model": "save models with Keras: model.save",
    "sets": "use Python's sets or NumPy in tf.numpy_function",
    "signal": "use NumPy or SciPy in tf.numpy_function",
    "sparse": "use tf.sparse.to_dense",
    "strings": _PYTHON,
    "summary": "write logs with torch.utils.tensorboard or tensorboardX, or a Keras callback",
    "test": "use unittest or pytest",
    "train": "use tf.keras.optimizers, and model.save or callbacks.ModelCheckpoint for checkpoints",
    "train.batch_join": "use tf.train.batch, or tf.data with interleave",
    "train.input_producer": "use tf.train.string_input_producer for file names, or tf.data",
    "train.range_input_producer": "use tf.data.Dataset.range",
    "train.shuffle_batch_join": "use tf.train.shuffle_batch, or tf.data with interleave and shuffle",
    "train.summary_iterator": "read the records of event files with tf.data.TFRecordDataset",
    "version": "use tf.__version__",
}


def absent_error(module: str, public_path: str, name: str) -> AttributeError:
    """Return the AttributeError for a missing name; `public_path` is the module's name without the prefix ``tf``."""
    message = f"module {module!r} has no attribute {name!r}"
    if not name.startswith("_"):
        similar = None if f"{public_path}.{name}".lstrip(".") in HINTS else _find_similar(module, name)
        hint = f"did you mean {similar!r}? Otherwise, {_find_hint(public_path, name)}" if similar else None
        hint = hint or _find_hint(public_path, name)
        message = f'{message}: {hint}; the migration page "Supported names" lists all supported names'
    return AttributeError(message, name=name, obj=sys.modules.get(module))


def _find_similar(module: str, name: str) -> str | None:
    names = [known for known in dir(sys.modules.get(module)) if not known.startswith("_")]
    return suggest_name(name, names, MISSPELLED)


def _find_hint(public_path: str, name: str) -> str:
    """Return the hint for a name. If `HINTS` lacks the name, return the hint for its innermost namespace in `HINTS`."""
    namespace = public_path.removeprefix("compat.v1").lstrip(".")
    candidates = [f"{namespace}.{name}".lstrip("."), public_path, namespace]
    while namespace:
        namespace = namespace.rpartition(".")[0]
        candidates.append(namespace)
    return next(HINTS[one] for one in candidates if one in HINTS)


def make_absent_getattr(module: str, public_path: str | None = None) -> Callable[[str], NoReturn]:
    """Create a module's ``__getattr__``, which raises an error with a hint for each undefined name."""

    def raise_absent(name: str) -> NoReturn:
        raise absent_error(module, public_path_of(module) if public_path is None else public_path, name)

    return raise_absent


def public_path_of(module: str) -> str:
    """Return a module's public name without the prefix ``tf``, such as "data.experimental"."""
    return module.removeprefix(_PACKAGE).lstrip(".")
