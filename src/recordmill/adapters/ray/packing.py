"""`pack` on a Ray cluster: each task packs one part of a `PackPlan`, usually one shard."""

from __future__ import annotations

import os
from contextlib import closing
from typing import Any

import recordmill as rm
from recordmill.adapters.ray.tasks import TaskFailure, TaskOptions, TaskRunner, import_ray
from recordmill.errors import PlanError, RecordmillError
from recordmill.packing.pack_files import PackResult
from recordmill.packing.plan import PackPlan
from recordmill.packing.progress import Progress, ProgressOption
from recordmill.packing.sources import Source


def pack(
    source: Source | str | os.PathLike[str],
    destination: str | os.PathLike[str],
    *,
    progress: ProgressOption = None,
    num_cpus: int = 1,
    memory: int | None = None,
    max_retries: int = 3,
    **options: Any,
) -> PackResult:
    """Write image files to shards as `recordmill.pack` does, with the workers of a Ray cluster.

    Each shard is one task. The workers read the images and write the shards. All nodes must find the source and the
    destination under the same paths. If a worker or a node dies, its running shards are packed again. The files have
    the same bytes as those of `recordmill.pack`.

    If an error occurs or this process ends early, finished shards are kept under hidden names. Call the function again
    with ``resume=True`` to use them; otherwise, it packs all shards again.

    Parameters
    ----------
    source : Source or path
        Source of image files, as in `recordmill.pack`.
    destination : path
        Prefix of the shard names, in a folder that all nodes share.
    progress : bool or callable, optional
        Whether to show progress on standard error, as in `recordmill.pack`.
    num_cpus : int
        CPUs for each task, and number of its threads. Ray waits for a node with this many CPUs.
    memory : int, optional
        Bytes of memory that Ray reserves for each task; limits the tasks that run on a node at the same time.
    max_retries : int
        Maximum number of times that a part is packed again after its worker or node has died.
    **options
        Options of `recordmill.plan_pack`, such as `shards`, `format`, `encode` and `resume`.

    Returns
    -------
    PackResult
        Result whose paths are absolute.

    Raises
    ------
    PlanError
        If a part cannot be packed. `part` is its number, `shard` the image, and `cause` the error of the worker, such
        as ImageError or WriteError. No shard is written.
    MissingExtraError
        If Ray is not installed.
    InputError, LabelError, OutputExistsError, DestinationLockedError, ResumeError, WriteError
        As in `recordmill.plan_pack`.

    Examples
    --------
    >>> rm.ray.pack("photos", "/shared/train", shards=2000, encode="jpeg", resume=True)  # doctest: +SKIP
    """
    import_ray()
    tasks = TaskOptions(num_cpus, memory, max_retries)
    plan = rm.plan_pack(source, destination, **options)
    shown = Progress(plan.num_files, progress)
    with closing(TaskRunner(_pack_part, (plan, num_cpus), tasks).run(range(plan.num_parts))) as results:
        for part, result in results:
            if isinstance(result, TaskFailure):
                raise _create_part_error(plan, part, result) from result.error
            shown.advance(result)
    result = rm.finish_pack(plan)
    shown.close()
    return result


def _pack_part(shared: tuple[PackPlan, int], part: int) -> int:
    """Pack one part of a `PackPlan` in a worker; return the number of its images."""
    plan, workers = shared
    result = rm.pack_part(plan, part, workers=workers)
    return result.num_records + result.num_skipped


def _create_part_error(plan: PackPlan, part: int, failure: TaskFailure) -> PlanError:
    error = failure.error
    if isinstance(error, RecordmillError):
        parts = error.parts()
        known = {name: parts[name] for name in ("kind", "shard", "expected", "found", "hint")}
        message = error.message
    else:
        known, message = {"kind": "part_failed"}, f"{type(error).__name__}: {error}"
    return PlanError(
        f"part {part} of {plan.num_parts} cannot be packed on {failure.host}: {message}",
        part=part,
        cause=error,
        **known,
    )
