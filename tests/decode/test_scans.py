"""Files of few bytes and many scans: refused by name whoever would decode them."""

from __future__ import annotations

import io

import numpy as np
import pytest
from PIL import Image

import recordmill as rm
from recordmill.decode.pillow import count_scans
from tests.decode.pictures import jpeg


def repeated(times: int) -> bytes:
    """A progressive JPEG whose last scan comes again and again, as no encoder would have it."""
    memory = io.BytesIO()
    Image.fromarray(np.random.default_rng(3).integers(0, 256, (24, 20), np.uint8)).save(
        memory, "JPEG", progressive=True
    )
    data = memory.getvalue()
    return data[:-2] + data[data.rindex(b"\xff\xda") : -2] * times + data[-2:]


def test_scans_when_counted_then_stop_at_the_end_and_pass_over_other_segments() -> None:
    assert count_scans(jpeg(0), 9) == count_scans(jpeg(0, exif=b"Exif\0\0\xff\xda\xff\xda"), 9) == 1
    assert count_scans(jpeg(0) + b"\xff\xda" * 20, 9) == 1
    assert count_scans(repeated(5), 100) == count_scans(repeated(0), 100) + 5
    assert count_scans(repeated(50), 9) == 10
    assert [count_scans(part, 9) for part in (b"", b"\xff", b"\xff\xd8\xff", b"\xff\xd8\xff\xda")] == [0, 0, 0, 1]


@pytest.mark.parametrize("decoder", ["auto", "pillow"])
def test_image_when_it_has_thousands_of_scans_then_is_refused_by_name(decoder) -> None:
    spec = {"x": rm.Image(decoder=decoder)}
    assert rm.decode_batch([repeated(3)], spec)["x"].shape == (1, 3, 24, 20)
    with pytest.raises(rm.DecodeError) as caught:
        rm.decode_batch([repeated(2000)], spec)
    assert isinstance(caught.value.cause, rm.LimitError) and caught.value.cause.kind == "limit_exceeded"
    for call in (rm.decode_jpeg, rm.decode_image):
        with pytest.raises(rm.LimitError, match="too many scans"):
            call(repeated(2000))
