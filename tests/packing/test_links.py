"""Symbolic links in the folders of a source: loops, links that lead outside, and a root that is a link."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from recordmill.errors import ImageError
from recordmill.packing.pack import pack
from recordmill.packing.sources import ImageFolder, ImagePairs, LabelFile, ListFile, Source, Table
from tests.packing.helpers import smooth_jpeg

Create = Callable[..., Source]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder of two images, beside a folder with another image and one with masks."""
    for name in ("root/a/0.png", "root/a/1.png", "elsewhere/2.png", "masks/0.png", "masks/1.png", "masks/2.png"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(smooth_jpeg(len(name)))
    return tmp_path / "root"


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


SOURCES: dict[str, Create] = {
    "ImageFolder": ImageFolder,
    "LabelFile": lambda root, **options: LabelFile(
        write(root.parent / "list.json", '{"a/0.png": 0, "a/1.png": 1, "a/2.png": 2}'), root, **options
    ),
    "ListFile": lambda root, **options: ListFile(
        write(root.parent / "list.lst", "0\t0\ta/0.png\n1\t1\ta/1.png\n2\t2\ta/2.png\n"), root, **options
    ),
    "Table": lambda root, **options: Table(
        write(root.parent / "list.csv", "image,label\na/0.png,0\na/1.png,1\na/2.png,2\n"), root, **options
    ),
    "ImagePairs": lambda root, **options: ImagePairs(root / "a", root.parent / "masks", **options),
}
RUNS: list[dict[str, Any]] = [{}, {"workers": 2}, {"worker_kind": "processes"}, {"check": "decode"}]


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("options", RUNS, ids=str)
def test_pack_refuses_link_to_file_outside_root(root: Path, name: str, options: dict[str, Any]) -> None:
    link, target = root / "a/2.png", root.parent / "elsewhere/2.png"
    link.symlink_to("../../elsewhere/2.png")
    with pytest.raises(ImageError, match=r"is outside the image folder (.*): its real path is ") as caught:
        pack(SOURCES[name](root), root.parent / "out/x", **options)
    error = pickle.loads(pickle.dumps(caught.value))
    assert (error.kind, error.shard) == ("outside_root", str(link))
    assert str(target) in str(error) and "allow_outside=True to accept such images" in error.hint
    assert not any((root.parent / "out").glob("*"))


@pytest.mark.parametrize("name", SOURCES)
def test_pack_skips_or_allows_link_to_file_outside_root(root: Path, name: str) -> None:
    link, target = root / "a/2.png", root.parent / "elsewhere/2.png"
    link.symlink_to(target)
    result = pack(SOURCES[name](root), root.parent / "out/x", on_error="skip")
    assert result.num_records == 2 and [path for path, _ in result.skipped] == [str(link)]
    assert str(target) in result.skipped[0][1]
    assert pack(SOURCES[name](root, allow_outside=True), root.parent / "out/y").num_records == 3


def test_pack_skips_other_unusable_images_beside_links(root: Path) -> None:
    for number in range(3, 6):
        (root / f"a/{number}.png").symlink_to(root.parent / "elsewhere/2.png")
    (root / "a/1.png").write_bytes(b"not an image")
    (root / "a/4.png").unlink()
    (root / "a/4.png").write_bytes(b"")
    result = pack(ImageFolder(root), root.parent / "out/x", on_error="skip")
    assert [Path(path).name for path, _ in result.skipped] == ["1.png", "3.png", "4.png", "5.png"]
    assert result.num_records == 1


def test_pack_of_only_links_outside_root_skips_all(root: Path) -> None:
    (root / "a/0.png").unlink()
    (root / "a/1.png").unlink()
    (root / "a/2.png").symlink_to(root.parent / "elsewhere/2.png")
    result = pack(ImageFolder(root), root.parent / "out/x", on_error="skip")
    assert result.num_records == 0 and result.num_skipped == 1


def test_pack_refuses_mask_outside_its_folder(root: Path) -> None:
    mask = root.parent / "masks/1.png"
    mask.unlink()
    mask.symlink_to(root / "a/0.png")
    (root.parent / "masks/2.png").unlink()
    with pytest.raises(ImageError, match=f"outside the image folder {root.parent / 'masks'}") as caught:
        pack(ImagePairs(root / "a", root.parent / "masks"), root.parent / "out/x")
    assert caught.value.shard == str(mask)


@pytest.mark.parametrize("place", ["linked", "a/linked"])
def test_pack_refuses_link_to_folder_outside_root(root: Path, place: str) -> None:
    (root / place).symlink_to(root.parent / "elsewhere")
    with pytest.raises(ImageError, match="outside the image folder") as caught:
        pack(ImageFolder(root), root.parent / "out/x")
    assert caught.value.shard == str(root / place / "2.png")
    assert pack(ImageFolder(root, allow_outside=True), root.parent / "out/x").num_records == 3


def test_pack_refuses_dangling_link_outside_root(root: Path) -> None:
    (root / "a/2.png").symlink_to("/nowhere/2.png")
    with pytest.raises(ImageError, match=r"its real path is /nowhere/2\.png"):
        pack(ImageFolder(root), root.parent / "out/x")


def test_sibling_folder_with_same_prefix_is_outside_root(root: Path) -> None:
    (root.parent / "root2").mkdir()
    (root.parent / "root2/2.png").write_bytes(smooth_jpeg(2))
    (root / "a/2.png").symlink_to(root.parent / "root2/2.png")
    with pytest.raises(ImageError, match="outside the image folder"):
        pack(ImageFolder(root), root.parent / "out/x")


@pytest.mark.parametrize("name", SOURCES)
def test_pack_accepts_links_inside_root_and_root_that_is_link(root: Path, name: str) -> None:
    (root / "a/2.png").symlink_to("0.png")
    (root.parent / "link").symlink_to(root)
    for number, folder in enumerate((root, root.parent / "link")):
        assert pack(SOURCES[name](folder), root.parent / f"out/{number}").num_records == 3


def test_list_accepts_absolute_names_below_root_that_is_link(root: Path) -> None:
    (root.parent / "link").symlink_to(root)
    path = write(root.parent / "list.json", f'{{"{root}/a/0.png": 0, "{root.parent}/link/a/1.png": 1}}')
    assert pack(LabelFile(path, root.parent / "link"), root.parent / "out/x").num_records == 2


def test_list_refuses_name_that_leaves_root_through_linked_folder(root: Path) -> None:
    (root / "a/linked").symlink_to(root.parent / "elsewhere")
    path = write(root.parent / "list.json", '{"a/linked/2.png": 0}')
    with pytest.raises(ImageError, match="outside the image folder") as caught:
        pack(LabelFile(path, root), root.parent / "out/x")
    assert f"{path}, line 1" in str(caught.value)


@pytest.mark.parametrize("target", [".", "..", "../..", "/", "loop", "a"])
@pytest.mark.parametrize("place", ["loop", "a/loop", "a/b/loop"])
@pytest.mark.parametrize("labels", ["folders", None])
def test_image_folder_lists_images_once_despite_link_loops(root: Path, place: str, target: str, labels: Any) -> None:
    (root / "a/b").mkdir()
    (root / place).symlink_to(target)
    source = ImageFolder(root, labels=labels)
    names = [name for name in source.rows().names if not (place == "loop" and name.startswith("loop/"))]
    assert names == ["a/0.png", "a/1.png"]


def test_image_folder_lists_images_of_folders_that_link_to_each_other_once_per_class(root: Path) -> None:
    names = [chr(ord("a") + number) for number in range(12)]
    for name in names[1:]:
        (root / name).mkdir()
        (root / name / f"{name}.png").write_bytes(smooth_jpeg(1))
    for name in names:
        for other in names:
            (root / name / f"to_{other}").symlink_to(f"../{other}")
    source = ImageFolder(root)
    assert source.classes == names
    assert source.rows().labels.tolist() == [label for label in range(12) for _ in range(13)]


def test_command_skips_or_allows_links_outside_root(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from recordmill.cli.main import main

    link, target = root / "a/2.png", root.parent / "elsewhere/2.png"
    link.symlink_to(target)
    out = str(root.parent / "out/x")
    assert main(["pack", str(root), out]) == 2
    error = capsys.readouterr().err
    assert f"outside the image folder {root}: its real path is {target}\n  shard '{link}'\n" in error
    assert "hint: use --allow-outside to accept such images, or --on-error skip to skip" in error
    assert main(["pack", str(root), out, "--on-error", "skip"]) == 1
    assert f"skipped {link}: " in capsys.readouterr().err
    assert main(["pack", str(root), out, "--allow-outside", "--overwrite"]) == 0
