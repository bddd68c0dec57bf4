"""Sources: the items that each of them lists, and errors that name the file and line."""

from __future__ import annotations

import errno
import json
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recordmill.errors import ImageError, InputError, LabelError, MissingInputError
from recordmill.packing.pack import pack
from recordmill.packing.sources import ImageFolder, ImagePairs, LabelFile, ListFile, Source, Table, detect_source


def label_file(folder: Path, *lines: str) -> Path:
    path = folder / "label.txt"
    path.write_text("".join(line + "\n" for line in lines))
    return path


def test_image_folder_sorts_classes_by_code_point(class_folders: Path) -> None:
    source = ImageFolder(class_folders)
    assert source.classes == ["B", "a", "b"]
    assert len(source) == 14
    assert source.rows().labels.tolist() == [0] * 7 + [1] * 3 + [2] * 4
    assert source.rows().names[:2] == ["B/000.jpg", "B/001.JPG"]
    assert source.rows().names[-1] == "b/more/000.jpeg"
    assert source[-1].path == str(class_folders / "b/more/000.jpeg") and source[-1].label == 2 and source[-1].key == 13


def test_image_folder_lists_same_items_after_pickling(class_folders: Path) -> None:
    source = ImageFolder(class_folders)
    source.rows()
    copy = pickle.loads(pickle.dumps(source))
    assert copy == source and copy.rows().names == source.rows().names


def test_image_folder_rejects_image_outside_class_folders(class_folders: Path) -> None:
    (class_folders / "stray.jpg").write_bytes(b"x")
    with pytest.raises(LabelError, match=r"stray\.jpg.*\n.*labels=None"):
        ImageFolder(class_folders).rows()
    assert ImageFolder(class_folders, labels=None).rows().labels is None
    assert len(ImageFolder(class_folders, labels=None)) == 15


def test_image_folder_numbers_labels_by_classes_argument(class_folders: Path) -> None:
    source = ImageFolder(class_folders, classes=["b", "a", "unused", "B"])
    assert set(source.rows().labels.tolist()) == {0, 1, 3}
    with pytest.raises(LabelError, match="not one of the classes"):
        ImageFolder(class_folders, classes=["b", "a"]).rows()


def test_image_folder_rejects_empty_class_folder(class_folders: Path) -> None:
    (class_folders / "empty").mkdir()
    with pytest.raises(LabelError, match="contains no images"):
        ImageFolder(class_folders).rows()


def test_image_folder_ignores_links_to_parent_folders(class_folders: Path) -> None:
    (class_folders / "a" / "again").symlink_to(class_folders)
    assert len(ImageFolder(class_folders)) == 14


def test_image_folder_lists_only_given_extensions(class_folders: Path) -> None:
    assert ImageFolder(class_folders, labels=None, extensions=[".JPEG"]).rows().names == ["b/more/000.jpeg"]


def test_image_folder_ignores_hidden_files(class_folders: Path) -> None:
    (class_folders / "a" / "._000.jpg").write_bytes(b"")
    (class_folders / ".cache").mkdir()
    assert len(ImageFolder(class_folders)) == 14


@pytest.mark.parametrize("name", ["missing", "empty"])
def test_image_folder_rejects_missing_or_empty_folder(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=name):
        ImageFolder(tmp_path / name).rows()


SOURCES: dict[str, Callable[[str], Source]] = {
    "ImageFolder": ImageFolder,
    "LabelFile": LabelFile,
    "ListFile": ListFile,
    "Table": Table,
    "ImagePairs images": lambda path: ImagePairs(path, "."),
    "ImagePairs masks": lambda path: ImagePairs(".", path),
    "ImagePairs names": lambda path: ImagePairs(".", ".", path),
    "detected": detect_source,
}


