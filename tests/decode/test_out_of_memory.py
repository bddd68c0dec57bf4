"""Images for which there is not enough memory: MemoryError names the sample, which is not skipped."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import recordmill as rm
from recordmill import _core
from tests.images import encode_image

LIMIT_MEMORY = """
import io, resource, sys
from PIL import Image
import recordmill as rm

kind, call = sys.argv[1:]

def encode(side):
    file = io.BytesIO()
    options = {"baseline": {}, "progressive": {"progressive": True}, "png": {}}[kind]
    Image.new("RGB", (side, side)).save(file, "PNG" if kind == "png" else "JPEG", **options)
    return file.getvalue()

decode = {
    "single": rm.decode_png if kind == "png" else rm.decode_jpeg,
    "image": rm.decode_image,
    "batch": lambda data: rm.decode_batch({"image": [data]}, {"image": rm.Image(stack=False)}, on_error="skip"),
}[call]
large = encode(8000)
decode(encode(8))  # Imports all modules before the limit.
with open("/proc/self/statm") as statm:
    used = int(statm.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (100 << 20), used + (100 << 20)))
try:
    decode(large)
except MemoryError as error:
    print(error)
"""


@pytest.mark.parametrize("call", ["single", "image", "batch"])
@pytest.mark.parametrize("kind", ["baseline", "progressive", "png"])
def test_large_image_under_memory_limit_raises_memory_error(kind: str, call: str) -> None:
    done = subprocess.run([sys.executable, "-c", LIMIT_MEMORY, kind, call], capture_output=True, check=False, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("not enough memory for ")
    if call == "batch":
        assert done.stdout.endswith(" bytes: sample 0 of the batch, feature 'image'\n")


def refuse_second_image(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the native module report that there is not enough memory for the second image of each batch."""
    parts = ("out_of_memory", 0, "", "not enough memory for 536,870,912 bytes")
    decode_images, decode_each_image = _core.decode_images, _core.decode_each_image

    def fake_decode_images(plan: Any, dtype: str, out: Any, threads: int) -> Any:
        refused = decode_images(plan, dtype, out, threads)
        return [*refused, (1, parts)]

    def fake_decode_each_image(plan: Any, dtype: str, threads: int) -> Any:
        images = decode_each_image(plan, dtype, threads)
        return [images[0], (None, parts), *images[2:]]

    monkeypatch.setattr(_core, "decode_images", fake_decode_images)
    monkeypatch.setattr(_core, "decode_each_image", fake_decode_each_image)


@pytest.mark.parametrize("stack", [True, False])
@pytest.mark.parametrize("on_error", ["raise", "skip"])
def test_decode_batch_raises_memory_error_that_names_the_sample(
    monkeypatch: pytest.MonkeyPatch, on_error: Any, stack: bool
) -> None:
    refuse_second_image(monkeypatch)
    monkeypatch.setattr("recordmill.decode.native._load_pillow", None)
    files = [encode_jpeg(number) for number in range(3)]
    message = "^not enough memory for 536,870,912 bytes: sample 1 of the batch, feature 'image'$"
    with pytest.raises(MemoryError, match=message) as caught:
        rm.decode_batch({"image": files}, {"image": rm.Image(resize=(8, 8), stack=stack)}, on_error=on_error)
    assert type(caught.value) is MemoryError
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (type(copy), str(copy)) == (MemoryError, str(caught.value))


@pytest.mark.parametrize("threads", [0, 2])
@pytest.mark.parametrize("on_error", ["raise", "skip", "substitute"])
def test_loader_raises_memory_error_that_names_the_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, on_error: Any, threads: int
) -> None:
    refuse_second_image(monkeypatch)
    path = tmp_path / "train-00000.tfrecord"
    with rm.ShardWriter(path) as writer:
        for number in range(8):
            writer.write({"image": encode_jpeg(number)})
    dataset = rm.open(path).decode({"image": rm.Image(resize=(8, 8))}).batch(4)
    message = r"^not enough memory for 536,870,912 bytes: record 1 of .*train-00000\.tfrecord, feature 'image'$"
    with pytest.raises(MemoryError, match=message), dataset.loader(threads=threads, on_error=on_error) as loader:
        list(loader)


def encode_jpeg(seed: int) -> bytes:
    """Return a small JPEG file."""
    pixels = np.random.default_rng(seed).integers(0, 256, (16, 16, 3), np.uint8)
    return encode_image(Image.fromarray(pixels), "JPEG")
