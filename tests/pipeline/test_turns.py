"""Functions in several threads: one by one where they hinder one another, else at once, never waiting for ever."""

from __future__ import annotations

import pickle
import threading
import time
from typing import Any

import numpy as np
import pytest

from recordmill.errors import MapError
from recordmill.pipeline import turns
from recordmill.pipeline.turns import Pace, Turns
from tests.pipeline.sources import numbers


def told(pace: Pace, seconds: float, threads: float, pieces: int, begun: float = 0.0) -> float:
    """Let pieces of one sample each take so long; gives the moment behind the last."""
    for _ in range(pieces):
        pace.note(begun, begun + seconds, 1, threads, in_turn=threads == 1)
        begun += seconds
    return begun


@pytest.mark.parametrize("at_once, in_turn", [(1.0, False), (2.0, False), (2.6, False), (3.0, True), (4.0, True)])
def test_pace_when_both_ways_were_tried_then_takes_turns_only_where_they_are_clearly_faster(
    at_once: float, in_turn: bool
) -> None:
    pace = Pace()
    assert pace.in_turn()
    moment = told(pace, 0.01, 1, 4)
    assert not pace.in_turn()
    told(pace, at_once / 100, 2, 4, moment)  # each of two threads, so that there is a sample in half that time
    assert pace.in_turn() == in_turn


def test_pace_when_some_time_has_gone_then_tries_the_other_way_again_and_rests_ever_longer() -> None:
    pace = Pace()
    moment = told(pace, 0.03, 2, 4, told(pace, 0.01, 1, 4))
    rests = []
    for _ in range(8):
        assert pace.in_turn()
        begun, pieces = moment, 0
        while pace.in_turn():
            moment, pieces = told(pace, 0.01, 1, 1, moment), pieces + 1
            assert pieces < 1000
        rests.append(moment - begun)
        moment = told(pace, 0.03, 2, 4, moment)
    assert rests[0] < rests[2] < rests[-2] == pytest.approx(rests[-1], rel=0.02)
    assert 4 * 0.03 / (rests[-1] + 4 * 0.03) < 0.05


def test_pace_when_threads_overlap_in_part_then_counts_neither_way_and_gives_turns_up_in_the_end() -> None:
    pace = Pace()
    for _ in range(16):
        pace.note(0.0, 0.01, 1, 1.2, in_turn=False)
        pace.note(0.0, 0.01, 1, 1.2, in_turn=True)
        assert pace.in_turn()
    pace.note(0.0, 0.01, 1, 1.2, in_turn=True)
    assert not pace.in_turn()


def test_pace_when_a_sample_takes_long_then_takes_no_turns() -> None:
    pace = Pace()
    told(pace, 0.2, 1, 1)
    told(pace, 0.2, 2, 4)
    assert not pace.in_turn()
    assert pace.piece(100) == 1


@pytest.mark.parametrize("seconds, piece", [(0.04, 1), (0.02, 1), (1e-3, 20), (1e-5, 2000), (1e-9, 5000)])
def test_piece_when_samples_take_so_long_then_a_piece_takes_a_fiftieth_of_a_second(seconds: float, piece: int) -> None:
    pace = Pace()
    assert pace.piece(5000) == 8
    assert pace.piece(3) == 3
    pace.note(0.0, seconds, 1, 1.0, in_turn=True)
    assert pace.piece(5000) == pytest.approx(piece, rel=0.01)


def most_at_once(threads: int, seconds: float = 0.002) -> int:
    """Threads that a function is called by at the same time, at most."""
    inside: set[int] = set()
    most = []

    def called(sample: dict[str, Any]) -> dict[str, Any]:
        inside.add(threading.get_ident())
        time.sleep(seconds)
        most.append(len(inside))
        inside.discard(threading.get_ident())
        return sample

    assert len(list(numbers(200).map(called).batch(10).loader(threads=threads))) == 20
    return max(most)


