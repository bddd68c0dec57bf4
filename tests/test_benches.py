"""The benchmark works on tiny data, believes nobody, and its digests are those of a plain computation."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benches import data, goals, report, runner, wire
from benches.__main__ import main
from benches.contenders import MODULES, modules, ours as ours_contender
from benches.digest import Digest
from benches.expected import damaged_copy, expected
from benches.jobs import Job, shards
from benches.recipes import QUICK, tabular
from benches.runner import Options, measure_task
from benches.tasks import TASKS
from benches.worker import _check

_MASK = (1 << 64) - 1
# How a task is compared: the function that a contender needs for it.
_COMPARED = {"": "", "payloads": "payloads", "columns": "columns", "records": "records"}
_COMPARED |= dict.fromkeys(("pixels", "center", "crops", "twin"), "arrays")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("benches"))
    data.ensure(path, ("photos", "digits", "tabular", "sequence", "big"), QUICK, None)
    return path


def _mixed(value: int) -> int:
    value &= _MASK
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    value = (value ^ value >> 27) * 0x94D049BB133111EB & _MASK
    return value ^ value >> 31


def _payload_sum(payloads: Iterator[bytes]) -> dict[str, Any]:
    hashes = [_mixed(zlib.crc32(payload) | len(payload) << 32) for payload in payloads]
    return {"count": len(hashes), "sum": f"{sum(hashes) & _MASK:016x}"}


def _column_sum(columns: dict[str, list[list[int]]]) -> dict[str, Any]:
    """Take columns of unsigned 64-bit numbers, one list per record."""
    rows = [0] * len(next(iter(columns.values())))
    for place, name in enumerate(sorted(columns)):
        for row, values in enumerate(columns[name]):
            keys = [_mixed((place << 32 | 1) + number) | 1 for number in range(len(values))]
            rows[row] += sum(value * key for value, key in zip(values, keys, strict=True))
    return {"count": len(rows), "sum": f"{sum(map(_mixed, rows)) & _MASK:016x}"}


@pytest.mark.parametrize("task, variant", [("P2a", "ragged"), ("P2b", "list"), ("P2c", "ragged")])
def test_payloads_when_delivered_by_us_then_have_the_digest_of_plain_python(
    folder: str, task: str, variant: str
) -> None:
    job = Job(task, "ours", variant, folder, 0.0)
    plain = _payload_sum(payload for path in job.shards for payload in wire.tfrecord_payloads(path))
    assert plain["count"] == getattr(QUICK, TASKS[task].data)
    assert _check(ours_contender, job) == expected(job) == plain


def test_columns_when_delivered_by_us_then_have_the_digest_of_plain_python(folder: str) -> None:
    job = Job("P3a", "ours", "file order", folder, 0.0)
    columns: dict[str, list[list[int]]] = {}
    for path in job.shards:
        for payload in wire.tfrecord_payloads(path):
            for name, values in wire.features(payload, wrapped=True).items():
                columns.setdefault(name, []).append([_first_bits(name, values)])
    assert _check(ours_contender, job) == expected(job) == _column_sum(columns)


def _first_bits(name: str, values: memoryview) -> int:
    if name.startswith("C"):
        return wire.integer(values)
    return int.from_bytes(next(value for _, value in wire.fields(values))[:4], "little")


def test_sequences_when_delivered_padded_then_have_the_digest_of_plain_python(folder: str) -> None:
    job = Job("P3b", "ours", "", folder, 0.0)
    labels, tokens = [], []
    for path in job.shards:
        for payload in wire.tfrecord_payloads(path):
            parts = dict(wire.fields(payload))
            context = wire.features(b"\x0a" + _length(parts[1]) + bytes(parts[1]), wrapped=True)
            labels.append([wire.integer(context["label"])])
            frames = dict(wire.fields(next(value for _, value in wire.fields(parts[2]))))[2]
            tokens.append([wire.integer(dict(wire.fields(frame))[3]) for _, frame in wire.fields(frames)])
    assert _check(ours_contender, job) == expected(job) == _column_sum({"label": labels, "tokens": tokens})


def _length(message: memoryview) -> bytes:
    assert len(message) < 128
    return bytes([len(message)])


def test_digest_when_records_change_places_then_is_the_same_and_when_values_do_then_is_not() -> None:
    columns = next(tabular(0, 50))
    order = np.random.default_rng(0).permutation(50)
    swapped = columns | {"C1": columns["C1"][order]}

    def digest(of: dict[str, np.ndarray]) -> dict[str, Any]:
        found = Digest()
        found.add_columns(of)
        return found.to_json()

    assert digest({name: column[order] for name, column in columns.items()}) == digest(columns)
    assert digest(swapped) != digest(columns)


def test_contender_when_it_delivers_something_else_then_is_refused(
    folder: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = {"count": 1, "sum": "0"}
    monkeypatch.setattr(runner, "expected", lambda _: wanted)
    options = Options(folder, rounds=1, seconds=0.01, calm=1e9, retries=0, contenders=("ours",))
    entries = measure_task(TASKS["P2a"], options)
    assert [entry["runs"] for entry in entries] == [[], []]
    assert all(entry["fault"].startswith("refused: delivered {'count': 16") for entry in entries)


def test_copy_when_damaged_then_differs_in_one_bit_of_one_payload(folder: str, tmp_path: Path) -> None:
    path = shards(folder, "big")[0]
    copy = damaged_copy(path, str(tmp_path))
    pairs = zip(wire.tfrecord_payloads(path), wire.tfrecord_payloads(copy), strict=True)
    assert [first == second for first, second in pairs] == [True, True, False, True]


def test_ratio_when_the_peer_is_as_fast_then_the_demand_is_not_reached() -> None:
    def reached(*entries: tuple[str, float]) -> list[bool | None]:
        measured = [
            {"contender": contender, "variant": "", "fault": "", "runs": [{"rate": rate}]}
            for contender, rate in entries
        ]
        return [verdict.reached for verdict in goals.judge({"tasks": {"P3b": measured}})]

    assert reached(("ours", 100.0), ("tensorflow", 100.0)) == [False]
    assert reached(("ours", 500.0), ("tensorflow", 100.0)) == [True]
    assert reached(("ours", 500.0)) == [None]


def test_documentation_when_updated_then_keeps_what_stands_outside_the_marks(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("above\n<!-- results: begin -->\nold\n<!-- results: end -->\nbelow\n", "utf-8")
    report.update_document(page, "new")
    assert page.read_text("utf-8") == "above\n<!-- results: begin -->\n\nnew\n<!-- results: end -->\nbelow\n"
    page.write_text("no marks", "utf-8")
    with pytest.raises(ValueError, match="once each"):
        report.update_document(page, "new")


def test_contenders_when_listed_then_have_variants_of_known_tasks_and_what_these_need() -> None:
    labels = {name for name in MODULES if not name.startswith("ours_")}
    for name, module in modules(sorted(labels)):
        assert set(module.VARIANTS) <= set(TASKS), name
        measures = {TASKS[task].measure for task in module.VARIANTS}
        needed = {"prepare"} | ({"load", "run", "images"} if "pack" in measures else set())
        needed |= {"run"} if measures & {"pass", "start"} else set()
        needed |= {_COMPARED[TASKS[task].compare] for task in module.VARIANTS if not hasattr(module, "checked")} - {""}
        assert needed <= set(dir(module)), name


def test_command_when_quick_then_measures_packing_reading_and_indexing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    figures = tmp_path / "figures.json"
    words = ["--quick", "--tasks", "P1a,P1b,P3b,index,open", "--json", str(figures)]
    assert main(words) == 0
    tables = capsys.readouterr().out
    results = json.loads(figures.read_text("utf-8"))
    assert all(entry["runs"] and not entry["fault"] for entries in results["tasks"].values() for entry in entries)
    assert "### P1a: pack 4,000 photos" in tables
    assert main(["--from", str(figures)]) == 0
    assert capsys.readouterr().out == tables
