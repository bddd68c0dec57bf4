"""What is measured: the tasks, their data, and what has to be reached."""

from __future__ import annotations

from benches.tasks.base import Bound as Bound, Ratio as Ratio, Task as Task
from benches.tasks.images import IMAGE_TASKS
from benches.tasks.pixels import PIXEL_TASKS
from benches.tasks.programs import PROGRAM_TASKS
from benches.tasks.records import RECORD_TASKS

# The limits come last.
TASKS = {task.name: task for task in (*RECORD_TASKS[:-1], *IMAGE_TASKS, *PIXEL_TASKS, *PROGRAM_TASKS, RECORD_TASKS[-1])}
