"""Which map functions run natively, which as Python, and why; in words."""

from __future__ import annotations

from recordmill.compat.processors import num_processors
from recordmill.compat.tensorflow.data.batching import Batch
from recordmill.compat.tensorflow.data.elements import Node, Way
from recordmill.compat.tensorflow.data.fusing import Fused, fused
from recordmill.compat.tensorflow.data.mapping import IgnoreErrors, Map
from recordmill.compat.tensorflow.data.recording import Program
from recordmill.compat.tensorflow.data.whole import WholeProgram


def explain(node: Node) -> str:
    """How the functions of a pipeline run."""
    lines = _lines(node, True, set())
    return "\n".join(lines) if lines else "no functions"


def _lines(node: Node, natively: bool, done: set[int]) -> list[str]:
    mine: list[str] = []
    if type(node) is Batch:
        plan = fused(node)
        if isinstance(plan, Fused) and natively:
            mine.append(_native(plan))
            done.update(map(id, plan.maps))
        elif any(isinstance(one, Map) for one in _before(node)):
            mine.append(
                f"python: batch({node.size}) joins elements: {plan if natively else 'errors are ignored behind it'}"
            )
    if isinstance(node, Map) and id(node) not in done:
        mine.append(_alone(node, natively))
    return [
        line for one in node.inputs for line in _lines(one, natively and not isinstance(node, IgnoreErrors), done)
    ] + mine


def _before(node: Node) -> list[Node]:
    return [*node.inputs, *(found for one in node.inputs for found in _before(one))]


def _native(plan: Fused) -> str:
    names = ", ".join(node.function.name for node in plan.maps)
    return f"native: map({names}).batch({plan.batch.size}) for whole batches{_ways(plan.programs)}"


def _ways(programs: list[WholeProgram]) -> str:
    ways = [
        *(["records parsed together"] if any(one.parses for one in programs) else []),
        *sorted({way for one in programs for way in one.decodes}),
    ]
    single = sorted({name for one in programs for name in one.single()})
    rest = f"; sample by sample: {', '.join(single)}" if single else ""
    return (f": {', '.join(ways)}" if ways else "") + rest


def _alone(node: Map, natively: bool) -> str:
    plan = node.plan(Way(whole_batches=natively))
    if plan is None or plan.makes_pictures or not plan.gains:
        return _python(node, node.threads or (num_processors() if plan is not None and plan.makes_pictures else 0))
    return f"native: map({node.function.name}) for up to {plan.most} elements at a time{_ways([plan.whole])}"


def _python(node: Map, threads: int) -> str:
    program = node.function.program()
    how = "recorded once, done to every element" if isinstance(program, Program) else f"called, as {program}"
    where = f"in {threads} threads" if threads else "in the thread of the caller"
    return f"python: map({node.function.name}), {where}: {how}"