def test_threads_when_told_to_take_turns_then_only_one_is_in_a_function(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Pace, "in_turn", lambda _: True)
    assert most_at_once(3) == 1
    monkeypatch.setattr(Pace, "in_turn", lambda _: False)
    assert most_at_once(3) > 1


def test_threads_when_a_function_only_waits_then_they_are_let_in_at_once() -> None:
    assert most_at_once(2) == 2


def test_turn_when_a_function_waits_for_another_thread_then_that_one_comes_in_after_a_while(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Pace, "in_turn", lambda _: True)
    monkeypatch.setattr(turns, "_PATIENCE_S", 0.02)
    both = threading.Barrier(2, timeout=20)

    def met(sample: dict[str, Any]) -> dict[str, Any]:
        both.wait()
        return sample

    assert len(list(numbers(8).map(met).batch(4).loader(threads=2))) == 2


def test_turn_when_it_was_waited_for_in_vain_then_it_is_not_asked_for_again() -> None:
    class Held:
        asked = 0

        def acquire(self, timeout: float) -> bool:
            self.asked += 1
            return False

    found, held = Turns(), Held()
    found.turn = held  # type: ignore[assignment]
    for _ in range(50):
        with found.taken("stage", 1):
            pass
    assert held.asked == 1


def test_turn_when_a_function_raises_then_the_next_one_gets_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Pace, "in_turn", lambda _: True)
    monkeypatch.setattr(turns, "_PATIENCE_S", 60.0)

    def failing(sample: dict[str, Any]) -> dict[str, Any]:
        if sample["id"] % 10 == 3:
            raise ValueError("three")
        return sample

    loader = numbers(100).map(failing).batch(10).loader(threads=3)
    for _ in range(3):
        with pytest.raises(MapError, match="three"):
            list(loader)
    rest = numbers(100).map(failing).batch(10).loader(threads=3, on_error="skip")
    assert sum(len(batch["id"]) for batch in rest) == 90


@pytest.mark.parametrize("threads", [0, 1, 2, 5])
def test_stream_when_ways_change_all_the_time_then_is_the_same(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    ways = iter(np.random.default_rng(threads).integers(0, 2, 100_000).tolist())
    sizes = iter(np.random.default_rng(threads).integers(1, 9, 100_000).tolist())
    monkeypatch.setattr(Pace, "in_turn", lambda _: bool(next(ways)))
    monkeypatch.setattr(Pace, "piece", lambda _, count: min(count, next(sizes)))

    def changed(sample: dict[str, Any], rng: np.random.Generator) -> dict[str, Any]:
        return {"id": sample["id"], "draw": rng.random()}

    def total(batch: dict[str, Any]) -> dict[str, Any]:
        return batch | {"sum": batch["draw"].sum(keepdims=True)}

    kept = numbers(300).shuffle(seed=2).map(changed, rng=True).filter(lambda sample: sample["id"] % 3 != 1)
    batches = list(kept.batch(16).map(total).loader(threads=threads))
    order = [number for number in (int(one["id"]) for one in numbers(300).shuffle(seed=2)) if number % 3 != 1]
    assert np.concatenate([batch["id"] for batch in batches]).tolist() == order
    draws = {int(one["id"]): float(one["draw"]) for one in numbers(300).shuffle(seed=2).map(changed, rng=True)}
    assert np.concatenate([batch["draw"] for batch in batches]).tolist() == [draws[number] for number in order]


def test_turns_when_pickled_then_are_new_ones() -> None:
    used = Turns()
    with used.turn:
        assert pickle.loads(pickle.dumps(used)).turn.acquire(blocking=False)


def test_seconds_when_threads_come_and_go_then_are_those_of_all_together(monkeypatch: pytest.MonkeyPatch) -> None:
    moments = iter([0.0, 1.0, 3.0, 4.0])
    monkeypatch.setattr(turns, "perf_counter", lambda: next(moments))
    found = Turns()
    assert [found.step(change) for change in (1, 1, -1, -1)] == [(0.0, 0.0), (1.0, 1.0), (3.0, 5.0), (4.0, 6.0)]
