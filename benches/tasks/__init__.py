"""The tasks that are measured, with their data and goals."""

from __future__ import annotations

from benches.tasks.base import Bound as Bound, Ratio as Ratio, Task as Task
from benches.tasks.images import IMAGE_TASKS
from benches.tasks.pixels import PIXEL_TASKS
from benches.tasks.programs import PROGRAM_TASKS
from benches.tasks.records import RECORD_TASKS

# The task "limits" is the last one.
TASKS = {task.name: task for task in (*RECORD_TASKS[:-1], *IMAGE_TASKS, *PIXEL_TASKS, *PROGRAM_TASKS, RECORD_TASKS[-1])}
