"""Create the source for `recordmill.pack` from the command line arguments."""

from __future__ import annotations

import argparse
import os
from typing import Any

from recordmill.cli.export import parse_class_names
from recordmill.cli.options import read_path_lists

KINDS = ("folder", "labels", "list", "table", "pairs")


def create_source(args: argparse.Namespace) -> Any:
    """Create the source from the path and the options on the command line."""
    import recordmill as rm
    from recordmill.packing.sources import detect_source_kind, find_source

    if args.source == "-":
        return _create_path_list_source(args)
    find_source(args.source)
    kind = args.kind or detect_source_kind(args.source)
    _check_options_have_effect(args, kind)
    if kind == "folder":
        labels: Any = "folders" if args.labels else None
        return rm.ImageFolder(
            args.source, labels=labels, classes=_parse_classes(args), allow_outside=args.allow_outside
        )
    allowed = {"allow_outside": args.allow_outside, "allow_duplicates": args.allow_duplicates}
    if kind == "labels":
        return rm.LabelFile(args.source, root=args.root, **allowed)
    if kind == "list":
        return rm.ListFile(args.source, root=args.root, **allowed)
    if kind == "pairs":
        return _create_image_mask_source(args)
    return rm.Table(
        args.source,
        root=args.root,
        image=args.image,
        label=_choose_label_columns(args),
        features=args.features or (),
        classes="auto" if args.classes == "auto" else _parse_classes(args),
        header=args.header,
        **allowed,
    )


def _create_path_list_source(args: argparse.Namespace) -> Any:
    from recordmill.packing.sources.lists import PathList

    if args.kind is not None:
        raise ValueError(f"--source {args.kind} cannot be combined with the argument '-' (paths from standard input)")
    _check_options_have_effect(args, "paths")
    paths = tuple(read_path_lists(["-"]))
    return PathList(paths, "standard input", args.root, args.allow_outside, args.allow_duplicates)


def _create_image_mask_source(args: argparse.Namespace) -> Any:
    import recordmill as rm
    from recordmill.packing.sources.folders import VOC_FOLDERS

    if args.names is None:
        return rm.ImagePairs.voc(args.source, args.split or "train", allow_outside=args.allow_outside)
    images, masks = (os.path.join(args.source, name) for name in VOC_FOLDERS)
    return rm.ImagePairs(images, masks, args.names, allow_outside=args.allow_outside)


def _parse_classes(args: argparse.Namespace) -> list[str] | None:
    return parse_class_names(args.classes)


def _choose_label_columns(args: argparse.Namespace) -> Any:
    if not args.labels:
        return None
    if args.label is None:
        return "auto"
    return args.label[0] if len(args.label) == 1 else args.label


def _check_options_have_effect(args: argparse.Namespace, kind: str) -> None:
    """Raise InputError if the caller passed an option that has no effect on this kind of source."""
    import recordmill as rm

    options = {
        "--root": (args.root is not None, ("labels", "list", "table", "paths")),
        "--split": (args.split is not None, ("pairs",)),
        "--names": (args.names is not None, ("pairs",)),
        "--image": (args.image is not None, ("table",)),
        "--label": (args.label is not None, ("table",)),
        "--features": (args.features is not None, ("table",)),
        "--no-header": (not args.header, ("table",)),
        "--allow-duplicates": (args.allow_duplicates, ("labels", "list", "table", "paths")),
        "--no-labels": (not args.labels, ("folder", "table", "paths")),
        "--classes": (args.classes is not None, ("folder", "table")),
    }
    for option, (is_set, kinds) in options.items():
        if is_set and kind not in kinds:
            raise rm.InputError(
                f"{option} has no effect on this kind of source",
                kind="idle_option",
                shard=args.source,
                expected=" or ".join(kinds),
                found=kind,
                hint="set the kind of the source with --source",
            )
