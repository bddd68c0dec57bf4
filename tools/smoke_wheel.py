"""Test an installed wheel in an environment with only NumPy: write, verify and read each format."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
import tempfile
from importlib.metadata import distributions
from pathlib import Path
from urllib.request import urlopen

import numpy as np

import recordmill as rm

EXAMPLES = [{"image": bytes([n]) * (n + 1), "label": n} for n in range(40)]
COMMAND = Path(sysconfig.get_path("scripts")) / "recordmill"


def check_alone() -> None:
    """Check that only NumPy is installed, and that the package comes from this environment."""
    installed = {found.metadata["Name"].lower() for found in distributions()}
    assert installed <= {"recordmill", "numpy"}, f"more than NumPy is installed: {sorted(installed)}"
    assert Path(rm.__file__).is_relative_to(sys.prefix), rm.__file__


def check_format(name: str, folder: Path) -> None:
    """Write two shards, verify them with the library and the command, and read them back."""
    with rm.ShardWriter(folder / "train", format=name, shards=2) as writer:
        for example in EXAMPLES:
            writer.write(example)
    shards = sorted(path for path in folder.iterdir() if path.name.startswith("train"))
    report = rm.verify(folder)
    assert report.ok and report.num_records == len(EXAMPLES), report
    dataset = rm.open(folder)
    read = [{name: example[name] for name in ("image", "label")} for example in dataset.fetch(range(len(dataset)))]
    assert sorted(read, key=lambda example: int(example["label"])) == EXAMPLES, read
    printed = run_command("verify", "--json", str(folder))
    assert json.loads(printed)["num_records"] == len(EXAMPLES), printed
    with rm.view(folder, browser=False) as viewer:
        for file in ("index.html", "viewer.css", "main.js", "api/dataset"):
            assert urlopen(viewer.url + file, timeout=30).read(), file
    print(f"{name}: {len(EXAMPLES)} records, files {[path.name for path in shards]}")


def run_command(*arguments: str) -> str:
    """Run the command `recordmill`, check that it exits with 0, and return its output."""
    done = subprocess.run([COMMAND, *arguments], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, f"recordmill {' '.join(arguments)}: {done.returncode}\n{done.stderr}"
    return done.stdout


def main() -> int:
    """Run all checks; an exception means that the wheel is broken."""
    check_alone()
    for name in ("tfrecord", "ofrecord", "recordio"):
        with tempfile.TemporaryDirectory() as folder:
            check_format(name, Path(folder))
    assert "pack" in run_command("--help")
    python = sys.version.split()[0]
    print(f"recordmill {rm.__version__} works with NumPy {np.__version__} alone on Python {python}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
