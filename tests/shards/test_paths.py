"""Paths of shards: links, directories, missing names and invalid values."""

from __future__ import annotations

import io
import os
import pickle
import sys
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import recordmill as rm
from tests.shards.helpers import encode_message, write_shard


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_shard(tmp_path, "tfrecord", [encode_message("tfrecord", number) for number in range(5)], "part-0")
    return tmp_path


@pytest.mark.parametrize("pattern", ["", "part-*"])
def test_open_raises_for_dangling_link(folder: Path, pattern: str) -> None:
    (folder / "part-1.tfrecord").symlink_to("annex/part-1.tfrecord")
    with pytest.raises(FileNotFoundError, match="points to 'annex/part-1") as caught:
        rm.open(os.path.join(folder, pattern))
    assert caught.value.filename == str(folder / "part-1.tfrecord")


def test_open_follows_links_to_shards(folder: Path, tmp_path: Path) -> None:
    links = tmp_path / "links"
    links.mkdir()
    (links / "part-0.tfrecord").symlink_to(folder / "part-0.tfrecord")
    (links / "elsewhere").symlink_to(folder)
    assert len(rm.open(links)) == 5


MISSING_NAMES = {
    "~/nothing-*": "expanduser",
    "part-{0,1}.tfrecord": "not braces",
    "[photos]/part-*": "glob.escape",
    "nothing": "no shard has this name",
}


@pytest.mark.parametrize("name", MISSING_NAMES)
def test_error_for_missing_name_explains_reason(name: str) -> None:
    with pytest.raises(FileNotFoundError, match=MISSING_NAMES[name]) as caught:
        rm.open(name)
    assert caught.value.filename == name


def test_open_of_empty_directory_raises(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="the directory contains no shards"):
        rm.open(tmp_path)


@pytest.mark.parametrize("paths", [None, 3, b"part", bytearray(b"part"), [b"part"], ["part", None]])
def test_open_rejects_values_that_are_not_paths(paths: Any) -> None:
    with pytest.raises(TypeError, match="must be a path, a pattern, a directory or an iterable of them, got "):
        rm.open(paths)


READERS: dict[str, Callable[[Any], object]] = {
    "open": rm.open,
    "ShardReader": rm.ShardReader,
    "verify": rm.verify,
    "info": rm.info,
    "build_index": rm.build_index,
}


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("file", [io.BytesIO(), io.BytesIO(b"a\nb\n"), io.StringIO("a\nb\n")], ids=["0", "b", "s"])
def test_readers_reject_files_in_memory(name: str, file: Any) -> None:
    kind = type(file).__name__
    with pytest.raises(TypeError, match=f"paths must be a path, .*, got {kind}; .*write them to a file"):
        READERS[name](file)


def test_open_rejects_open_file(folder: Path) -> None:
    with (folder / "part-0.tfrecord").open("rb") as file, pytest.raises(TypeError, match="got BufferedReader; "):
        rm.open(file)  # type: ignore[arg-type]


USERS_OF_STORAGE: dict[str, Callable[[Any], object]] = READERS | {
    "PayloadReader": rm.PayloadReader,
    "ShardWriter": rm.ShardWriter,
    "PayloadWriter": lambda path: rm.PayloadWriter(path, format="tfrecord"),
    "pack": lambda path: rm.pack([{"id": 1}], path),
    "convert": lambda path: rm.convert(path, "out/train"),
    "iterate_payloads": lambda path: list(rm.iterate_payloads(path)),
    "read_faces": rm.read_faces,
}
SOURCES_OF_IMAGES: dict[str, Callable[[Any], object]] = {
    "pack_source": lambda path: rm.pack(path, "out"),
    "ImageFolder": lambda path: len(rm.ImageFolder(path)),
    "ImagePairs": lambda path: len(rm.ImagePairs(path, ".")),
    "LabelFile": lambda path: len(rm.LabelFile(path)),
    "ListFile": lambda path: len(rm.ListFile(path)),
    "Table": lambda path: len(rm.Table(path)),
}


@pytest.mark.parametrize("name", USERS_OF_STORAGE | SOURCES_OF_IMAGES)
@pytest.mark.parametrize("address", ["hdfs://host/train", "ftp://example.org/a.rec"])
def test_address_of_unknown_scheme_is_rejected(
    name: str, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(rm.UnsupportedPathError, match=r"with the scheme .* are not supported") as caught:
        (USERS_OF_STORAGE | SOURCES_OF_IMAGES)[name](address)
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (copy.kind, copy.shard, str(copy)) == ("remote_path", address, str(caught.value))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["ShardWriter", "PayloadWriter", "pack", "convert", "export", "salvage", "split"])
def test_writers_refuse_a_web_server(name: str, folder: Path) -> None:
    secret, source = "https://user:secret@host/a.rec?X-Amz-Signature=secret", folder / "part-0.tfrecord"
    writers: dict[str, Callable[[str], object]] = {
        **USERS_OF_STORAGE,
        "convert": lambda path: rm.convert(source, path),
        "export": lambda path: rm.export(source, path, to="csv"),
        "salvage": lambda path: rm.salvage(source, path),
        "split": lambda path: rm.split(source, path, {"train": 1.0}),
    }
    with pytest.raises(rm.UnsupportedPathError, match="cannot be written to a web server") as caught:
        writers[name](secret)
    assert b"secret" not in pickle.dumps(caught.value)


