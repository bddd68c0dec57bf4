"""`plan_pack`, `pack_part` and `finish_pack`: equal bytes, repeated and interrupted parts, and invalid plans."""

from __future__ import annotations

import json
import os
import pickle
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

import recordmill as rm
from tests.packing.helpers import FORMATS, read_files, smooth_jpeg, visible_names

NUM_IMAGES = 23


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """Return a folder of two classes of images."""
    for number in range(NUM_IMAGES):
        path = tmp_path / "photos" / ("cat" if number % 2 else "dog") / f"{number:02}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(smooth_jpeg(number, 16 + number))
    return tmp_path / "photos"


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out" / "train"


def plan(photos: Path, out: Path, **options: Any) -> rm.PackPlan:
    return rm.plan_pack(rm.ImageFolder(photos), out, **{"shards": 5} | options)


def pack_parts(plan: rm.PackPlan, parts: list[int] | None = None) -> list[rm.PackResult]:
    """Pack parts, by default all of them in another order."""
    if parts is None:
        parts = random.Random(3).sample(range(plan.num_parts), plan.num_parts)
    return [rm.pack_part(plan, part) for part in parts]


def temporary_shards(out: Path) -> dict[str, int]:
    """Return the inodes of the shards with temporary names."""
    return {path.name: path.stat().st_ino for path in out.parent.glob(".train-*.tmp-*")}


@pytest.mark.parametrize(
    "options",
    [
        *({"format": format_} for format_ in FORMATS),
        *({"format": format_, "shards": shards} for format_ in FORMATS for shards in (1, 2, 23)),
        {"shuffle": 4, "keep_name": True},
        {"shuffle": 4, "format": "recordio", "label_kind": "vector"},
        {"encode": "png", "resize": 12, "keep_shape": True},
        {"encode": "jpeg", "shuffle": 1},
        {"compression": "gzip"},
        {"shards": None, "max_shard_bytes": 3000},
        {"shards": None, "max_shard_bytes": 3000, "format": "recordio", "shuffle": 2},
        {"shards": 30},
        {"index": "never"},
    ],
    ids=str,
)
def test_parts_give_the_files_of_pack(photos: Path, tmp_path: Path, out: Path, options: dict[str, Any]) -> None:
    options = {"shards": 5} | options
    expected = rm.pack(rm.ImageFolder(photos), tmp_path / "expected" / "train", **options)
    planned = plan(photos, out, **options)
    parts = pack_parts(planned)
    assert visible_names(out.parent) == []
    result = rm.finish_pack(planned)
    assert read_files(out.parent) == read_files(tmp_path / "expected")
    assert (result.num_records, result.num_bytes) == (expected.num_records, expected.num_bytes)
    assert result.paths == [path.replace("expected", "out") for path in expected.paths]
    assert sum(part.num_records for part in parts) == NUM_IMAGES
    assert rm.info(out.parent).complete


def write_source(kind: str, photos: Path) -> rm.ImageFolder | rm.ListFile | rm.Table | rm.LabelFile:
    names = [str(path.relative_to(photos)) for path in sorted(photos.rglob("*.jpg"))]
    if kind == "list":
        lines = [f"{7 * row}\t{row}\t{row / 2}\t{name}\n" for row, name in enumerate(names)]
        (photos / "images.lst").write_text("".join(lines))
        return rm.ListFile(photos / "images.lst")
    if kind == "labels":
        lines = [json.dumps({str(photos / name): row / 3}) + "\n" for row, name in enumerate(names)]
        (photos / "labels.txt").write_text("".join(lines))
        return rm.LabelFile(photos / "labels.txt")
    lines = [f"{name},{row},text {row}\u20ac,{row * 1.5}\n" for row, name in enumerate(names)]
    (photos / "table.csv").write_text("image,label,caption,weight\n" + "".join(lines))
    return rm.Table(photos / "table.csv", features=["caption", "weight"])


@pytest.mark.parametrize("kind", ["list", "labels", "table"])
def test_parts_of_listed_images_give_the_files_of_pack(photos: Path, tmp_path: Path, out: Path, kind: str) -> None:
    source = write_source(kind, photos)
    rm.pack(source, tmp_path / "expected" / "train", shards=4, shuffle=2)
    planned = rm.plan_pack(source, out, shards=4, shuffle=2)
    pack_parts(planned)
    rm.finish_pack(planned)
    assert read_files(out.parent) == read_files(tmp_path / "expected")


