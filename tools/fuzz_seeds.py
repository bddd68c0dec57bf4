"""Exchange inputs between the corpora of `cargo fuzz` and the committed zip files, which tests replay.

Usage, from the root of the repository::

    python -m tools.fuzz_seeds unpack           # add the committed inputs to all corpora, as `make fuzz` does
    python -m tools.fuzz_seeds pack TARGET ...  # replace zip files by the minimized corpora of the targets

Before `pack`, minimize the corpus of the target: `cargo fuzz cmin TARGET -- -use_counters=0 -set_cover_merge=1`.
"""

from __future__ import annotations

import argparse
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
# Inputs that fit into the repository: the smallest are kept.
MAX_BYTES = 150_000


def zip_paths() -> dict[str, Path]:
    """Return the zip file of each target, also of those that have none yet."""
    sources = ROOT.glob("rust/*/fuzz/fuzz_targets/*.rs")
    return {path.stem: path.parents[1] / "seeds" / f"{path.stem}.zip" for path in sorted(sources)}


def read_inputs(path: Path) -> dict[str, bytes]:
    """Return the inputs in a zip file by name."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def corpus_folder(path: Path) -> Path:
    """Return the folder of the corpus that belongs to a zip file."""
    return path.parents[1] / "corpus" / path.stem


def unpack(path: Path) -> None:
    """Add the inputs of a zip file to the corpus of its target."""
    folder = corpus_folder(path)
    folder.mkdir(parents=True, exist_ok=True)
    for name, data in read_inputs(path).items():
        (folder / name).write_bytes(data)


def pack(path: Path) -> None:
    """Write the corpus of a target to its zip file, without compression, so that tests in Rust can read it."""
    files = sorted(corpus_folder(path).iterdir(), key=lambda file: (file.stat().st_size, file.name))
    path.parent.mkdir(exist_ok=True)
    num_bytes = 0
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for file in files:
            num_bytes += file.stat().st_size
            if num_bytes > MAX_BYTES:
                break
            # An entry made this way has no date, so that the same inputs make the same file.
            archive.writestr(zipfile.ZipInfo(file.name), file.read_bytes())


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description="Exchange inputs between fuzzing corpora and committed zip files.")
    parser.add_argument("action", choices=["unpack", "pack"])
    parser.add_argument("targets", nargs="*", help="names of fuzz targets; all by default")
    options = parser.parse_args()
    for name, path in zip_paths().items():
        if options.targets and name not in options.targets:
            continue
        if options.action == "pack":
            pack(path)
        elif path.exists():
            unpack(path)


if __name__ == "__main__":
    main()
