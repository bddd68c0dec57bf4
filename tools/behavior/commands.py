"""Output of the commands with --json, without the texts of messages, and their exit codes."""

from __future__ import annotations

import io
import json
import os
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import recordmill as rm
from recordmill.cli.main import main
from tools.behavior.digest import Results
from tools.behavior.packed import FORMATS, make_examples, make_sources, read_files, to_image_record

SENTENCES = ("message", "error", "hint", "guarantees", "damage")


def run_command(*args: str) -> Any:
    """Return the exit code and the parsed output of a command."""
    out = io.StringIO()
    with redirect_stdout(out), redirect_stderr(io.StringIO()):
        try:
            code = main([*args, "--json"])
        except SystemExit as end:
            code = int(str(end.code))
    return [code, _without_sentences(_parse(out.getvalue()))]


def _parse(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return [json.loads(line) for line in text.splitlines()]


def _without_sentences(value: Any) -> Any:
    if isinstance(value, list):
        return [_without_sentences(item) for item in value]
    if isinstance(value, dict):
        return {key: "…" if key in SENTENCES and item else _without_sentences(item) for key, item in value.items()}
    return value


def record_commands(folder: Path) -> Results:
    """Yield exit codes and output for small files, some of them damaged."""
    make_sources(folder)
    yield from _pack_commands()
    for format_name in FORMATS:
        _write_shards(folder, format_name)
        for state in ("good", "flipped", "cut", "empty", "images"):
            pattern = f"{format_name}-{state}*"
            yield f"info/{format_name}/{state}", run_command("info", pattern)
            yield f"info/n=2/{format_name}/{state}", run_command("info", "-n", "2", pattern)
            yield f"head/{format_name}/{state}", run_command("head", pattern)
            yield f"head/n=2/raw/{format_name}/{state}", run_command("head", "-n", "2", "--payload", "raw", pattern)
            yield f"verify/{format_name}/{state}", run_command("verify", pattern)
            yield f"verify/payload=none/{format_name}/{state}", run_command("verify", "--payload", "none", pattern)
            yield f"index/{format_name}/{state}", run_command("index", "--foreign", pattern)
            yield f"index/entry_points/{format_name}/{state}", run_command("index", "--entry-points", pattern)
    for command in ("info", "head", "verify", "index"):
        yield f"{command}/missing_file", run_command(command, "no-such-file")
        yield f"{command}/other_format", run_command(command, "sources/table.csv")
        yield f"{command}/wrong_format", run_command(command, "--format", "recordio", "tfrecord-good*")


def _write_shards(folder: Path, format_name: str) -> None:
    good = folder / f"{format_name}-good"
    examples: Any = make_examples(9)
    if format_name == "recordio":
        examples = map(to_image_record, examples)
    with rm.ShardWriter(good, format=format_name, shards=2) as writer:
        for example in examples:
            writer.write(example)
    rm.pack(rm.ImageFolder("sources/classes"), f"{format_name}-images", format=format_name)
    shard = min(folder.glob(f"{format_name}-good*"))
    data, suffix = shard.read_bytes(), shard.suffix
    flipped = bytearray(data)
    flipped[len(data) // 2] ^= 4
    (folder / f"{format_name}-flipped{suffix}").write_bytes(flipped)
    (folder / f"{format_name}-cut{suffix}").write_bytes(data[:-7])
    (folder / f"{format_name}-empty{suffix}").write_bytes(b"")


def _pack_commands() -> Results:
    choices = {
        "folder": ("sources/classes",),
        "list": ("sources/list.lst", "--root", "sources/flat", "--format", "recordio"),
        "labels": ("sources/labels.jsonl", "--root", "sources/flat", "--format", "ofrecord"),
        "table": ("sources/table.csv", "--root", "sources/flat", "--features", "id", "--label", "word"),
        "table_classes": ("sources/table.csv", "--root", "sources/flat", "--label", "word", "--classes", "auto"),
        "pairs": ("sources/voc", "--pairs", "--mask", "raw"),
        "shards": ("sources/classes", "--shards", "3", "--shuffle", "4", "--workers", "2", "--keep-shape"),
        "max_shard_bytes": ("sources/classes", "--max-shard-bytes", "9kB", "--compression", "gzip"),
        "missing_source": ("sources/nowhere",),
        "unknown_classes": ("sources/classes", "--classes", "a,b"),
    }
    for name, args in choices.items():
        destination = Path(f"commands-{name}")
        output = run_command("pack", *args, os.path.join(destination, "part"), "--quiet")
        yield f"pack/{name}", [output, read_files(destination) if destination.exists() else None]