def test_parts_of_ragged_labels_give_the_files_of_pack(photos: Path, tmp_path: Path, out: Path) -> None:
    names = [str(path.relative_to(photos)) for path in sorted(photos.rglob("*.jpg"))]
    lines = ["\t".join([str(row), *["1.5"] * (row % 3 + 1), name]) for row, name in enumerate(names)]
    (photos / "images.lst").write_text("\n".join(lines))
    rm.pack(rm.ListFile(photos / "images.lst"), tmp_path / "expected" / "train", shards=3, shuffle=1)
    planned = rm.plan_pack(photos / "images.lst", out, shards=3, shuffle=1)
    pack_parts(planned)
    rm.finish_pack(planned)
    assert read_files(out.parent) == read_files(tmp_path / "expected")


@pytest.mark.parametrize("mask", ["png", "raw"])
def test_parts_of_pairs_give_the_files_of_pack(voc: Path, tmp_path: Path, out: Path, mask: Any) -> None:
    rm.pack(rm.ImagePairs.voc(voc), tmp_path / "expected" / "train", shards=2, mask=mask)
    planned = rm.plan_pack(voc, out, shards=2, mask=mask)
    pack_parts(planned)
    rm.finish_pack(planned)
    assert read_files(out.parent) == read_files(tmp_path / "expected")


def test_plan_works_in_another_process_and_working_directory(
    photos: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names = [str(path.relative_to(tmp_path)) for path in sorted(photos.rglob("*.jpg"))]
    Path("labels.txt").write_text("".join(json.dumps({name: row}) + "\n" for row, name in enumerate(names)))
    rm.pack(rm.LabelFile("labels.txt"), "expected/train", shards=2, encode="jpeg")
    planned = rm.plan_pack(rm.LabelFile("labels.txt"), "out/train", shards=2, encode="jpeg")
    planned.save("plan.json")
    (tmp_path / "elsewhere").mkdir()
    code = f"import recordmill as rm; rm.pack_part(rm.PackPlan.load({str(tmp_path / 'plan.json')!r}), 1, workers=2)"
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path / "elsewhere", check=True)
    rm.pack_part(planned, 0)
    rm.finish_pack(planned)
    assert read_files(tmp_path / "out") == read_files(tmp_path / "expected")


@pytest.mark.parametrize(
    "options", [{}, {"encode": "jpeg", "quality": 80, "center_crop": True}, {"max_shard_bytes": 999, "shards": None}]
)
def test_plan_is_equal_after_pickling_and_saving(photos: Path, out: Path, options: dict[str, Any]) -> None:
    planned = plan(photos, out, **options)
    planned.save(out.parent / "plan.json")
    assert rm.PackPlan.load(out.parent / "plan.json") == planned == pickle.loads(pickle.dumps(planned))


def test_plan_of_many_files_is_small(photos: Path, out: Path) -> None:
    name = next(photos.rglob("*.jpg"))
    (photos / "labels.txt").write_text(json.dumps({str(name): 1}) + "\n")
    few = rm.plan_pack(rm.LabelFile(photos / "labels.txt"), out)
    (photos / "labels.txt").write_text("".join(f'{{"{name}": {row}}}\n' for row in range(5000)))
    many = rm.plan_pack(rm.LabelFile(photos / "labels.txt", allow_duplicates=True), out)
    assert many.num_files == 5000
    assert len(pickle.dumps(many)) < len(pickle.dumps(few)) + 100


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"version": 99}', '{"version": 1}', "x" * 10])
def test_load_of_file_that_is_no_plan_raises(tmp_path: Path, text: str) -> None:
    (tmp_path / "plan.json").write_text(text)
    with pytest.raises(rm.PlanError, match="not a plan") as caught:
        rm.PackPlan.load(tmp_path / "plan.json")
    assert caught.value.kind == "bad_plan"


