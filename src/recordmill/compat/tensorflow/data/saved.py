"""Data sets that were saved: their shards as sources, and ``Dataset.snapshot``."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

from recordmill.compat.tensorflow.core.errors import DataLossError, NotFoundError, UnimplementedError
from recordmill.compat.tensorflow.data.elements import Element, Failed, Node, NoElementsError, Step, Way
from recordmill.compat.tensorflow.data.functions import Function
from recordmill.compat.tensorflow.data.nesting import Values
from recordmill.compat.tensorflow.data.packed import unpacked
from recordmill.compat.tensorflow.data.saving import Saving, is_saved, read_contents
from recordmill.compat.tensorflow.data.specs import spec_of
from recordmill.compat.tensorflow.data.theirs import TheirShards, is_theirs, spec_of_theirs
from recordmill.compat.tensorflow.io.records import tf_record_iterator


class Shards(Node):
    """Elements of saved shards, one shard after the other."""

    def __init__(self, folder: str, spec: Any, compression: str, shards: list[tuple[str, int]]) -> None:
        super().__init__()
        self._folder, self._spec, self._compression, self._shards = folder, spec, compression, shards

    def iterate(self, way: Way) -> Iterator[Step]:  # noqa: ARG002
        """Give them."""
        for name, count in self._shards:
            path, found = os.path.join(self._folder, name), 0
            try:
                for record in tf_record_iterator(path, self._compression):
                    yield Element(unpacked(record, self._spec, path, found))
                    found += 1
            except NotFoundError:
                yield Failed(
                    NotFoundError("it is gone: the data set was saved again", shard=path, hint="load it again")
                )
                continue
            except Exception as error:  # noqa: BLE001 (it is told to the caller)
                yield Failed(error)
                continue
            if found != count:
                yield Failed(DataLossError(f"it holds {found} elements, and {count} were saved", shard=path))

    def cardinality(self) -> int:
        """How many were saved."""
        return sum(count for _, count in self._shards)

    def spec(self) -> Any:
        """What was saved."""
        return self._spec

    def sample(self) -> Iterator[Any]:
        """The first ones, as they are."""
        return (step.value for step in self.iterate(Way()) if isinstance(step, Element))


def loaded(
    folder: str, reader_func: Callable[..., Any] | None, compression: str | None = None, given: Any = None
) -> Node:
    """Source of what a folder holds."""
    if not is_saved(folder) and is_theirs(folder):
        return _theirs(folder, reader_func, compression, given)
    spec, kind, shards = read_contents(folder)
    if reader_func is None:
        return Shards(folder, spec, kind, shards)
    from recordmill.compat.tensorflow.data.dataset import Dataset

    each = [Dataset(Shards(folder, spec, kind, [shard])) for shard in shards]
    made = reader_func(Dataset(Values(each, spec_of(each[0]) if each else None)))
    if not isinstance(made, Dataset):
        raise TypeError(f"reader_func must return a `tf.data.Dataset` object, not {made!r}.")
    return made.node


def _theirs(folder: str, reader_func: Callable[..., Any] | None, compression: str | None, given: Any) -> Node:
    if reader_func is not None:
        raise UnimplementedError(
            f"{folder} was saved by TensorFlow: it is read without a reader_func, shard after shard"
        )
    return TheirShards(folder, spec_of_theirs(folder) if given is None else given, compression or "")


def save(node: Node, folder: str, compression: str | None, shard_func: Callable[..., Any] | None) -> None:
    """Write all elements to a folder."""
    saving, chosen = Saving(folder, compression), shard_func and Function(shard_func, node)
    try:
        for step in node.iterate(Way()):
            value = _value(step)
            saving.write(value, int(chosen(value)) if chosen else 0)
        saving.finish(_spec(node))
    except BaseException:
        saving.discard()
        raise


def _spec(node: Node) -> Any:
    try:
        return node.spec()
    except NoElementsError:
        return ()


def _value(step: Step) -> Any:
    if isinstance(step, Failed):
        raise step.error
    return step.value


class Snapshot(Node):
    """Elements that are saved in the first whole pass, and read from then on, also by later programs."""

    def __init__(
        self,
        node: Node,
        folder: str,
        compression: str | None,
        shard_func: Callable[..., Any] | None,
        reader_func: Callable[..., Any] | None,
    ) -> None:
        super().__init__(node)
        Saving(folder, compression)  # which refuses what is not supported
        self._folder, self._compression, self._reader = folder, compression, reader_func
        self._shard = shard_func and Function(shard_func, node)

    def iterate(self, way: Way) -> Iterator[Step]:
        """Give the saved ones, or save while giving."""
        if is_saved(self._folder):
            return loaded(self._folder, self._reader).iterate(way)
        return self._saving(way)

    def _saving(self, way: Way) -> Iterator[Step]:
        saving, sound, ended = Saving(self._folder, self._compression), True, False
        try:
            for step in self.input.iterate(way):
                if isinstance(step, Element):
                    saving.write(step.value, int(self._shard(step.value)) if self._shard else 0)
                else:
                    sound = False
                yield step
            ended = True
        finally:
            if ended and sound:
                saving.finish(_spec(self.input))
            else:
                saving.discard()

    def spec(self) -> Any:
        """What was saved, or what will be."""
        return read_contents(self._folder)[0] if is_saved(self._folder) else self.input.spec()

    def sample(self) -> Iterator[Any]:
        """The saved ones, or the input's."""
        return loaded(self._folder, None).sample() if is_saved(self._folder) else self.input.sample()
