"""Compares our pixels with the recordings of other libraries: python tools/parity.py prints the tables of the docs.

``python tools/parity.py --write`` puts them into docs/decoding/parity.md, between its marks.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import recordmill as rm

ROOT = Path(__file__).resolve().parents[1]
DECODED = ROOT / "tests" / "decode" / "recordings"
RESIZED = ROOT / "tests" / "recordings" / "resize"
PAGE = ROOT / "docs" / "decoding" / "parity.md"
MARKS = ("<!-- made by tools/parity.py -->\n", "<!-- end -->\n")
TYPES = {"u8": np.uint8, "u16": np.uint16, "f32": np.float32}
OURS = {"linear": "bilinear"}
Array = np.ndarray[Any, Any]
Row = tuple[str, str, str]
Apart = defaultdict[Row, list[float]]
CHANNELS = {"rgb": "rgb", "grey": "gray"}  # by the words of the recordings


def load(name: str) -> dict[str, Array]:
    """Return the arrays of one recording of decoders."""
    with np.load(DECODED / f"{name}.npz") as saved:
        return {key: saved[key] for key in saved.files}


def apart(ours: Array, theirs: Array) -> float:
    """Return the largest difference."""
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        raise ValueError(f"{ours.dtype} {ours.shape} is not {theirs.dtype} {theirs.shape}")
    return float(np.abs(ours.astype(np.float64) - theirs.astype(np.float64)).max())


def decoders() -> Apart:
    """Compare decoding with each library's, as its preset has it."""
    files, found = load("pictures"), Apart(list)
    for library in ("opencv", "tensorflow", "mxnet"):
        recorded = load(library)
        version = f"{library} {recorded['version']}"
        for key, theirs in recorded.items():
            word, _, name = key.partition("_")
            form = name.partition("_")[0].upper()
            if word in CHANNELS and (word, name) != ("grey", "jpeg_cmyk"):
                options: dict[str, Any] = (
                    {"dct": "accurate", "channels": CHANNELS[word]}
                    if library == "tensorflow"
                    else {"channels": CHANNELS[word]}
                )
                ours = rm.decode_image(files[name], like=library, depth="8", **options)
                found[version, f"{form} to {'color' if word == 'rgb' else 'gray'}", "8 bits"].append(
                    apart(ours, theirs)
                )
            elif word in ("fast", "plain", "scale2", "scale4", "scale8") and name != "jpeg_cmyk":
                scale = int(word.removeprefix("scale")) if word.startswith("scale") else 1
                options = {"scale": scale, "upsampling": "plain" if word == "plain" else None}
                ours = rm.decode_image(files[name], like=library, channels="rgb", **options)
                what = {"fast": "its own transform", "plain": "plain upsampling"}.get(word, f"1/{scale} of the size")
                found[version, f"JPEG with {what}", "8 bits"].append(apart(ours, theirs))
    return found


def kernels() -> Apart:
    """Compare every resize kernel with its library's."""
    found = Apart(list)
    sources = list(pictures())
    for library in ("pillow", "opencv", "tensorflow", "mxnet"):
        lines = (RESIZED / f"{library}.txt").read_text(encoding="utf-8").splitlines()
        version = lines[0].removeprefix("# ").replace("-python-headless", "")
        data = (RESIZED / f"{library}.bin").read_bytes()
        for line in (line.split() for line in lines if line.startswith(f"{library}_")):
            row, ours, theirs = one_resize(line, data, sources)
            found[version, *row].append(apart(ours, theirs))
    return found


def pictures() -> Iterator[Array]:
    """Yield the sources of the resizes."""
    data = (RESIZED / "images.bin").read_bytes()
    for line in (RESIZED / "images.txt").read_text(encoding="utf-8").splitlines():
        width, height, channels, offset = map(int, line.split())
        yield np.frombuffer(data, np.uint8, width * height * channels, offset).reshape(height, width, channels)


def one_resize(line: list[str], data: bytes, sources: list[Array]) -> tuple[tuple[str, str], Array, Array]:
    """Return the kernel and the kind of source, our result and theirs."""
    (operation, kind), (source, width, height, channels, offset) = line[:2], map(int, line[2:7])
    theirs = np.frombuffer(data, TYPES[kind], width * height * channels, offset).reshape(height, width, channels)
    library, _, word = operation.partition("_")
    word = ("antialiased_" if line[7:] == ["1"] else "") + OURS.get(word, word)
    name = f"{'opencv' if library == 'mxnet' else library}:{word}"
    pixels, given = sources[source], "8 bits"
    if kind == "u16":
        pixels, given = pixels.astype(np.uint16) * 257, "16 bits"
    elif library == "pillow" and kind == "f32":
        pixels, given = pixels.astype(np.float32) * 257, "float32"
    return (f"`{name}`", given), rm.resize(pixels, (height, width), kernel=name), theirs


def table(found: Apart) -> str:
    """Return the comparisons as a table of Markdown."""
    lines = ["| Library | What | Source | Compared | Largest difference |", "|---|---|---|---|---|"]
    for (version, what, source), differences in found.items():
        worst = max(differences)
        said = "equal" if worst == 0 else f"{worst:.0f} level" if worst >= 1 else "below 0.001 level"
        lines.append(f"| {version} | {what} | {source} | {len(differences)} | {said} |")
    return "\n".join(lines) + "\n"


def tables() -> str:
    """Return both tables with their headings."""
    return f"### Decoding\n\n{table(decoders())}\n### Resizing\n\n{table(kernels())}"


def main(arguments: list[str]) -> None:
    """Print the tables, or put them into the page."""
    made = tables()
    if arguments != ["--write"]:
        print(made)
        return
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(MARKS[0])
    PAGE.write_text(f"{before}{MARKS[0]}\n{made}\n{MARKS[1]}{rest.partition(MARKS[1])[2]}", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
