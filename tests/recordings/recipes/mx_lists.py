"""Image lists and the records made from them, by the im2rec.py inside the MXNet package."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import cv2
import mxnet as mx

from recipes.mx_headers import summary_json
from recipes.mx_images import gradient
from recipes.values import write_json

IM2REC = Path(mx.__file__).parent / "tools" / "im2rec.py"
PICTURES = [
    "z.jpg",
    "UPPER.JPG",
    "cat/b.jpeg",
    "cat/a.jpg",
    "cat/c.png",
    "dog/grey.png",
    "dog/puppy/p.jpg",
    "dog/q.jpg",
]
NOT_PICTURES = {"notes.txt": b"not a picture\n", "cat/list.csv": b"a,b\n", "empty_folder/readme.md": b"#\n"}
CHATTER = ("time:", "Creating", "multiprocessing not available")
HAND = {  # lists in other dialects, and with lines that im2rec.py skips or refuses
    "plain_integers.lst": b"0\t3\tcat/a.jpg\n1\t0\tcat/b.jpeg\n2\t12\tdog/q.jpg\n",
    "several_labels.lst": b"0\t1\t0.5\t-2\tcat/a.jpg\n1\t2.000000\t0.250000\t7.000000\tcat/c.png\n",
    "unequal_label_counts.lst": b"0\t1\tcat/a.jpg\n1\t2\t3\t4\tcat/b.jpeg\n",
    "odd_keys.lst": b"10\t1\tcat/a.jpg\n7\t2\tcat/b.jpeg\n10\t3\tdog/q.jpg\n",
    "crlf.lst": b"0\t1\tcat/a.jpg\r\n1\t2\tcat/b.jpeg\r\n",
    "skipped_lines.lst": b"0\t1\tcat/a.jpg\n\n1\t2\nx\t1\tcat/b.jpeg\n3\tone\tcat/b.jpeg\n4\t5\tdog/q.jpg\n",
    "float_key.lst": b"0.0\t1\tcat/a.jpg\n1\t2\tcat/b.jpeg\n",
    "spaces.lst": b"0 1 cat/a.jpg\n1\t2\tcat/b.jpeg\n",
    "missing_picture.lst": b"0\t1\tcat/a.jpg\n1\t2\tcat/nowhere.jpg\n2\t3\tdog/q.jpg\n",
    "broken_picture.lst": b"0\t1\tcat/a.jpg\n1\t2\tnotes.txt\n2\t3\tdog/q.jpg\n",
    "empty.lst": b"",
}
LISTINGS = {
    "flat": [],
    "flat_unshuffled": ["--no-shuffle"],
    "recursive": ["--recursive"],
    "recursive_unshuffled": ["--recursive", "--no-shuffle"],
    "only_png": ["--exts", ".png", "--recursive", "--no-shuffle"],
    "chunks": ["--recursive", "--chunks", "3"],
    "split": ["--recursive", "--train-ratio", "0.5", "--test-ratio", "0.25"],
    "split_without_test": ["--recursive", "--no-shuffle", "--train-ratio", "0.7"],
    "chunks_split": ["--recursive", "--chunks", "2", "--train-ratio", "0.5"],
}
PACKINGS: list[tuple[str, str, list[str]]] = [
    ("pass_through", "recursive_unshuffled.lst", ["--pass-through"]),
    ("pass_through_two_workers", "recursive.lst", ["--pass-through", "--num-thread", "2"]),
    ("plain_integers", "plain_integers.lst", ["--pass-through"]),
    ("several_labels", "several_labels.lst", ["--pass-through", "--pack-label"]),
    ("several_labels_first_only", "several_labels.lst", ["--pass-through"]),
    ("unequal_label_counts", "unequal_label_counts.lst", ["--pass-through", "--pack-label"]),
    ("odd_keys", "odd_keys.lst", ["--pass-through"]),
    ("crlf", "crlf.lst", ["--pass-through"]),
    ("skipped_lines", "skipped_lines.lst", ["--pass-through"]),
    ("float_key", "float_key.lst", ["--pass-through"]),
    ("spaces", "spaces.lst", ["--pass-through"]),
    ("missing_picture", "missing_picture.lst", ["--pass-through"]),
    ("missing_picture_two_workers", "missing_picture.lst", ["--pass-through", "--num-thread", "2"]),
    ("broken_picture", "broken_picture.lst", []),
    ("broken_picture_pass_through", "broken_picture.lst", ["--pass-through"]),
    ("empty", "empty.lst", ["--pass-through"]),
    ("encoded", "recursive_unshuffled.lst", []),
    ("encoded_quality_50", "plain_integers.lst", ["--quality", "50"]),
    ("encoded_png", "plain_integers.lst", ["--encoding", ".png", "--quality", "3"]),
    ("resized", "plain_integers.lst", ["--resize", "8", "--encoding", ".png", "--quality", "9"]),
    ("cropped", "plain_integers.lst", ["--center-crop", "--encoding", ".png", "--quality", "9"]),
    ("grey", "plain_integers.lst", ["--color", "0", "--encoding", ".png", "--quality", "9"]),
]


def make_pictures(root: Path) -> None:
    """Write the small pictures and the other files of the data set."""
    for number, name in enumerate(PICTURES):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        image = gradient(12 + number, 17, 1 if "grey" in name else 3, seed=number)
        path.write_bytes(cv2.imencode(path.suffix.lower(), image)[1].tobytes())
    for name, content in NOT_PICTURES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content)


def im2rec(folder: Path, prefix: str, options: list[str]) -> dict[str, Any]:
    """Run im2rec.py in the folder; return its arguments, exit status and the last line of its errors."""
    command = [sys.executable, str(IM2REC), *options, prefix, "pictures"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    said = [line for line in done.stdout.splitlines() if line and not line.startswith(CHATTER)]
    error = done.stderr.strip().splitlines()[-1] if done.returncode else None
    said = [line.replace(f"{folder}/", "") for line in said]
    return {"arguments": [*options, prefix, "pictures"], "exit": done.returncode, "said": said, "error": error}


def _listings(folder: Path) -> list[dict[str, Any]]:
    rows = []
    for name, options in LISTINGS.items():
        ran = im2rec(folder, name, ["--list", *options])
        files = sorted(path.name for path in folder.glob("*.lst"))
        for path in files:
            (folder / path).rename(folder / "lists" / path)
        rows.append({"name": name, **ran, "lists": files})
    return rows


def _read(folder: Path, name: str) -> dict[str, Any]:
    rec, idx = folder / "packed" / f"{name}.rec", folder / "packed" / f"{name}.idx"
    reader = mx.recordio.MXIndexedRecordIO(str(idx), str(rec), "r")
    raws = {key: reader.read_idx(key) for key in dict.fromkeys(reader.keys)}
    sequential = mx.recordio.MXRecordIO(str(rec), "r")
    records = list(iter(sequential.read, None))
    row = {"path": f"packed/{name}.rec", "idx": f"packed/{name}.idx", "key_type": "int", "keys": list(reader.keys)}
    headers = [summary_json(raw) for raw in records]
    by_key = [[key, records.index(raw)] for key, raw in raws.items()]
    return {**row, "records": [raw.hex() for raw in records], "by_key": by_key, "headers": headers}


def _packings(folder: Path) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    rows, files = [], []
    for name, listing, options in PACKINGS:
        shutil.copy(folder / "lists" / listing, folder / "packed" / f"{name}.lst")
        ran = im2rec(folder, f"packed/{name}", options)
        (folder / "packed" / f"{name}.lst").unlink()
        rows.append({"name": name, "list": f"lists/{listing}", **ran})
        if ran["exit"]:  # im2rec.py gave up on the way: what it left is no recording
            for left in (folder / "packed").glob(f"{name}.*"):
                left.unlink()
        else:
            files.append(_read(folder, name))
    return rows, files


def record(out: Path) -> None:
    """Write OUT/lists: pictures, lists, packed records and expected.json."""
    folder = (out / "lists").resolve()
    for name in ("pictures", "lists", "packed"):
        shutil.rmtree(folder / name, ignore_errors=True)
        (folder / name).mkdir(parents=True)
    make_pictures(folder / "pictures")
    for name, content in HAND.items():
        (folder / "lists" / name).write_bytes(content)
    listings = _listings(folder)
    packings, files = _packings(folder)
    write_json(folder / "expected.json", {"listings": listings, "packings": packings, "files": files})
