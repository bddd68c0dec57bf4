"""Makes `import oneflow` work: its CUDA 11 libraries must be on the loader's path before the process starts."""

from __future__ import annotations

import os
import sys
import sysconfig
from pathlib import Path


def find_cuda_libraries() -> None:
    """Start this script again with LD_LIBRARY_PATH naming the nvidia/*/lib folders of this environment."""
    site = Path(sysconfig.get_paths()["purelib"])
    folders = [str(folder) for folder in sorted(site.glob("nvidia/*/lib"))]
    known = os.environ.get("LD_LIBRARY_PATH", "").split(":")
    missing = [folder for folder in folders if folder not in known]
    if missing:
        path = ":".join([*missing, *(folder for folder in known if folder)])
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, "LD_LIBRARY_PATH": path})
