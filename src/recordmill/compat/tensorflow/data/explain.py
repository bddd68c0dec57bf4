"""``Dataset.explain``: describe which functions run natively, which run element by element, and why."""

from __future__ import annotations

from recordmill.compat.tensorflow.data.batching import Batch, find_deferred_maps
from recordmill.compat.tensorflow.data.elements import Node
from recordmill.compat.tensorflow.data.mapping import MAX_CHUNK, Filter, IgnoreErrors, Map
from recordmill.compat.tensorflow.data.native_map import NativeMap
from recordmill.compat.tensorflow.data.trace import Trace
from recordmill.concurrency.threads import num_cpus


def explain(node: Node) -> str:
    """Describe how each user function runs, with one line per function in pipeline order."""
    return "\n".join(_describe_functions(node, True, {})) or "no functions"


def _describe_functions(node: Node, native: bool, batches: dict[Map, Batch]) -> list[str]:
    if isinstance(node, Batch) and native:
        batches = batches | dict.fromkeys(find_deferred_maps(node), node)
    is_native = native and not isinstance(node, IgnoreErrors)
    lines = [line for one in node.inputs for line in _describe_functions(one, is_native, batches)]
    if isinstance(node, Map):
        lines.append(_describe_map(node, native, batches.get(node)))
    elif type(node) is Filter:
        plan = node.function.plan_native() if native else "ignore_errors() follows"
        where = f"up to {MAX_CHUNK} elements at a time"
        lines.append(_format_line(f"filter({node.function.name})", plan, where, "in the thread of the caller"))
    return lines


def _describe_map(node: Map, native: bool, batch: Batch | None) -> str:
    name = f"map({node.function.name})"
    trace = node.function.trace()
    reason = None if isinstance(trace, Trace) else f"called as Python, because {trace}"
    if batch is not None:
        plan = reason or node.function.plan_native()
        return _format_line(name, plan, f"batches of {batch.size}", f"in up to {num_cpus()} threads")
    plan = reason or (node.plan_native() if native else "ignore_errors() follows")
    threads = node.num_threads() if native else node.num_parallel_calls
    where = f"in {threads} threads" if threads else "in the thread of the caller"
    return _format_line(name, plan, f"up to {MAX_CHUNK} elements at a time", where)


def _format_line(name: str, plan: NativeMap | str, size: str, where: str) -> str:
    if isinstance(plan, str):
        return f"per element: {name}, {where}: {plan}"
    parts = (["records parsed together"] if plan.parses else []) + sorted(set(plan.decoders))
    return f"native: {name}, {size}{': ' if parts else ''}{', '.join(parts)}"