def test_load_of_missing_plan_raises(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        rm.PackPlan.load(tmp_path / "plan.json")


def test_repeated_part_is_not_packed_again(photos: Path, out: Path) -> None:
    planned = plan(photos, out)
    first = rm.pack_part(planned, 2)
    shards = temporary_shards(out)
    assert rm.pack_part(planned, 2) == first
    assert temporary_shards(out) == shards and len(shards) == 1


def test_part_is_packed_again_after_damage_of_its_shard(photos: Path, tmp_path: Path, out: Path) -> None:
    rm.pack(rm.ImageFolder(photos), tmp_path / "expected" / "train", shards=5)
    planned = plan(photos, out)
    pack_parts(planned)
    cut, gone, changed = sorted(out.parent.glob(".train-*.tmp-*"))[:3]
    os.truncate(cut, 10)
    gone.unlink()
    changed.write_bytes(bytes(changed.stat().st_size))
    with pytest.raises(rm.PlanError, match="3 of 5 parts are missing or damaged: 0, 1, 2") as caught:
        rm.finish_pack(planned)
    assert (caught.value.kind, caught.value.part) == ("missing_part", 0)
    assert visible_names(out.parent) == []
    pack_parts(planned)
    rm.finish_pack(planned)
    assert read_files(out.parent) == read_files(tmp_path / "expected")


def test_same_part_in_many_threads_gives_one_shard(photos: Path, tmp_path: Path, out: Path) -> None:
    rm.pack(rm.ImageFolder(photos), tmp_path / "expected" / "train", shards=5)
    planned = plan(photos, out)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: rm.pack_part(planned, number % 5), range(30)))
    rm.finish_pack(planned)
    assert read_files(out.parent) == read_files(tmp_path / "expected")


def test_finish_names_the_missing_parts_and_keeps_the_others(photos: Path, out: Path) -> None:
    planned = plan(photos, out)
    pack_parts(planned, [0, 3, 4])
    shards = temporary_shards(out)
    with pytest.raises(rm.PlanError, match="2 of 5 parts are missing or damaged: 1, 2") as caught:
        rm.finish_pack(planned)
    assert caught.value.part == 1
    assert temporary_shards(out) == shards and visible_names(out.parent) == []
    pack_parts(planned, [1, 2])
    assert rm.finish_pack(planned).num_records == NUM_IMAGES


def test_finished_plan_is_finished_again_with_the_same_counts(photos: Path, out: Path) -> None:
    planned = plan(photos, out)
    parts = pack_parts(planned, [0, 1, 2, 3, 4])
    result = rm.finish_pack(planned)
    before = read_files(out.parent)
    assert rm.finish_pack(planned) == result
    assert pack_parts(planned, [0, 1, 2, 3, 4]) == parts
    assert read_files(out.parent) == before


def test_plan_with_resume_keeps_packed_parts(photos: Path, tmp_path: Path, out: Path) -> None:
    rm.pack(rm.ImageFolder(photos), tmp_path / "expected" / "train", shards=5)
    pack_parts(plan(photos, out), [1, 3])
    shards = temporary_shards(out)
    planned = plan(photos, out, resume=True)
    assert temporary_shards(out) == shards
    pack_parts(planned)
    assert temporary_shards(out).items() >= shards.items()
    rm.finish_pack(planned)
    assert read_files(out.parent) == read_files(tmp_path / "expected")
    finished = plan(photos, out, resume=True)
    pack_parts(finished)
    assert rm.finish_pack(finished).num_records == NUM_IMAGES
    assert read_files(out.parent) == read_files(tmp_path / "expected")


def test_plan_without_resume_removes_packed_parts_and_ends_the_other_plan(photos: Path, out: Path) -> None:
    old = plan(photos, out)
    pack_parts(old)
    plan(photos, out)
    assert temporary_shards(out) == {}
    for call in (lambda: rm.pack_part(old, 1), lambda: rm.finish_pack(old)):
        with pytest.raises(rm.PlanError, match="cannot find the plan") as caught:
            call()
        assert caught.value.kind == "missing_plan"


