"""Tasks of loading images for training: batches, first batch, random access, tensors of frameworks, idle CPU time."""

from __future__ import annotations

from benches.tasks.base import Bound, Ratio, Task

AS_THEY_ARE, WITH_POINTS = "files as they are", "row entry points"
# Our variants with TensorFlow's arithmetic: bilinear without antialiasing, fast inverse DCT; `LIKE_FAST` also with
# plain upsampling.
LIKE_FUSED, LIKE_FAST = "like TensorFlow's fused", "like TensorFlow's fused, fast"
_LIKE_FOR_LIKE = (Ratio("tensorflow", 2.2, LIKE_FUSED, "fused"), Ratio("tensorflow", 2.2, LIKE_FAST, "fused, fast"))
# Frameworks whose tensors are produced. "NumPy beside" measures the cost of only importing a framework.
HANDED, BESIDE = ("torch", "keras", "jax"), "NumPy beside "
ONE_THREAD, TWO_THREADS, TWO_PROCESSES = "1 thread", "2 threads", "2 processes"
# Variants of the limits: the same records by positioned reads into one buffer, or copied from memory-mapped files.
CACHE_READ, ONE_READ = "page cache read, batches of 128", "page cache read, one"
ONE_COPY = "copied out of mapped files, one"

IMAGE_TASKS = (
    Task(
        "P4a",
        "photos to random-resized crops of 224, mirrored, normalized, float32, batches of 128",
        "pass",
        "photos",
        128,
        (
            Ratio("tensorflow", 2.2, AS_THEY_ARE),
            Ratio("tensorflow", 2.6, WITH_POINTS),
            *_LIKE_FOR_LIKE,
            Ratio("ffcv", 1),
            Ratio("", 1),
        ),
        compare="crops",
        recipe="crop",
    ),
    Task(
        "P4b",
        "the same as uint8, not normalized",
        "pass",
        "photos",
        128,
        (Ratio("tensorflow", 2.2, AS_THEY_ARE), *_LIKE_FOR_LIKE, Ratio("", 1)),
        compare="crops",
        recipe="crop-uint8",
    ),
    Task(
        "P4c",
        "photos to a shorter side of 256, center crop of 224, normalized, float32, batches of 128",
        "pass",
        "photos",
        128,
        (
            Ratio("tensorflow", 1.8, AS_THEY_ARE),
            Ratio("tensorflow", 1.8, LIKE_FUSED, "fused"),
            Ratio("tensorflow", 1.8, LIKE_FAST, "fused, fast"),
            Ratio("", 1),
        ),
        compare="center",
        recipe="center",
    ),
    Task(
        "P4-large",
        "photographs of 12 megapixels to random-resized crops of 224 as in P4a, batches of 16",
        "pass",
        "large",
        16,
        (Ratio("", 1),),
        compare="crops",
        recipe="crop",
    ),
    Task(
        "P4-progressive",
        "photos as progressive JPEG to random-resized crops of 224 as in P4a, batches of 128",
        "pass",
        "progressive",
        128,
        (Ratio("", 1),),
        compare="crops",
        recipe="crop",
    ),
    Task("P4-threads", "P4a with one thread and with two", "pass", "photos", 128, compare="crops", recipe="crop"),
    Task(
        "P5",
        "PNG digits to float32 of 28 x 28, batches of 128",
        "pass",
        "digits",
        128,
        (Ratio("mxnet", 3), Ratio("", 1)),
        compare="pixels",
        recipe="digit",
    ),
    Task(
        "P5-arrays",
        "digits stored as raw arrays to float32 of 28 x 28, batches of 128",
        "pass",
        "arrays",
        128,
        (Bound("rate", True, 600_000, "digits/s"), Ratio("", 1)),
        compare="pixels",
        recipe="array",
    ),
    Task(
        "P5-function",
        "PNG digits through a Python function on each (padded, cut out, scaled by NumPy), batches of 128",
        "pass",
        "digits",
        128,
        (Ratio("torch", 1, TWO_THREADS), Ratio("torch", 1, TWO_PROCESSES), Ratio("ours", 0.9, TWO_THREADS, ONE_THREAD)),
        compare="pixels",
        recipe="function",
    ),
    Task(
        "sorted",
        "a million digits sorted by class to float32 of 28 x 28, batches of 128",
        "pass",
        "sorted",
        128,
        (Ratio("ours", 0.8, "shuffled", "file order"),),
        compare="pixels",
        recipe="digit",
    ),
    Task(
        "P6a",
        "from the start of the process to the first batch of P4a, and peak memory",
        "start",
        "photos",
        128,
        (Bound("first_s", False, 0.4, "s"), Bound("beyond_mb", False, 100, "MB beyond the batches")),
        recipe="crop",
    ),
    Task(
        "P6b",
        "photo records by random positions: one at a time, and batches of 128",
        "pass",
        "photos",
        128,
        (Ratio("", 2, "one"), Ratio("limits", 0.8, "batch", CACHE_READ)),
        compare="records",
    ),
    Task(
        "tensors",
        "P4a into tensors of PyTorch, Keras and JAX",
        "pass",
        "photos",
        128,
        tuple(Ratio("ours", 0.97, name, BESIDE + name) for name in HANDED),
        compare="crops",
        recipe="crop",
        per_core=True,
    ),
    Task(
        "waiting",
        "processor time of P4a's loader while the trainer holds a batch",
        "value",
        "photos",
        128,
        (Bound("waiting_percent", False, 5, "% of a core"),),
        recipe="crop",
    ),
)
