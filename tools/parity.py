"""Compare our pixels with recordings of other libraries; `python tools/parity.py` prints the tables of the docs.

`python tools/parity.py --write` writes the tables to docs/decoding/parity.md, between two comments.
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
KERNEL_NAMES = {"linear": "bilinear"}
Array = np.ndarray[Any, Any]
Row = tuple[str, str, str]
Differences = defaultdict[Row, list[float]]
CHANNELS = {"rgb": "rgb", "grey": "gray"}  # by their names in the recordings


def load_recording(name: str) -> dict[str, Array]:
    """Return the arrays that one library decoded."""
    with np.load(DECODED / f"{name}.npz") as saved:
        return {key: saved[key] for key in saved.files}


def find_largest_difference(ours: Array, theirs: Array) -> float:
    """Return the largest absolute difference between two images."""
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        raise ValueError(f"expected {theirs.dtype} of shape {theirs.shape}, got {ours.dtype} of shape {ours.shape}")
    return float(np.abs(ours.astype(np.float64) - theirs.astype(np.float64)).max())


def compare_decoders() -> Differences:
    """Compare decoded images with those of each library, with the options of its preset."""
    files, found = load_recording("pictures"), Differences(list)
    for library in ("opencv", "tensorflow", "mxnet"):
        recorded = load_recording(library)
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
                    find_largest_difference(ours, theirs)
                )
            elif word in ("fast", "plain", "scale2", "scale4", "scale8") and name != "jpeg_cmyk":
                scale = int(word.removeprefix("scale")) if word.startswith("scale") else 1
                options = {"scale": scale, "upsampling": "plain" if word == "plain" else None}
                ours = rm.decode_image(files[name], like=library, channels="rgb", **options)
                what = {"fast": "its own transform", "plain": "plain upsampling"}.get(word, f"1/{scale} of the size")
                found[version, f"JPEG with {what}", "8 bits"].append(find_largest_difference(ours, theirs))
    return found


def compare_kernels() -> Differences:
    """Compare the results of each resize kernel with those of its library."""
    found = Differences(list)
    sources = list(read_sources())
    for library in ("pillow", "opencv", "tensorflow", "mxnet"):
        lines = (RESIZED / f"{library}.txt").read_text(encoding="utf-8").splitlines()
        version = lines[0].removeprefix("# ").replace("-python-headless", "")
        data = (RESIZED / f"{library}.bin").read_bytes()
        for line in (line.split() for line in lines if line.startswith(f"{library}_")):
            row, ours, theirs = run_resize(line, data, sources)
            found[version, *row].append(find_largest_difference(ours, theirs))
    return found


def read_sources() -> Iterator[Array]:
    """Yield the images that were resized for the recordings."""
    data = (RESIZED / "images.bin").read_bytes()
    for line in (RESIZED / "images.txt").read_text(encoding="utf-8").splitlines():
        width, height, channels, offset = map(int, line.split())
        yield np.frombuffer(data, np.uint8, width * height * channels, offset).reshape(height, width, channels)


def run_resize(line: list[str], data: bytes, sources: list[Array]) -> tuple[tuple[str, str], Array, Array]:
    """Return the kernel and the dtype of the source, our result, and the recorded result."""
    (operation, kind), (source, width, height, channels, offset) = line[:2], map(int, line[2:7])
    theirs = np.frombuffer(data, TYPES[kind], width * height * channels, offset).reshape(height, width, channels)
    library, _, word = operation.partition("_")
    word = ("antialiased_" if line[7:] == ["1"] else "") + KERNEL_NAMES.get(word, word)
    name = f"{'opencv' if library == 'mxnet' else library}:{word}"
    pixels, depth = sources[source], "8 bits"
    if kind == "u16":
        pixels, depth = pixels.astype(np.uint16) * 257, "16 bits"
    elif library == "pillow" and kind == "f32":
        pixels, depth = pixels.astype(np.float32) * 257, "float32"
    return (f"`{name}`", depth), rm.resize(pixels, (height, width), kernel=name), theirs


def format_table(found: Differences) -> str:
    """Return the comparisons as a Markdown table."""
    lines = ["| Library | What | Source | Compared | Largest difference |", "|---|---|---|---|---|"]
    for (version, what, source), differences in found.items():
        worst = max(differences)
        text = "equal" if worst == 0 else f"{worst:.0f} level" if worst >= 1 else "below 0.001 level"
        lines.append(f"| {version} | {what} | {source} | {len(differences)} | {text} |")
    return "\n".join(lines) + "\n"


def build_tables() -> str:
    """Return both tables with their headings."""
    return f"### Decoding\n\n{format_table(compare_decoders())}\n### Resizing\n\n{format_table(compare_kernels())}"


def main(arguments: list[str]) -> None:
    """Print the tables, or write them to the page."""
    text = build_tables()
    if arguments != ["--write"]:
        print(text)
        return
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(MARKS[0])
    PAGE.write_text(f"{before}{MARKS[0]}\n{text}\n{MARKS[1]}{rest.partition(MARKS[1])[2]}", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
