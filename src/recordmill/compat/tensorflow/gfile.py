"""``tf.gfile``: file functions under their TensorFlow 1 names. They take the same arguments as in ``tf.io.gfile``."""

from __future__ import annotations

from recordmill.compat.tensorflow.core.lazy import make_lazy_attributes

# Maps each public name to its function ("module:name").
MEMBERS: dict[str, str] = {
    "Copy": "files.gfile:copy",
    "DeleteRecursively": "files.gfile:rmtree",
    "Exists": "files.gfile:exists",
    "FastGFile": "files.gfile:GFile",
    "GFile": "files.gfile",
    "Glob": "files.gfile:glob",
    "IsDirectory": "files.gfile:isdir",
    "ListDirectory": "files.gfile:listdir",
    "MakeDirs": "files.gfile:makedirs",
    "MkDir": "files.gfile:mkdir",
    "Open": "files.gfile:GFile",
    "Remove": "files.gfile:remove",
    "Rename": "files.gfile:rename",
    "Stat": "files.gfile:stat",
    "Walk": "files.gfile:walk",
}
__getattr__, __dir__ = make_lazy_attributes(__name__, MEMBERS)
