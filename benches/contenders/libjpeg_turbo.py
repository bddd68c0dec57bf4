"""The system's libjpeg-turbo, called from C: whole images, and windows by skipping rows and cropping columns."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from benches.environments import home
from benches.jobs import Job
from benches.steps import Box
from benches.windows import digest_of, read_list, write_list

ENVIRONMENT = ""
REQUIREMENTS = ("numpy",)
VARIANTS = {"image-whole": ("",), "image-windows": ("",), "image-progressive": ("",), "image-resize": ("whole image",)}
_SOURCE = Path(__file__).with_name("libjpeg.c")
# Maximum side of an image in pixels, and maximum size of its pixels in bytes.
_SIDE, _BYTES = 1 << 16, 64 << 20


def _library() -> Path:
    return home() / "libjpeg_calls.so"


def prepare(job: Job) -> None:
    """Compile the C file, and write the list of the images and windows to decode."""
    home().mkdir(parents=True, exist_ok=True)
    command = ["cc", "-O2", "-shared", "-fPIC", "-o", str(_library()), str(_SOURCE), "-ljpeg"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"libjpeg-turbo's header or library is missing: {done.stderr.strip().splitlines()[0]}")
    write_list(job)


class Decoder:
    """Decodes images into one buffer, which is reused."""

    def __init__(self) -> None:
        library = ctypes.CDLL(str(_library()))
        self._decode = library.decode
        pointer, number = ctypes.c_void_p, ctypes.c_uint
        self._decode.argtypes = [ctypes.c_char_p, ctypes.c_ulong, number, number, number, number, pointer, pointer]
        self._decode.restype = ctypes.c_long
        self._row, self._out = np.empty(_SIDE * 3, np.uint8), np.empty(_BYTES, np.uint8)

    def decode(self, data: bytes, window: Box | None) -> Any:
        """Return the pixels of an image or of a window; the next call overwrites them.

        Parameters
        ----------
        data : bytes
        window : tuple of int, optional
            x, y, width, height.

        Returns
        -------
        ndarray of uint8
        """
        numbers = window or (0, 0, 0, 0)
        length = self._decode(data, len(data), *numbers, self._row.ctypes.data, self._out.ctypes.data)
        if length < 0:
            raise ValueError("libjpeg-turbo cannot decode an image")
        return self._out[:length]


def run(job: Job) -> Iterator[tuple[int, Any]]:
    """Decode all listed images again and again."""
    decoder, targets = Decoder(), read_list(job)
    while True:
        for data, window in targets:
            yield 1, decoder.decode(data, None if job.task_name == "image-resize" else window)


def checked(job: Job) -> dict[str, Any]:
    """Return the digest of the decoded pixels."""
    decoder = Decoder()
    return digest_of(decoder.decode(data, window) for data, window in read_list(job))
