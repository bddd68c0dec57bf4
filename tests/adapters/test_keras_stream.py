"""`Stream` continues from epoch to epoch, and its state follows the training."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import recordmill as rm


@pytest.fixture
def samples(squares: Path) -> rm.Dataset:
    return rm.open(squares / "tfrecord")


@pytest.mark.parametrize("x, y", [(None, None), (5, None), ([], None), ({"a": 5}, None), ("label", len)])
def test_stream_refuses_invalid_feature_names(samples: rm.Dataset, x: Any, y: Any) -> None:
    with samples.batch(4).loader() as loader, pytest.raises(TypeError, match="must be a feature name"):
        rm.keras.Stream(loader, x, y)


def test_stream_refuses_dataset(samples: rm.Dataset) -> None:
    with pytest.raises(TypeError, match=r"must be a recordmill\.Loader"):
        rm.keras.Stream(samples.batch(4), "label")  # type: ignore[arg-type]


def test_stream_raises_error_if_filter_passes_nothing(samples: rm.Dataset) -> None:
    with samples.filter(lambda sample: False).batch(4).loader(threads=0) as loader:
        batches = rm.keras.Stream(loader, "label").batches()
        with pytest.warns(RuntimeWarning, match="has no batch"), pytest.raises(ValueError, match="epochs in a row"):
            next(batches)


def test_stream_resumed_at_end_of_epoch_continues_with_next_epoch(samples: rm.Dataset) -> None:
    with samples.shuffle(seed=1).batch(4).loader(threads=0) as loader:
        *_, last = ((batch["label"], loader.state_dict()) for batch in loader)
        stream = rm.keras.Stream(loader, "label")
        stream.load_state_dict(last[1])
        found = [batch[0] for batch in islice(stream.batches(), 2)]
    expected = samples.shuffle(seed=1).batch(4).fetch([0, 1], epoch=1)
    assert all(np.array_equal(one, two["label"]) for one, two in zip(found, expected, strict=True))


def test_stream_state_excludes_batches_requested_before_first_step(
    samples: rm.Dataset,
) -> None:
    with samples.batch(4).loader(threads=0) as loader:
        stream = rm.keras.Stream(loader, "label")
        for begin in (0, 8):
            batches = stream.batches()
            next(batches), next(batches)
            stream.epoch_begins(0, 2, None)
            assert stream.state_dict()["position"] == begin
            stream.batch_ends(0)
            assert stream.state_dict()["position"] == begin + 4
            next(batches)
            stream.batch_ends(1)
