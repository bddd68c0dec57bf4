"""Batches by position for ``fit``, epoch after epoch."""

from __future__ import annotations

import warnings
from typing import Any

import recordmill as rm
from recordmill.adapters.checks import check_by_position, epoch_of
from recordmill.adapters.keras.progress import progress
from recordmill.adapters.keras.selection import Choose, Names, Selection


class PyDataset:
    """A data set of batches as a `keras.utils.PyDataset`.

    Every epoch of ``fit`` is an epoch of the pipeline: its order and its random numbers change. With
    ``callbacks=[data.callback()]`` they follow the number of the epoch in ``fit``, and `state_dict` knows what the
    model was trained on. ``shuffle=False`` keeps ``fit`` from shuffling the batches of a pipeline that shuffles its
    samples.

    Parameters
    ----------
    dataset : recordmill.Dataset
        Of batches.
    x : str, sequence of str, mapping of str to str, or callable
        Feature; features in the order of the inputs; features by the names of the inputs; or a function that makes
        ``(x, y)`` or ``(x, y, sample_weight)`` of a batch.
    y : str, sequence of str, or mapping of str to str, optional
        The same for the outputs.
    sample_weight : str, optional
        Feature with a number per sample. ``"valid"`` leaves out what ``batch(n, last="pad")`` filled up.
    workers, use_multiprocessing, max_queue_size
        As in `keras.utils.PyDataset`; there is a warning of more than one worker and of processes: Keras then trains
        on batches that it made before the first epoch. The threads of `Stream` are exact.

    Raises
    ------
    MissingExtraError
        Keras, or its backend, is not installed.
    TypeError
        A data set without positions, as filters make them.
    ValueError
        A data set of samples, or one with a `shard` stage. From ``fit`` with the callback: epochs of another length
        (``steps_per_epoch``) than those of the data.
    """

    def __init__(
        self,
        dataset: rm.Dataset,
        x: Names | Choose,
        y: Names | None = None,
        sample_weight: str | None = None,
        *,
        workers: int = 1,
        use_multiprocessing: bool = False,
        max_queue_size: int = 10,
    ) -> None:
        options = {"workers": workers, "use_multiprocessing": use_multiprocessing, "max_queue_size": max_queue_size}
        super().__init__(**options)
        _warn_of_workers(workers, use_multiprocessing)
        if dataset.stage is None:
            raise ValueError("Keras takes batches: end the pipeline with batch(n)")
        check_by_position(dataset, "Stream gives each rank its own batches")
        self.dataset = dataset
        self._choose = Selection(x, y, sample_weight)
        self._num_batches = len(dataset)
        self._epoch = self._start = self._trained = 0
        self._asked: set[int] = set()
        self._was_rest = False

    @property
    def epoch(self) -> int:
        """The epoch whose batches are given."""
        return self._epoch

    def __len__(self) -> int:
        """Return the number of batches of the epoch, of its rest after `load_state_dict`."""
        return self._num_batches - self._start

    def __getitem__(self, position: int) -> tuple[Any, ...]:
        """Batch at a position of the epoch, as Keras takes it."""
        place = range(self._start, self._num_batches)[position]
        batch = self.dataset.fetch([place], epoch=self._epoch)[0]
        self._asked.add(place)
        return self._choose(batch)

    def set_epoch(self, epoch: int) -> None:
        """Choose the epoch whose batches are given, from its first one.

        Parameters
        ----------
        epoch : int
            From 0.
        """
        self._epoch, self._start, self._trained = epoch_of(epoch), 0, 0
        self._asked.clear()

    def on_epoch_begin(self) -> None:
        """Called by Keras."""
        if self._was_rest:
            raise RuntimeError(
                "fit goes on with the short length of the epoch that was resumed: finish that one by itself, with "
                "fit(..., initial_epoch=data.epoch, epochs=data.epoch + 1), and start the others with another fit"
            )

    def on_epoch_end(self) -> None:
        """Called by Keras, also when it only took a batch to build a model: an epoch ends with its last batch."""
        is_rest, is_whole = self._start > 0, len(self._asked) == len(self)
        if is_whole and len(self):
            self.set_epoch(self._epoch + 1)
        self._was_rest = is_rest and is_whole

    def callback(self) -> Any:
        """What tells this object which batches the model was trained on.

        Returns
        -------
        keras.callbacks.Callback
            For ``fit``.
        """
        return progress(self)

    def epoch_begins(self, epoch: int, last: int, steps: int | None) -> None:
        """Called by the callback: follow the epoch of ``fit``."""
        if steps not in (None, len(self)) and epoch < last:
            raise ValueError(
                f"fit was given steps_per_epoch={steps}, but an epoch of these data has {len(self)} batches, and "
                "their order and state follow the epochs of fit: leave steps_per_epoch out, or train from "
                "recordmill.keras.Stream, whose epochs may be of any length"
            )
        if epoch != self._epoch:
            self.set_epoch(epoch)

    def batch_ends(self, batch: int) -> None:
        """Called by the callback: the model was trained up to this batch of the epoch."""
        self._trained = min(self._start + batch + 1, self._num_batches)

    def state_dict(self) -> dict[str, Any]:
        """Where the training is, exact if ``fit`` was given the callback.

        Returns
        -------
        dict
            Small, and fit for JSON; a `Loader` of the same pipeline goes on there too.
        """
        epochs, batch = divmod(self._trained, self._num_batches)
        with self.dataset.loader(threads=0, rank=0, world_size=1) as loader:
            loader.set_epoch(self._epoch + epochs)
            state = loader.state_dict()
        position = self.dataset.cuts().behind(batch) if batch else 0
        return state | {"position": position, "passed": position}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on behind the batch at which a state was taken.

        The rest of an epoch wants a ``fit`` of its own: ``fit(data, initial_epoch=data.epoch, epochs=data.epoch + 1)``.

        Parameters
        ----------
        state : dict
            From `state_dict`, or of a `Loader` of the same pipeline in a single process.

        Raises
        ------
        StateError
            A state of another pipeline, or one between two batches of others.
        """
        with self.dataset.loader(threads=0, rank=0, world_size=1) as loader:
            loader.load_state_dict(state)
        cuts = self.dataset.cuts()
        batch, inside = divmod(max(0, state["position"] - cuts.start), cuts.together)
        if inside and batch + 1 < self._num_batches:
            found = f"{inside} samples inside batch {batch}"
            raise rm.StateError("the state stands between the batches of others", kind="bad_state", found=found)
        epochs, batch = divmod(batch + (inside > 0), self._num_batches)
        self.set_epoch(state["epoch"] + epochs)
        self._start = self._trained = batch

    def __repr__(self) -> str:
        """Readable form."""
        return f"PyDataset({self.dataset!r}, {self._choose!r})"


def _warn_of_workers(workers: int, use_multiprocessing: bool) -> None:
    """Tell what Keras makes of its own workers: what it queued to build a model stands in front of the first epoch."""
    if workers > 1 or (workers and use_multiprocessing):
        warnings.warn(
            f"workers={workers}, use_multiprocessing={use_multiprocessing}: Keras 3 trains twice on batches that its "
            "workers made before the first epoch, every later batch comes late by as many, and states are not exact; "
            "leave both out, or let the threads of recordmill.keras.Stream work ahead",
            stacklevel=3,
        )
