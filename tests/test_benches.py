"""The benchmark runs on tiny data, and its digests equal those of a plain Python computation."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benches import chart, data, goals, report, runner, wire
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
# Comparison of a task: the function that a contender must define for it.
_COMPARED = {"": "", "payloads": "payloads", "columns": "columns", "records": "records"}
_COMPARED |= dict.fromkeys(("pixels", "center", "crops", "twin"), "arrays")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = str(tmp_path_factory.mktemp("benches"))
    data.ensure(path, ("photos", "digits", "tabular", "sequence", "big"), QUICK, None)
    return path


def _mix_bits(value: int) -> int:
    value &= _MASK
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    value = (value ^ value >> 27) * 0x94D049BB133111EB & _MASK
    return value ^ value >> 31


def _payload_sum(payloads: Iterator[bytes]) -> dict[str, Any]:
    hashes = [_mix_bits(zlib.crc32(payload) | len(payload) << 32) for payload in payloads]
    return {"count": len(hashes), "sum": f"{sum(hashes) & _MASK:016x}"}


def _column_sum(columns: dict[str, list[list[int]]]) -> dict[str, Any]:
    """Return the digest of columns of unsigned 64-bit numbers, one list per record."""
    rows = [0] * len(next(iter(columns.values())))
    for position, name in enumerate(sorted(columns)):
        for row, values in enumerate(columns[name]):
            keys = [_mix_bits((position << 32 | 1) + number) | 1 for number in range(len(values))]
            rows[row] += sum(value * key for value, key in zip(values, keys, strict=True))
    return {"count": len(rows), "sum": f"{sum(map(_mix_bits, rows)) & _MASK:016x}"}


@pytest.mark.parametrize("task, variant", [("P2a", "ragged"), ("P2b", "list"), ("P2c", "ragged")])
def test_payload_digest_equals_plain_python_computation(folder: str, task: str, variant: str) -> None:
    job = Job(task, "ours", variant, folder, 0.0)
    plain = _payload_sum(payload for path in job.shards for payload in wire.tfrecord_payloads(path))
    assert plain["count"] == getattr(QUICK, TASKS[task].data)
    assert _check(ours_contender, job) == expected(job) == plain


@pytest.mark.deep
def test_column_digest_equals_plain_python_computation(folder: str) -> None:
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


def test_padded_sequence_digest_equals_plain_python_computation(folder: str) -> None:
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


def test_digest_ignores_record_order_but_not_column_assignment() -> None:
    columns = next(tabular(0, 50))
    order = np.random.default_rng(0).permutation(50)
    swapped = columns | {"C1": columns["C1"][order]}

    def digest(columns: dict[str, np.ndarray]) -> dict[str, Any]:
        result = Digest()
        result.add_columns(columns)
        return result.to_json()

    assert digest({name: column[order] for name, column in columns.items()}) == digest(columns)
    assert digest(swapped) != digest(columns)


def test_measure_task_rejects_contender_with_wrong_digest(folder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    wrong = {"count": 1, "sum": "0"}
    monkeypatch.setattr(runner, "expected", lambda _: wrong)
    options = Options(folder, rounds=1, seconds=0.01, calm=1e9, retries=0, contenders=("ours",))
    entries = measure_task(TASKS["P2a"], options)
    assert [entry["runs"] for entry in entries] == [[], []]
    assert all("got {'count': 16" in entry["fault"] for entry in entries)


def test_damaged_copy_changes_exactly_one_payload(folder: str, tmp_path: Path) -> None:
    path = shards(folder, "big")[0]
    copy = damaged_copy(path, str(tmp_path))
    pairs = zip(wire.tfrecord_payloads(path), wire.tfrecord_payloads(copy), strict=True)
    assert [first == second for first, second in pairs] == [True, True, False, True]


def test_judge_requires_higher_rate_than_peer() -> None:
    def reached(*entries: tuple[str, float]) -> list[bool | None]:
        measured = [
            {"contender": contender, "variant": "", "fault": "", "runs": [{"rate": rate}]}
            for contender, rate in entries
        ]
        return [verdict.reached for verdict in goals.judge({"tasks": {"P3b": measured}})]

    assert reached(("ours", 100.0), ("tensorflow", 100.0)) == [False]
    assert reached(("ours", 500.0), ("tensorflow", 100.0)) == [True]
    assert reached(("ours", 500.0)) == [None]


def test_update_document_replaces_only_text_between_marks(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("above\n<!-- results: begin -->\nold\n<!-- results: end -->\nbelow\n", "utf-8")
    report.update_document(page, "new")
    assert page.read_text("utf-8") == "above\n<!-- results: begin -->\n\nnew\n<!-- results: end -->\nbelow\n"
    page.write_text("no marks", "utf-8")
    with pytest.raises(ValueError, match="exactly once"):
        report.update_document(page, "new")


def test_speed_chart_is_drawn_from_recorded_figures() -> None:
    page = chart.PAGE.read_text("utf-8")
    assert chart.CHART.read_text("utf-8") == chart.draw(page), "run python -m benches.chart"
    bars = chart.best_rates(chart.read_rates(page, "P4a"), "ours, files as they are")
    assert next(iter(bars)) == "recordmill"
    assert all(f">{rate:,.0f}<" in chart.draw(page) for rate in bars.values())
    with pytest.raises(ValueError, match="no table of task P4a"):
        chart.draw("no tables")


def test_contender_modules_define_known_tasks_and_required_functions() -> None:
    labels = {name for name in MODULES if not name.startswith("ours_")}
    for name, module in modules(sorted(labels)):
        assert set(module.VARIANTS) <= set(TASKS), name
        measures = {TASKS[task].measure for task in module.VARIANTS}
        needed = {"prepare"} | ({"load", "run", "images"} if "pack" in measures else set())
        needed |= {"run"} if measures & {"pass", "start"} else set()
        needed |= {_COMPARED[TASKS[task].compare] for task in module.VARIANTS if not hasattr(module, "checked")} - {""}
        assert needed <= set(dir(module)), name


@pytest.mark.deep
def test_quick_run_measures_packing_reading_and_indexing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    figures = tmp_path / "figures.json"
    words = ["--quick", "--tasks", "P1a,P1b,P3b,index,open", "--json", str(figures)]
    assert main(words) == 0
    tables = capsys.readouterr().out
    results = json.loads(figures.read_text("utf-8"))
    assert all(entry["runs"] and not entry["fault"] for entries in results["tasks"].values() for entry in entries)
    assert "### P1a: pack 4,000 photos" in tables
    assert main(["--from", str(figures)]) == 0
    assert capsys.readouterr().out == tables
