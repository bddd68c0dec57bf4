"""Describe the machine on which the benchmarks run."""

from __future__ import annotations

import datetime
import os
import platform
import re
from pathlib import Path


def describe() -> dict[str, str | int | float]:
    """Return processor, memory, operating system, Python version and date.

    Returns
    -------
    dict
    """
    lines = Path("/proc/cpuinfo").read_text("utf-8") if Path("/proc/cpuinfo").exists() else ""
    model = re.search(r"model name\s*: (.*)", lines)
    wide = sorted(set(re.findall(r"\b(avx2|avx512f|asimd)\b", lines)))
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "processor": model[1].strip() if model else platform.machine(),
        "vectors": ", ".join(wide),
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(memory, 1),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "day": datetime.datetime.now(datetime.UTC).date().isoformat(),
    }