@pytest.mark.parametrize("name", USERS_OF_STORAGE | SOURCES_OF_IMAGES)
@pytest.mark.parametrize("address", ["s3://user:secret@bucket/train", "gs://bucket:80/train"])
def test_names_of_buckets_contain_no_passwords_and_ports(name: str, address: str) -> None:
    with pytest.raises(rm.UnsupportedPathError, match="the name of a bucket must not contain") as caught:
        (USERS_OF_STORAGE | SOURCES_OF_IMAGES)[name](address)
    assert b"secret" not in pickle.dumps(caught.value)


@pytest.mark.parametrize("source", [rm.LabelFile, rm.ListFile, rm.Table])
def test_repr_of_a_list_of_images_contains_no_signature(source: Callable[[str], rm.Source]) -> None:
    text = repr(source("https://host/images.csv?X-Amz-Signature=secret"))
    assert "https://host/images.csv" in text and "secret" not in text


@pytest.mark.parametrize("source", [rm.ImageFolder, lambda path: rm.ImagePairs(path, path)])
def test_folder_of_images_cannot_be_on_a_web_server(source: Callable[[str], rm.ImageFolder]) -> None:
    with pytest.raises(rm.UnsupportedPathError, match="web servers do not list their folders"):
        source("https://example.org/photos").rows()


@pytest.mark.parametrize(
    "name,address",
    [
        *product(USERS_OF_STORAGE, ["s3://bucket/train", "gs://bucket/part-0"]),
        *product(READERS, ["https://example.org/a.rec"]),
        *product(SOURCES_OF_IMAGES, ["s3://bucket/train", "gs://bucket/part-0"]),
    ],
)
def test_address_without_obstore_names_the_extra(
    name: str, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "obstore", None)
    with pytest.raises(rm.MissingExtraError, match=r"pip install 'recordmill\[cloud\]'"):
        (USERS_OF_STORAGE | SOURCES_OF_IMAGES)[name](address)
    assert list(tmp_path.iterdir()) == []


def test_address_that_pathlib_shortened_is_an_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "obstore", None)
    with pytest.raises(rm.MissingExtraError):
        rm.ShardWriter(Path("s3://bucket/train"))
    assert list(tmp_path.iterdir()) == []


def test_local_paths_and_addresses_cannot_be_combined(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(rm.UnsupportedPathError, match=r"is an address, but .part-0\.tfrecord. is a local path"):
        rm.open(["part-0.tfrecord", "s3://bucket/part-1.tfrecord"])


def test_file_address_is_a_local_path(folder: Path) -> None:
    (folder / "part-0.tfrecord").rename(folder / "part 0.tfrecord")
    assert len(rm.open(f"file://{folder}/part%200.tfrecord")) == len(rm.open(folder / "part 0.tfrecord"))


def test_existing_folder_whose_name_ends_with_colon_is_local(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("run:").mkdir()
    rm.pack([{"id": 1}], "run:/train.tfrecord")
    assert len(rm.open("run:/train.tfrecord")) == 1


def test_build_index_raises_if_index_cannot_be_saved(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recordmill.shards.build_index.save_sidecar", lambda *_, **__: None)
    assert len(rm.open(folder)) == 5
    with pytest.raises(rm.WriteError, match="RECORDMILL_CACHE"):
        rm.build_index(folder)


@pytest.mark.parametrize("other_name", ["README.md", "labels-1.txt"])
def test_error_for_other_file_suggests_pattern(tmp_path: Path, other_name: str) -> None:
    with rm.ShardWriter(tmp_path / "train", shards=3) as writer:
        for number in range(9):
            writer.write({"id": number})
    for name in (other_name, "CITATION.cff"):
        (tmp_path / name).write_text("# What these data are\n")
    with pytest.raises(rm.FormatError, match="the file is text") as caught:
        rm.open(tmp_path)
    hint, _, pattern = str(caught.value.hint).partition(", for example ")
    assert hint == "name only the shards" and len(rm.open(pattern.strip("'"))) == 9


def test_error_for_other_file_suggests_single_shard(folder: Path) -> None:
    (folder / "notes.txt").write_text("nothing of interest, and some more of it")
    with pytest.raises(rm.FormatError) as caught:
        rm.open(folder)
    assert str(caught.value.hint).endswith(f"for example '{folder / 'part-0.tfrecord'}'")
