"""Batches without an end for ``fit(steps_per_epoch=...)``, made ahead by threads."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator
from typing import Any

import recordmill as rm
from recordmill.adapters.keras.progress import progress
from recordmill.adapters.keras.selection import Choose, Names, Selection

# Epochs without a batch after which no other is tried.
_BARREN = 3


class Stream:
    """Epoch after epoch of a loader, for ``fit(stream.batches(), steps_per_epoch=len(stream), shuffle=False)``.

    Keras takes batches before it trains on them; with ``callbacks=[stream.callback()]``, `state_dict` is that of the
    batch last trained on.

    It is for training. Keras begins each validation with the first two batches of a generator again, whatever it has
    given since, and leaves out as many others: give a `PyDataset` as ``validation_data``.

    Parameters
    ----------
    loader : recordmill.Loader
        Of batches.
    x : str, sequence of str, mapping of str to str, or callable
        Feature; features in the order of the inputs; features by the names of the inputs; or a function that makes
        ``(x, y)`` or ``(x, y, sample_weight)`` of a batch.
    y : str, sequence of str, or mapping of str to str, optional
        The same for the outputs.
    sample_weight : str, optional
        Feature with a number per sample. ``"valid"`` leaves out what ``batch(n, last="pad")`` filled up.
    """

    def __init__(
        self, loader: rm.Loader, x: Names | Choose, y: Names | None = None, sample_weight: str | None = None
    ) -> None:
        if isinstance(loader, rm.Dataset):
            raise TypeError("a stream takes a loader: dataset.loader(…)")
        self._loader = loader
        self._choose = Selection(x, y, sample_weight)
        self._ahead: deque[dict[str, Any]] = deque()
        self._trained: dict[str, Any] | None = None
        self._begin: dict[str, Any] | None = None
        self._step = 0

    def __len__(self) -> int:
        """Return the number of batches per epoch of this rank."""
        return len(self._loader)

    def batches(self) -> Generator[tuple[Any, ...], None, None]:
        """Batches as Keras takes them, without an end; with the callback, from behind the last one trained on.

        Yields
        ------
        tuple of ndarray, or of their lists and dicts

        Raises
        ------
        ValueError
            Epochs give no batch, so that ``fit`` would wait for ever.
        """
        if self._trained is not None:
            self._loader.load_state_dict(self._trained)
        self._ahead.clear()
        self._begin = None
        barren = 0  # an epoch that was resumed at its very end gives nothing either
        while barren < _BARREN:
            barren += 1
            running = iter(self._loader)
            self._begin = self._begin or self._loader.state_dict()
            for batch in running:
                barren = 0
                self._ahead.append(self._loader.state_dict())
                yield self._choose(batch)
        raise ValueError(f"{_BARREN} epochs in a row gave no batch, as nothing passes a filter in {self._loader!r}")

    def callback(self) -> Any:
        """What tells this object which batches the model was trained on.

        Returns
        -------
        keras.callbacks.Callback
            For ``fit``.
        """
        return progress(self)

    def epoch_begins(self, epoch: int, last: int, steps: int | None) -> None:  # noqa: ARG002 (fit may cut as it likes)
        """Called by the callback: nothing was trained on yet, whatever Keras took to look at."""
        self._step = 0
        self._trained = self._trained or self._begin

    def batch_ends(self, batch: int) -> None:
        """Called by the callback: the model was trained up to this batch of the epoch of ``fit``."""
        while self._step <= batch and self._ahead:
            self._trained = self._ahead.popleft()
            self._step += 1

    def state_dict(self) -> dict[str, Any]:
        """Where the training is, exact if ``fit`` was given the callback.

        Returns
        -------
        dict
            Small, and fit for JSON.
        """
        return self._trained or self._loader.state_dict()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on behind the batch at which a state was taken; `batches` made before are of no use any more.

        Parameters
        ----------
        state : dict
            From `state_dict`, also of another number of threads or ranks.

        Raises
        ------
        ValueError
            A state of another pipeline.
        """
        self._loader.load_state_dict(state)
        self._trained = self._begin = None

    def close(self) -> None:
        """End the threads."""
        self._loader.close()

    def __repr__(self) -> str:
        """Readable form, which is all that ``fit`` tells of what it does not take."""
        return f"Stream({self._loader!r}, {self._choose!r}), of which fit takes stream.batches()"
