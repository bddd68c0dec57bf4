"""What keeps the elements of a data set in files, and what gives them back; and classes brought to other shares."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from recordmill.compat.tensorflow.data.base import DatasetBase
from recordmill.compat.tensorflow.data.resampling import Resampled
from recordmill.compat.tensorflow.data.saved import Snapshot, loaded, save
from recordmill.compat.tensorflow.files.errors import path_of

# Hints of TensorFlow that have no influence on elements and their order here.
# ruff: noqa: ARG002


class Keeping(DatasetBase):
    """Saved data sets, snapshots, resampling."""

    def save(
        self,
        path: Any,
        compression: str | None = None,
        shard_func: Callable[..., Any] | None = None,
        checkpoint_args: Any = None,
    ) -> None:
        """Write all elements to a folder, in files of this package."""
        if checkpoint_args is not None:
            raise NotImplementedError("Dataset.save(checkpoint_args=...) is not supported: leave it out")
        save(self.node, path_of(path), compression, shard_func)

    @staticmethod
    def load(
        path: Any,
        element_spec: Any = None,
        compression: str | None = None,
        reader_func: Callable[..., Any] | None = None,
        wait: bool = False,
    ) -> Any:
        """Elements that `save` wrote, one shard after the other unless `reader_func` says otherwise."""
        from recordmill.compat.tensorflow.data.dataset import Dataset

        if wait:
            raise NotImplementedError("Dataset.load(wait=True) is not supported: save, then load")
        return Dataset(loaded(path_of(path), reader_func, compression, element_spec))

    def snapshot(
        self,
        path: Any,
        compression: str | None = "AUTO",
        reader_func: Callable[..., Any] | None = None,
        shard_func: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> Any:
        """Elements that are saved in the first whole pass, and read from the folder from then on."""
        return self._then(Snapshot(self.node, path_of(path), compression, shard_func, reader_func))

    def rejection_resample(
        self,
        class_func: Callable[..., Any],
        target_dist: Any,
        initial_dist: Any = None,
        seed: int | None = None,
        name: str | None = None,
    ) -> Any:
        """Pairs of a class and an element, some left out so that classes have the shares that are asked for."""
        return self._then(Resampled(self.node, class_func, target_dist, initial_dist, seed))