def test_plan_with_resume_and_other_options_names_the_difference(photos: Path, out: Path) -> None:
    pack_parts(plan(photos, out, encode="jpeg", quality=90), [1])
    shards = temporary_shards(out)
    with pytest.raises(rm.ResumeError, match="quality is 80, but was 90"):
        plan(photos, out, encode="jpeg", quality=80, resume=True)
    (photos / "cat" / "new.jpg").write_bytes(smooth_jpeg(1))
    with pytest.raises(rm.ResumeError, match=r"number of files is 24, but was 23"):
        plan(photos, out, encode="jpeg", quality=90, resume=True)
    assert temporary_shards(out) == shards


def test_pack_after_an_abandoned_plan_removes_its_files(photos: Path, tmp_path: Path, out: Path) -> None:
    rm.pack(rm.ImageFolder(photos), tmp_path / "expected" / "train", shards=5)
    pack_parts(plan(photos, out), [1, 2])
    rm.pack(rm.ImageFolder(photos), out, shards=5)
    assert read_files(out.parent) == read_files(tmp_path / "expected")


def test_plan_locks_the_destination_for_other_processes(photos: Path, out: Path) -> None:
    planned = plan(photos, out)
    code = f"import recordmill as rm; rm.pack({str(photos)!r}, {str(out)!r})"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 1 and "DestinationLockedError" in run.stderr
    pack_parts(planned)
    rm.finish_pack(planned)
    assert not (out.parent / ".train.lock").exists()


@pytest.mark.parametrize("change", ["rewrite", "remove"])
def test_image_that_changes_after_the_plan_raises(photos: Path, tmp_path: Path, out: Path, change: str) -> None:
    planned = plan(photos, out)
    image = photos / "cat" / "05.jpg"
    data, status = image.read_bytes(), image.stat()
    image.unlink()
    if change == "rewrite":
        image.write_bytes(smooth_jpeg(77))
    results = []
    with pytest.raises(rm.PlanError, match="has changed since the plan") as caught:
        results += [rm.pack_part(planned, part) for part in range(5)]
    part = caught.value.part
    assert part is not None
    assert (caught.value.kind, caught.value.shard) == ("changed_input", str(image))
    assert len(temporary_shards(out)) == part
    image.write_bytes(data)
    os.utime(image, ns=(status.st_atime_ns, status.st_mtime_ns))
    pack_parts(planned)
    assert rm.finish_pack(planned).num_records == NUM_IMAGES


def test_plan_after_a_change_resumes_with_the_new_image(photos: Path, tmp_path: Path, out: Path) -> None:
    pack_parts(plan(photos, out), [0])
    (photos / "dog" / "22.jpg").write_bytes(smooth_jpeg(77))
    rm.pack(rm.ImageFolder(photos), tmp_path / "expected" / "train", shards=5)
    planned = plan(photos, out, resume=True)
    pack_parts(planned)
    rm.finish_pack(planned)
    assert read_files(out.parent) == read_files(tmp_path / "expected")


def test_packed_part_whose_image_changes_before_a_new_plan_raises(photos: Path, out: Path) -> None:
    pack_parts(plan(photos, out), [0])
    changed = photos / "cat" / "03.jpg"
    changed.write_bytes(smooth_jpeg(77))
    planned = plan(photos, out, resume=True)
    with pytest.raises(rm.ResumeError, match="image has changed since the part was packed") as caught:
        rm.pack_part(planned, 0)
    assert caught.value.shard == str(changed)


