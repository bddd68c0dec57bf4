"""Which source of `recordmill.pack` a path on the command line stands for."""

from __future__ import annotations

import argparse
import os
from typing import Any

KINDS = ("folder", "labels", "list", "table", "pairs")
_ENDINGS = {".lst": "list", ".csv": "table", ".tsv": "table", ".tab": "table"}


def make_source(args: argparse.Namespace) -> Any:
    """Build the source.

    Parameters
    ----------
    args : argparse.Namespace
        With `source`, `kind`, `root`, `split`, `labels` and `classes`.

    Returns
    -------
    recordmill.ImageFolder, LabelFile, ListFile, Table or ImagePairs

    Raises
    ------
    recordmill.InputError
        Nothing is there, a folder that is no source, or an option that means nothing for the source.
    """
    import recordmill as rm

    kind = args.kind or find_kind(args.source)
    _refuse_idle(args, kind)
    classes = None if args.classes is None else [name.strip() for name in args.classes.split(",")]
    if kind == "folder":
        return rm.ImageFolder(args.source, labels="folders" if args.labels else None, classes=classes)
    if kind == "labels":
        return rm.LabelFile(args.source, root=_label_root(args))
    if kind == "list":
        return rm.ListFile(args.source, root=args.root)
    if kind == "table":
        return rm.Table(args.source, root=args.root, label="auto" if args.labels else None, classes=classes)
    return rm.ImagePairs.voc(args.source, args.split or "train")


def find_kind(path: str) -> str:
    """Tell the kind of a source from what is there.

    Parameters
    ----------
    path : str

    Returns
    -------
    {"folder", "labels", "list", "table", "pairs"}

    Raises
    ------
    recordmill.InputError
        Nothing is there.
    """
    import recordmill as rm

    if os.path.isdir(path):
        folders = ("JPEGImages", "SegmentationClass")
        return "pairs" if all(os.path.isdir(os.path.join(path, name)) for name in folders) else "folder"
    if not os.path.exists(path):
        hint = "give a folder of class folders, or a label file, .lst, .csv or .tsv"
        raise rm.InputError("there is nothing to pack", kind="missing_source", shard=path, hint=hint)
    return _ENDINGS.get(os.path.splitext(path)[1].lower()) or _kind_of_text(path)


def _kind_of_text(path: str) -> str:
    """Tell label file, list and table apart by the first line."""
    with open(path, encoding="utf-8", errors="replace") as file:
        first = file.readline(1 << 16).lstrip("\ufeff").strip()
    fields = first.split("\t")
    if first.startswith("{") or not first:
        return "labels"
    if len(fields) >= 3 and fields[0].strip().isdecimal():
        return "list"
    return "table" if "," in first else "labels"


def _label_root(args: argparse.Namespace) -> Any:
    """Folder of a label file's names: the file's own, unless one is given or the names are paths as they are."""
    if args.root is not None:
        return args.root
    return None


def _refuse_idle(args: argparse.Namespace, kind: str) -> None:
    """Refuse options that would have no effect."""
    import recordmill as rm

    meant = {
        "--root": (args.root is not None, ("labels", "list", "table")),
        "--split": (args.split is not None, ("pairs",)),
        "--no-labels": (not args.labels, ("folder", "table")),
        "--classes": (args.classes is not None, ("folder", "table")),
    }
    for option, (given, kinds) in meant.items():
        if given and kind not in kinds:
            raise rm.InputError(
                f"{option} means nothing for this source",
                kind="idle_option",
                shard=args.source,
                expected=" or ".join(kinds),
                found=kind,
                hint="say what the source is with --source",
            )
