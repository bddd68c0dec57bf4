"""``python -m recordmill.compat.mxnet.im2rec``: create image lists from a folder, or record files from lists."""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import recordmill as rm
from recordmill.compat.mxnet.recordio import IRHeader, MXIndexedRecordIO, pack, pack_img, reverse_colors
from recordmill.concurrency.threads import map_ordered

# MXNet shuffles lists with this seed.
_SEED = 100
_CHANNELS = {-1: "stored", 0: "gray", 1: "bgr"}
# Key, label and relative path of one image.
ListRow = tuple[int, int, str]


@dataclass(frozen=True, slots=True)
class ListEntry:
    """A line of an image list: key, labels and relative path."""

    key: int
    labels: list[float]
    name: str


def create_parser() -> argparse.ArgumentParser:
    """Create the argument parser, with the option names and defaults of MXNet's im2rec.py."""
    parser = argparse.ArgumentParser(
        prog="python -m recordmill.compat.mxnet.im2rec",
        description="Create image lists from a folder (--list), or record files from image lists.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument("prefix", help="prefix of the names of .lst, .rec and .idx files, or a folder of .lst files")
    parser.add_argument("root", help="folder of the images")
    lists = parser.add_argument_group("lists")
    lists.add_argument("--list", action="store_true", help="create lists")
    lists.add_argument("--exts", nargs="+", default=[".jpeg", ".jpg", ".png"], help="suffixes of images")
    lists.add_argument("--chunks", type=_parse_positive_int, default=1, help="number of lists")
    lists.add_argument("--train-ratio", type=float, default=1.0, help="fraction of images in the training list")
    lists.add_argument("--test-ratio", type=float, default=0, help="fraction of images in the test list")
    lists.add_argument("--recursive", action="store_true", help="use a label for each folder below the root")
    lists.add_argument("--no-shuffle", dest="shuffle", action="store_false", help="keep the order of names")
    records = parser.add_argument_group("records")
    records.add_argument("--pass-through", action="store_true", help="store files without decoding them")
    records.add_argument("--resize", type=int, default=0, help="length of the shorter side; 0 keeps the size")
    records.add_argument("--center-crop", action="store_true", help="crop to the central square first")
    records.add_argument("--quality", type=int, default=95, help="JPEG quality, 1 to 100; PNG compression, 0 to 9")
    records.add_argument("--num-thread", type=int, default=1, help="number of threads")
    records.add_argument("--color", type=int, default=1, choices=[-1, 0, 1], help="-1: as stored, 0: gray, 1: color")
    records.add_argument("--encoding", default=".jpg", choices=[".jpg", ".png"], help="format of the stored images")
    records.add_argument("--pack-label", action="store_true", help="store all labels of an image, not only the first")
    return parser


def _parse_positive_int(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, got {text}")
    return number


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    options = create_parser().parse_args(arguments)
    prefix, root = os.path.abspath(options.prefix), os.path.abspath(options.root)
    if not os.path.isdir(root):
        print(f"{options.root} is not a folder", file=sys.stderr)
        return 2
    if options.list:
        write_image_lists(prefix, root, options)
        return 0
    folder = prefix if os.path.isdir(prefix) else os.path.dirname(prefix)
    names = sorted(os.path.join(folder, name) for name in os.listdir(folder) if name.endswith(".lst"))
    lists = [name for name in names if name.startswith(prefix) and os.path.isfile(name)]
    if not lists:
        print(f"Did not find and list file with prefix {prefix}")
    for name in lists:
        print("Creating .rec file from", name, "in", folder, flush=True)
        num_skipped = pack_image_list(name, root, options)
        if num_skipped:
            print(f"{name}: skipped {num_skipped} images", file=sys.stderr)
    return 0


def write_image_lists(prefix: str, root: str, options: argparse.Namespace) -> None:
    """Write the train, test and val lists of the images in a folder (option ``--list``)."""
    images = _find_labeled_images(root, options.exts, recursive=options.recursive)
    rows = [(key, label, name) for key, (label, name) in enumerate(images)]
    if options.shuffle:
        random.Random(_SEED).shuffle(rows)
    length = -(-len(rows) // options.chunks)
    for chunk in range(options.chunks):
        name = f"{prefix}_{chunk}" if options.chunks > 1 else prefix
        for suffix, part in _split_into_lists(rows[chunk * length : (chunk + 1) * length], length, options):
            keys, labels, paths = zip(*part, strict=True) if part else ((), (), ())
            Path(f"{name}{suffix}.lst").write_bytes(rm.format_image_list(keys, labels, paths))


def _find_labeled_images(root: str, exts: Collection[str], *, recursive: bool) -> list[tuple[int, str]]:
    """Return (label, relative path) of each image. Labels are subfolder numbers if `recursive`, else 0."""
    if not recursive:
        return [(0, name) for name in sorted(os.listdir(root)) if _has_image_extension(os.path.join(root, name), exts)]
    labels: dict[str, int] = {}
    images = []
    for folder, names in _walk_folders(root, frozenset()):
        for name in names:
            path = os.path.join(folder, name)
            if _has_image_extension(path, exts):
                images.append((labels.setdefault(folder, len(labels)), os.path.relpath(path, root)))
    for folder, label in labels.items():
        print(os.path.relpath(folder, root), label)
    return images


def _walk_folders(folder: str, parents: frozenset[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield each folder and the sorted names of its files, parents first; skip links to a parent folder."""
    real = os.path.realpath(folder)
    if real in parents:
        return
    entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
    yield folder, [entry.name for entry in entries if not entry.is_dir()]
    for entry in entries:
        if entry.is_dir():
            yield from _walk_folders(entry.path, parents | {real})


def _has_image_extension(path: str, exts: Collection[str]) -> bool:
    return os.path.splitext(path)[1].lower() in exts and os.path.isfile(path)


def _split_into_lists(rows: list[ListRow], length: int, options: argparse.Namespace) -> list[tuple[str, list[ListRow]]]:
    """Split rows into train, test and val lists by the ratios in `options`; return (file suffix, rows) pairs."""
    if options.train_ratio == 1.0:
        return [("", rows)]
    num_train, num_test = int(length * options.train_ratio), int(length * options.test_ratio)
    parts = [("_train", rows[num_test : num_test + num_train])]
    if options.test_ratio:
        parts.append(("_test", rows[:num_test]))
    if options.train_ratio + options.test_ratio < 1.0:
        parts.append(("_val", rows[num_test + num_train :]))
    return parts


def pack_image_list(path: str, root: str, options: argparse.Namespace) -> int:
    """Pack the images of a list into a record file with an index file; return the number of skipped images."""
    entries = _read_list_entries(path)
    if not options.pack_label:
        entries = [ListEntry(entry.key, entry.labels[:1], entry.name) for entry in entries]
    prefix = os.path.splitext(path)[0]
    has_equal_widths = len({len(entry.labels) for entry in entries}) == 1
    if options.pass_through and has_equal_widths and min(entry.key for entry in entries) >= 0:
        return _pack_files_without_decoding(entries, prefix + ".rec", root, options.num_thread)
    return _reencode_and_pack_images(entries, prefix, root, options)


def _read_list_entries(path: str) -> list[ListEntry]:
    """Read an image list; print a message for each invalid line and skip it."""
    entries = []
    for line in Path(path).read_text("utf-8", "surrogateescape").split("\n"):
        fields = [field.strip() for field in line.strip().split("\t")]
        if len(fields) < 3:
            if line:
                print(f"a line must have at least 3 fields, got {len(fields)}: {fields}")
            continue
        try:
            entries.append(ListEntry(int(fields[0]), [float(field) for field in fields[1:-1]], fields[-1]))
        except ValueError as error:
            print(f"a line must contain a key, labels and a path, got {fields}: {error}")
    return entries


def _pack_files_without_decoding(entries: Sequence[ListEntry], destination: str, root: str, workers: int) -> int:
    """Pack the bytes of image files without decoding them; return the number of skipped files."""
    rows = (f"{entry.key}\t" + "".join(f"{label!r}\t" for label in entry.labels) + entry.name for entry in entries)
    with tempfile.TemporaryDirectory() as folder:
        listed = Path(folder) / "entries.lst"
        listed.write_text("\n".join(rows), "utf-8", "surrogateescape")
        source = rm.ListFile(listed, root, allow_outside=True, allow_duplicates=True)
        options = {"check": "none", "on_error": "skip", "overwrite": True, "workers": max(workers, 1)}
        result = rm.pack(source, destination, format="recordio", progress=False, **options)  # type: ignore[arg-type]
    for name, cause in result.skipped:
        print(f"pack_img error: {os.path.relpath(name, root)} {cause}")
    return result.num_skipped


def _reencode_and_pack_images(entries: Sequence[ListEntry], prefix: str, root: str, options: argparse.Namespace) -> int:
    """Decode, resize and encode images in threads, and pack them in list order; return the number of skipped images."""
    record = MXIndexedRecordIO(prefix + ".idx", prefix + ".rec", "w")
    num_skipped = 0

    def build_record(entry: ListEntry) -> tuple[ListEntry, bytes | Exception]:
        try:
            return entry, _build_payload(entry, root, options)
        except rm.MissingExtraError:
            raise
        except (OSError, ValueError, rm.RecordmillError) as error:
            return entry, error

    threads = max(options.num_thread, 1)
    for entry, payload in map_ordered(build_record, iter(entries), threads, 3 * threads):
        if isinstance(payload, Exception):
            print(f"pack_img error: {entry.name} {payload}")
            num_skipped += 1
        else:
            record.write_idx(entry.key, payload)
    record.close()
    return num_skipped


def _build_payload(entry: ListEntry, root: str, options: argparse.Namespace) -> bytes:
    if not 0 <= entry.key < 2**64:
        raise ValueError(f"a key must be in [0, 2**64), got {entry.key}")
    header = IRHeader(0, entry.labels if len(entry.labels) > 1 else entry.labels[0], entry.key, 0)
    data = Path(root, entry.name).read_bytes()
    if options.pass_through:
        return pack(header, data)
    is_unchanged = options.color == -1
    pixels = rm.decode_image(
        data,
        like="opencv",
        channels=_CHANNELS[options.color],  # type: ignore[arg-type]
        orientation="ignore" if is_unchanged else "apply",
        depth="stored" if is_unchanged else "8",
    )
    if is_unchanged and pixels.ndim == 3:
        pixels = reverse_colors(pixels) if pixels.shape[2] > 2 else pixels[:, :, 0]
    height, width = pixels.shape[:2]
    if options.center_crop:
        side = min(height, width)
        top, left = (height - side) // 2, (width - side) // 2
        pixels, height, width = pixels[top : top + side, left : left + side], side, side
    if options.resize:
        length, shorter = options.resize, min(height, width)
        size = (height * length // shorter, width * length // shorter)
        pixels = rm.resize(np.ascontiguousarray(pixels), size, kernel="opencv:bilinear")
    return pack_img(header, pixels, options.quality, options.encoding)


if __name__ == "__main__":
    sys.exit(main())