@pytest.mark.parametrize("name", SOURCES)
def test_source_error_names_missing_path(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(MissingInputError, match=r"^nosuch does not exist\n  hint: .*working directory") as caught:
        SOURCES[name]("nosuch").rows()
    copy = pickle.loads(pickle.dumps(caught.value))
    for error in (caught.value, copy):
        assert isinstance(error, FileNotFoundError) and isinstance(error, InputError)
        assert (error.filename, error.errno, error.kind) == ("nosuch", errno.ENOENT, "missing_source")
    assert str(copy) == str(caught.value)


def test_image_folder_classes_names_missing_folder() -> None:
    with pytest.raises(FileNotFoundError, match=r"^nosuch does not exist"):
        _ = ImageFolder("nosuch").classes


def test_image_folder_rejects_file(tmp_path: Path) -> None:
    path = label_file(tmp_path)
    with pytest.raises(InputError, match=f"{path} is a file, expected a folder of images"):
        ImageFolder(path).rows()


def test_label_file_joins_names_to_root(flat_folder: Path, tmp_path: Path) -> None:
    path = label_file(tmp_path, '{"00.jpg": 5}', '{"01.jpg": 3, "02.jpg": -4}')
    source = LabelFile(path, root=flat_folder)
    assert source.rows().paths() == [str(flat_folder / name) for name in ("00.jpg", "01.jpg", "02.jpg")]
    assert source.rows().labels.tolist() == [5, 3, -4] and source.rows().labels.dtype == np.int64
    assert source.rows().describe_origin(2) == f"{path}, line 2"


def test_label_file_without_root_uses_names_as_paths(flat_folder: Path, tmp_path: Path) -> None:
    name = os.path.relpath(flat_folder / "00.jpg")
    source = LabelFile(label_file(tmp_path, json.dumps({name: 1}), json.dumps({str(flat_folder / "01.jpg"): 2})))
    assert source.rows().paths() == [name, str(flat_folder / "01.jpg")]


def test_label_file_ignores_trailing_blank_lines(tmp_path: Path) -> None:
    path = tmp_path / "label.txt"
    path.write_bytes(b'\xef\xbb\xbf{"a.png": 1}\r\n{"b.png": 2}\r\n\r\n\n')
    assert LabelFile(path, root="x").rows().names == ["a.png", "b.png"]


@pytest.mark.parametrize(
    "line, expected",
    [
        ("not json", "JSON"),
        ('["a.png", 1]', "object"),
        ("7", "object"),
        ('{"a.png": true}', "number"),
        ('{"a.png": "5"}', "number"),
        ('{"a.png": null}', "number"),
        ('{"a.png": [1]}', "number"),
        ('{"a.png": {"label": 1}}', "number"),
        ('{"a.png": NaN}', "number"),
        ('{"a.png": 99999999999999999999}', "number"),
        ('{"": 5}', "name"),
        ("{}", "at least one"),
        ("", "empty line"),
        ("[" * 100000, "JSON"),
    ],
)
def test_label_file_error_names_invalid_line(tmp_path: Path, line: str, expected: str) -> None:
    path = label_file(tmp_path, '{"first.png": 1}', line, '{"last.png": 2}')
    with pytest.raises(LabelError, match=f"(?s)line 2 .*{expected}") as caught:
        LabelFile(path, root=tmp_path).rows()
    assert caught.value.shard == str(path)


def test_label_file_error_names_line_that_is_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "label.txt"
    path.write_bytes(b'{"a.png": 1}\n{"\xff\xfe.png": 2}\n')
    with pytest.raises(LabelError, match="line 2"):
        LabelFile(path).rows()


@pytest.mark.parametrize("second", ['{"a.png": 2}', '{"./a.png": 2}', '{"b.png": 1, "b.png": 2}'])
def test_label_file_rejects_duplicate_name(tmp_path: Path, second: str) -> None:
    with pytest.raises(ImageError, match=r"line 2 .*already listed"):
        LabelFile(label_file(tmp_path, '{"a.png": 1}', second), root=tmp_path).rows()


@pytest.mark.parametrize("name", ["../a.png", "/etc/a.png", "x/../../a.png"])
def test_label_file_rejects_name_outside_root(tmp_path: Path, name: str) -> None:
    path = label_file(tmp_path, '{"x/../fine.png": 0, "a..b.png": 0}', json.dumps({name: 1}))
    with pytest.raises(ImageError, match=r"line 2 .*outside"):
        LabelFile(path, root=tmp_path / "root").rows()
    assert len(LabelFile(path, root=tmp_path / "root", allow_outside=True)) == 3


@pytest.mark.parametrize("name", [r"a\u0000.png", r"a\ud800.png"])
def test_label_file_rejects_invalid_file_name(tmp_path: Path, name: str) -> None:
    path = label_file(tmp_path, '{"a.png": 0}', f'{{"{name}": 1}}')
    with pytest.raises(ImageError, match=r"line 2 .*NUL character") as caught:
        LabelFile(path).rows()
    assert (caught.value.kind, caught.value.shard) == ("bad_name", str(path))


def test_list_file_uses_index_as_key(flat_folder: Path, tmp_path: Path) -> None:
    path = tmp_path / "a.lst"
    path.write_text("7\t3.000000\t00.jpg\n2\t1\t01.jpg\n")
    items = ListFile(path, root=flat_folder).rows()
    assert items.keys.tolist() == [7, 2] and items.labels.tolist() == [3.0, 1.0]
    assert items.paths() == [str(flat_folder / "00.jpg"), str(flat_folder / "01.jpg")]


def test_list_file_reads_several_labels_as_vector(tmp_path: Path) -> None:
    path = tmp_path / "a.lst"
    path.write_text("0\t1\t2\t.5\ta b.jpg\n1\t4\t5\t6\tc.jpg\n")
    items = ListFile(path).rows()
    assert items.labels.tolist() == [[1, 2, 0.5], [4, 5, 6]] and items.root == str(tmp_path)
    path.write_text("0\t1\t2\ta.jpg\n1\t4\tc.jpg\n")
    assert ListFile(path).rows().labels.to_list() == [[1, 2], [4]]


def test_list_file_rejects_path_outside_root(tmp_path: Path) -> None:
    path = tmp_path / "a.lst"
    path.write_text("0\t1\t../a.jpg\n")
    with pytest.raises(ImageError, match=r"line 1 .*outside"):
        ListFile(path).rows()
    assert len(ListFile(path, allow_outside=True)) == 1


def test_table_detects_columns_by_header(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('split,Label,path,width,note\ntrain,3,"a,b.jpg",10,x\ntrain,4,c.jpg,2.5,"y\nz"\n')
    items = Table(path, features=["width", "note"]).rows()
    assert items.names == ["a,b.jpg", "c.jpg"] and items.labels.tolist() == [3, 4]
    assert items.extra["width"].tolist() == [10, 2.5] and items.extra["note"] == ["x", "y\nz"]


def test_table_without_header_finds_columns_by_position(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_text("1\t2\ta.jpg\n3\t4.5\tb.jpg\n")
    items = Table(path, root="r", image=2, label=[0, 1], header=False).rows()
    assert items.paths() == ["r/a.jpg", "r/b.jpg"] and items.labels.tolist() == [[1, 2], [3, 4.5]]


def test_table_numbers_text_labels_by_classes(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("image,label\na.jpg,dog\nb.jpg,cat\n")
    assert Table(path, classes="auto").rows().labels.tolist() == [1, 0]
    assert Table(path, classes=["dog", "cat"]).rows().labels.tolist() == [0, 1]
    assert Table(path, label=None).rows().labels is None
    with pytest.raises(LabelError, match=r"line 2 .*\n.*\n.*classes"):
        Table(path).rows()
    with pytest.raises(LabelError, match="line 3 "):
        Table(path, classes=["dog"]).rows()


@pytest.mark.parametrize("label", ["99999999999999999999", "-99999999999999999999", "9" * 400, "inf"])
def test_pack_error_names_table_label_beyond_64_bits(tmp_path: Path, label: str) -> None:
    (tmp_path / "t.csv").write_text(f"image,label\na.jpg,{label}\n")
    with pytest.raises(LabelError, match=r"a\.jpg.*line 2"):
        pack(Table(tmp_path / "t.csv"), tmp_path / "out/train", label_kind="int64")


@pytest.mark.parametrize(
    "text, expected",
    [
        ("image,label\na.jpg\n", "line 2 .*columns"),
        ("image,label\n,1\n", "line 2 .*file name"),
        ('image,label\n"a.jpg,1\n', "line 2 "),
        ("image\na.jpg\n", "the table has no column"),
        ("image,label\n../a.jpg,1\n", "line 2 .*outside"),
        ("image,label\na\0.jpg,1\n", "line 2 .*NUL character"),
    ],
)
def test_table_error_names_invalid_line(tmp_path: Path, text: str, expected: str) -> None:
    path = tmp_path / "t.csv"
    path.write_text(text)
    with pytest.raises((LabelError, ImageError), match=expected):
        Table(path).rows()


@pytest.mark.parametrize(
    "kind, text",
    [
        (ListFile, "0\t1\ta.jpg\n1\t2\tx/../a.jpg\n"),
        (Table, "a.jpg,1\na.jpg,2\n"),
        (LabelFile, '{"a.jpg": 1}\n{".//a.jpg": 2}\n'),
    ],
)
def test_list_sources_reject_duplicates_unless_allowed(tmp_path: Path, kind: Any, text: str) -> None:
    path = tmp_path / "a.txt"
    path.write_text(text)
    options = {"header": False} if kind is Table else {}
    with pytest.raises(ImageError, match=r"line 2 .*already listed"):
        kind(path, **options).rows()
    assert len(kind(path, allow_duplicates=True, **options)) == 2


def test_image_pairs_voc_follows_order_of_image_set(voc: Path) -> None:
    items = ImagePairs.voc(voc, "train").rows()
    assert items.names == [f"2007_{index}.jpg" for index in (3, 0, 1, 4)]
    assert items.mask_paths()[0] == str(voc / "SegmentationClass" / "2007_3.png")
    assert ImagePairs.voc(voc)[1].mask == str(voc / "SegmentationClass" / "2007_0.png")


def test_image_pairs_rejects_missing_image_or_mask(voc: Path) -> None:
    with pytest.raises(ImageError, match="mask of 'unlabeled' is missing"):
        ImagePairs(voc / "JPEGImages", voc / "SegmentationClass").rows()
    (voc / "JPEGImages" / "unlabeled.jpg").unlink()
    assert len(ImagePairs(voc / "JPEGImages", voc / "SegmentationClass")) == 5
    (voc / "JPEGImages" / "2007_1.jpg").unlink()
    with pytest.raises(ImageError, match="image of '2007_1' is missing"):
        ImagePairs(voc / "JPEGImages", voc / "SegmentationClass").rows()
    with pytest.raises(ImageError, match=r"image of '2007_1' is missing \(.*train\.txt, line 3\)"):
        ImagePairs.voc(voc).rows()


def test_image_pairs_matches_masks_with_ending(tmp_path: Path) -> None:
    for name in ("i/a.jpg", "m/a_mask.png", "m/a.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"x")
    assert ImagePairs(tmp_path / "i", tmp_path / "m", mask_ending="_mask").rows().masks == ["a_mask.png"]
    (tmp_path / "i/a.png").write_bytes(b"x")
    with pytest.raises(ImageError, match="same stem"):
        ImagePairs(tmp_path / "i", tmp_path / "m", mask_ending="_mask").rows()


@pytest.mark.parametrize(
    "name, kind",
    [
        ("", ImageFolder),
        ("SegmentationClass", ImagePairs),
        ("a.lst", ListFile),
        ("a.csv", Table),
        ("a.tsv", Table),
        ("a.txt", LabelFile),
    ],
)
def test_detect_source_returns_source_for_path(tmp_path: Path, name: str, kind: type) -> None:
    if kind is ImagePairs:
        (tmp_path / "JPEGImages").mkdir()
        (tmp_path / name).mkdir()
        name = ""
    elif name:
        (tmp_path / name).touch()
    assert isinstance(detect_source(tmp_path / name), kind)


def test_detect_source_rejects_missing_path(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        detect_source(tmp_path / "missing.lst")