@pytest.mark.parametrize("name", ["recordmill", "pillow"])
def test_part_in_a_process_with_another_version_raises(
    photos: Path, out: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    import PIL.Image

    planned = plan(photos, out, encode="jpeg")
    module = rm if name == "recordmill" else PIL.Image
    monkeypatch.setattr(module, "__version__", "0.0.9")
    with pytest.raises(rm.PlanError, match=f"version of {name}") as caught:
        rm.pack_part(planned, 2)
    error = caught.value
    assert (error.kind, error.part, error.found) == ("different_version", 2, "0.0.9")
    assert error.expected == planned.versions[name]
    assert temporary_shards(out) == {}


def test_part_on_a_machine_that_does_not_reach_the_destination_raises(photos: Path, out: Path) -> None:
    planned = plan(photos, out)
    out.parent.rename(out.parent.with_name("hidden"))
    with pytest.raises(rm.PlanError, match="because this folder does not exist") as caught:
        rm.pack_part(planned, 4)
    assert (caught.value.kind, caught.value.part) == ("missing_plan", 4)
    assert not out.parent.exists()


def test_bad_image_raises_the_error_of_pack_with_its_line(photos: Path, out: Path) -> None:
    source = write_source("list", photos)
    bad = sorted(photos.rglob("*.jpg"))[9]
    bad.write_text("not an image")
    planned = rm.plan_pack(source, out, shards=5, shuffle=1)
    errors = {}
    for part in range(5):
        try:
            rm.pack_part(planned, part)
        except rm.ImageError as error:
            errors[part] = error
    (error,) = errors.values()
    assert error.shard == str(bad) and f"{source.path}, line 10" in str(error)
    assert len(temporary_shards(out)) == 4


def test_skipped_images_are_in_the_order_of_pack(photos: Path, tmp_path: Path, out: Path) -> None:
    for number, path in enumerate(sorted(photos.rglob("*.jpg"))):
        if number % 4 == 1:
            path.write_text("not an image")
    options: dict[str, Any] = {"shards": 3, "shuffle": 6, "on_error": "skip"}
    expected = rm.pack(rm.ImageFolder(photos), tmp_path / "expected" / "train", **options)
    planned = plan(photos, out, **options)
    pack_parts(planned)
    result = rm.finish_pack(planned)
    assert result.skipped == expected.skipped and result.num_skipped == 6
    assert read_files(out.parent) == read_files(tmp_path / "expected")


def test_existing_dataset_is_kept_until_finish_and_then_replaced(photos: Path, tmp_path: Path, out: Path) -> None:
    rm.pack([{"label": 1}], out)
    with pytest.raises(rm.OutputExistsError):
        plan(photos, out)
    planned = plan(photos, out, overwrite=True)
    pack_parts(planned)
    assert [int(example["label"]) for example in rm.open(out)] == [1]
    rm.finish_pack(planned)
    rm.pack(rm.ImageFolder(photos), tmp_path / "expected" / "train", shards=5)
    assert read_files(out.parent) == read_files(tmp_path / "expected")


def test_full_disk_leaves_no_file_of_the_part(photos: Path, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    planned = plan(photos, out)
    rm.pack_part(planned, 0)
    before = read_files(out.parent)
    write = os.write

    def fail(fd: int, data: Any) -> int:
        if os.readlink(f"/proc/self/fd/{fd}").startswith(str(out.parent)):
            raise OSError(28, "No space left on device")
        return write(fd, data)

    monkeypatch.setattr(os, "write", fail)
    with pytest.raises(rm.WriteError, match="No space left on device"):
        rm.pack_part(planned, 1)
    monkeypatch.undo()
    assert read_files(out.parent) == before
    pack_parts(planned)
    assert rm.finish_pack(planned).num_records == NUM_IMAGES


def test_killed_part_is_packed_again(photos: Path, tmp_path: Path, out: Path) -> None:
    rm.pack(rm.ImageFolder(photos), tmp_path / "expected" / "train", shards=5)
    planned = plan(photos, out)
    planned.save(tmp_path / "plan.json")
    code = f"""
import os, recordmill as rm
from recordmill.shards.output import ShardOutput
finish = ShardOutput.finish
def stop(output):
    finish(output)
    os.kill(os.getpid(), 9)
ShardOutput.finish = stop
rm.pack_part(rm.PackPlan.load({str(tmp_path / "plan.json")!r}), 2)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -9
    assert len(temporary_shards(out)) == 1
    pack_parts(planned)
    rm.finish_pack(planned)
    assert read_files(out.parent) == read_files(tmp_path / "expected")


def test_examples_cannot_be_planned(out: Path) -> None:
    with pytest.raises(rm.InputError, match="only a source of files"):
        rm.plan_pack([{"label": 1}], out)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "option, message",
    [("shard", "did you mean 'shards'"), ("workers", "pass it to pack_part"), ("progress", "unexpected keyword")],
)
def test_unknown_option_raises(photos: Path, out: Path, option: str, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        plan(photos, out, **{option: 1})


@pytest.mark.parametrize("part", [-1, 5])
def test_part_outside_the_plan_raises(photos: Path, out: Path, part: int) -> None:
    with pytest.raises(IndexError, match="from 0 to 4"):
        rm.pack_part(plan(photos, out), part)
