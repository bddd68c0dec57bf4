"""Provide ``fit`` with random access to the batches of the current epoch."""

from __future__ import annotations

import warnings
from typing import Any

import recordmill as rm
from recordmill.adapters.common import check_epoch, check_positional_access
from recordmill.adapters.keras.callback import create_callback
from recordmill.adapters.keras.selection import FeatureNames, SelectFunction, Selection
from recordmill.suggestions import suggest_constructor_arguments


@suggest_constructor_arguments
class PyDataset:
    """A dataset of batches as a `keras.utils.PyDataset`.

    Each epoch of ``fit`` is an epoch of the pipeline, with its own order and random parameters. With
    ``callbacks=[data.callback()]``, the epoch follows the epoch number of ``fit``, and `state_dict` returns the state
    after the last batch that the model was trained on. If the pipeline shuffles, pass ``shuffle=False`` to ``fit``,
    which otherwise shuffles the batches too.

    Parameters
    ----------
    dataset : recordmill.Dataset
        Dataset of batches.
    x : str, sequence of str, mapping of str to str, or callable
        Inputs of the model: the name of a feature; feature names in the order of the inputs; feature names by input
        name; or a function from a batch to ``(x, y)`` or ``(x, y, sample_weight)``.
    y : str, sequence of str, or mapping of str to str, optional
        Targets of the model, in the same form.
    sample_weight : str, optional
        Name of a feature with one number per sample. ``"valid"`` ignores the samples that ``batch(n, last="pad")``
        added.
    workers : int, default 1
        As in `keras.utils.PyDataset`. A number above 1 causes a warning, because Keras then trains on batches that were
        computed before the first epoch. Use `Stream` to compute batches in several threads.
    use_multiprocessing : bool, default False
        As in `keras.utils.PyDataset`; True causes the same warning.
    max_queue_size : int, default 10
        As in `keras.utils.PyDataset`.

    Raises
    ------
    MissingExtraError
        If Keras or its backend is not installed.
    TypeError
        If the dataset has no positions, because it has a `filter` stage, or if `x`, `y` or `sample_weight` is invalid.
    ValueError
        If the dataset is not batched or has a `shard` stage. With the callback, ``fit`` raises ValueError if
        ``steps_per_epoch`` differs from the number of batches per epoch.
    """

    def __init__(
        self,
        dataset: rm.Dataset,
        x: FeatureNames | SelectFunction,
        y: FeatureNames | None = None,
        sample_weight: str | None = None,
        *,
        workers: int = 1,
        use_multiprocessing: bool = False,
        max_queue_size: int = 10,
    ) -> None:
        options = {"workers": workers, "use_multiprocessing": use_multiprocessing, "max_queue_size": max_queue_size}
        super().__init__(**options)
        _warn_about_workers(workers, use_multiprocessing)
        if dataset.batch_stage is None:
            raise ValueError("Keras requires batches: add batch(n) to the end of the pipeline")
        check_positional_access(dataset, "only recordmill.keras.Stream divides batches among ranks")
        self.dataset = dataset
        self._select_features = Selection(x, y, sample_weight)
        self._num_batches = len(dataset)
        # Current epoch, position of the first batch (above 0 in a resumed epoch), and number of batches of this epoch
        # on which the model was trained.
        self._epoch = self._start = self._num_trained = 0
        self._requested: set[int] = set()
        self._has_ended_resumed_epoch = False

    @property
    def epoch(self) -> int:
        """Number of the epoch whose batches are returned."""
        return self._epoch

    def __len__(self) -> int:
        """Return the number of batches per epoch; after `load_state_dict`, the number of remaining batches."""
        return self._num_batches - self._start

    def __getitem__(self, position: int) -> tuple[Any, ...]:
        """Return the batch at a position as ``(x,)``, ``(x, y)`` or ``(x, y, sample_weight)``."""
        position = range(self._start, self._num_batches)[position]
        batch = self.dataset.fetch([position], epoch=self._epoch)[0]
        self._requested.add(position)
        return self._select_features(batch)

    def set_epoch(self, epoch: int) -> None:
        """Set the epoch whose batches are returned, and start at its first batch.

        Parameters
        ----------
        epoch : int
            Number of the epoch, from 0.
        """
        self._epoch, self._start, self._num_trained = check_epoch(epoch), 0, 0
        self._requested.clear()

    def on_epoch_begin(self) -> None:
        """Raise RuntimeError if ``fit`` starts another epoch after a resumed epoch; Keras calls this method."""
        if self._has_ended_resumed_epoch:
            raise RuntimeError(
                "fit assumes that all epochs are as long as the resumed epoch. Finish the resumed epoch with fit(..., "
                "initial_epoch=data.epoch, epochs=data.epoch + 1). Then call fit again for the other epochs"
            )

    def on_epoch_end(self) -> None:
        """Switch to the next epoch if the current epoch is complete; Keras calls this method."""
        # Keras also calls this method in the middle of an epoch, after it has requested one batch to build the model.
        is_resumed, is_complete = self._start > 0, len(self._requested) == len(self)
        if is_complete and len(self):
            self.set_epoch(self._epoch + 1)
        self._has_ended_resumed_epoch = is_resumed and is_complete

    def callback(self) -> Any:
        """Return a Keras callback that reports the progress of ``fit`` to this object.

        Returns
        -------
        keras.callbacks.Callback
            Pass it to ``fit``.
        """
        return create_callback(self)

    def epoch_begins(self, epoch: int, last: int, steps: int | None) -> None:
        """Switch to the current epoch of ``fit``; the callback calls this method."""
        if steps not in (None, len(self)) and epoch < last:
            raise ValueError(
                f"steps_per_epoch must be the number of batches per epoch, expected {len(self)}, got {steps}: "
                "omit steps_per_epoch, or train with recordmill.keras.Stream"
            )
        if epoch != self._epoch:
            self.set_epoch(epoch)

    def batch_ends(self, batch: int) -> None:
        """Store that the model was trained on the batches of this epoch up to `batch`. The callback calls this."""
        self._num_trained = min(self._start + batch + 1, self._num_batches)

    def state_dict(self) -> dict[str, Any]:
        """Return the state after the last batch on which the model was trained; ``fit`` must use `callback`.

        Returns
        -------
        dict
            A small dict that can be written as JSON. A `recordmill.Loader` of the same pipeline can load it too.
        """
        epochs, batch = divmod(self._num_trained, self._num_batches)
        with self.dataset.loader(threads=0, rank=0, world_size=1) as loader:
            return loader.state_after(self._epoch + epochs, batch)

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue after the batch at which a state was saved.

        Finish the resumed epoch with ``fit(data, initial_epoch=data.epoch, epochs=data.epoch + 1)``, then call ``fit``
        again for the other epochs.

        Parameters
        ----------
        state : dict
            Return value of `state_dict`, or of a `recordmill.Loader` of the same pipeline in a single process.

        Raises
        ------
        StateError
            If the state belongs to another pipeline, or if its position is inside a batch.
        """
        with self.dataset.loader(threads=0, rank=0, world_size=1) as loader:
            loader.load_state_dict(state)
        sampler = self.dataset.create_sampler()
        batch, inside = divmod(max(0, state["position"] - sampler.start), sampler.global_size)
        if inside and batch + 1 < self._num_batches:
            raise rm.StateError(
                "the state must be from a position between batches, not inside a batch",
                kind="bad_state",
                found=f"{inside} samples after the start of batch {batch}",
            )
        epochs, batch = divmod(batch + (inside > 0), self._num_batches)
        self.set_epoch(state["epoch"] + epochs)
        self._start = self._num_trained = batch

    def __repr__(self) -> str:
        """Return a readable representation."""
        return f"PyDataset({self.dataset!r}, {self._select_features!r})"


def _warn_about_workers(workers: int, use_multiprocessing: bool) -> None:
    if workers > 1 or (workers and use_multiprocessing):
        warnings.warn(
            f"with workers={workers} and use_multiprocessing={use_multiprocessing}, Keras 3 repeats some batches and "
            "delays the others, so saved states are not exact; omit these options, or use recordmill.keras.Stream, "
            "which computes batches in threads",
            stacklevel=4,  # skip this function, the constructor, and the decorator of the constructor
        )
