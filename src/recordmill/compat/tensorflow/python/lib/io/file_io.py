"""``tensorflow.python.lib.io.file_io``: older names of ``tf.io.gfile``."""

from __future__ import annotations

from typing import Any

from recordmill.compat.tensorflow.core.lazy import make_lazy_attributes
from recordmill.compat.tensorflow.files.gfile import GFile

# Maps each public name to its function ("module:name").
MEMBERS: dict[str, str] = {
    "FileIO": "files.gfile:GFile",
    "copy": "files.gfile",
    "create_dir": "files.gfile:mkdir",
    "delete_file": "files.gfile:remove",
    "delete_recursively": "files.gfile:rmtree",
    "file_exists": "files.gfile:exists",
    "get_matching_files": "files.gfile:glob",
    "is_directory": "files.gfile:isdir",
    "list_directory": "files.gfile:listdir",
    "recursive_create_dir": "files.gfile:makedirs",
    "rename": "files.gfile",
    "stat": "files.gfile",
    "walk": "files.gfile",
}
__getattr__, __dir__ = make_lazy_attributes(__name__, MEMBERS)


def read_file_to_string(filename: Any, binary_mode: bool = False) -> Any:
    """Return the content of a file as str or, in binary mode, as bytes."""
    with GFile(filename, "rb" if binary_mode else "r") as file:
        return file.read()


def write_string_to_file(filename: Any, file_content: Any) -> None:
    """Write str or bytes to a file."""
    with GFile(filename, "w") as file:
        file.write(file_content)
