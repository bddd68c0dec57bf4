"""An endless stream of batches for ``fit(steps_per_epoch=...)``."""

from __future__ import annotations

from collections import deque
from collections.abc import Generator
from typing import Any

import recordmill as rm
from recordmill.adapters.keras.callback import create_callback
from recordmill.adapters.keras.selection import FeatureNames, SelectFunction, Selection
from recordmill.suggestions import suggest_constructor_arguments

_MAX_EMPTY_EPOCHS = 3


@suggest_constructor_arguments
class Stream:
    """Batches of a loader, epoch after epoch.

    Pass ``stream.batches()`` to ``fit``: ``fit(stream.batches(), steps_per_epoch=len(stream), shuffle=False)``. Keras
    requests batches before it trains on them. With ``callbacks=[stream.callback()]``, `state_dict` returns the state
    after the last batch that the model was trained on.

    Use a stream for training only. At each validation, Keras repeats the first two batches of a generator and drops two
    others; pass a `PyDataset` as ``validation_data``.

    Parameters
    ----------
    loader : recordmill.Loader
        Loader of batches.
    x : str, sequence of str, mapping of str to str, or callable
        Inputs of the model: the name of a feature; feature names in the order of the inputs; feature names by input
        name; or a function from a batch to ``(x, y)`` or ``(x, y, sample_weight)``.
    y : str, sequence of str, or mapping of str to str, optional
        Targets of the model, in the same form.
    sample_weight : str, optional
        Name of a feature with one number per sample. ``"valid"`` ignores the samples that ``batch(n, last="pad")``
        added.

    Raises
    ------
    TypeError
        If `loader` is a dataset, or if `x`, `y` or `sample_weight` is invalid.
    """

    def __init__(
        self,
        loader: rm.Loader,
        x: FeatureNames | SelectFunction,
        y: FeatureNames | None = None,
        sample_weight: str | None = None,
    ) -> None:
        if isinstance(loader, rm.Dataset):
            raise TypeError("loader must be a recordmill.Loader, got a Dataset; pass dataset.loader()")
        self._loader = loader
        self._select_features = Selection(x, y, sample_weight)
        # The state after each batch that Keras has requested but on which the model was not trained yet.
        self._pending: deque[dict[str, Any]] = deque()
        self._trained: dict[str, Any] | None = None
        self._start: dict[str, Any] | None = None
        self._step = 0

    def __len__(self) -> int:
        """Return the number of batches per epoch on this rank."""
        return len(self._loader)

    def batches(self) -> Generator[tuple[Any, ...], None, None]:
        """Iterate over batches forever. With `callback`, start after the last batch on which the model was trained.

        Yields
        ------
        tuple
            ``(x,)``, ``(x, y)`` or ``(x, y, sample_weight)``, as arrays or tuples and dicts of arrays.

        Raises
        ------
        FeatureError
            If a feature is missing or is not a numeric array.
        ValueError
            If several epochs in a row have no batch.
        """
        if self._trained is not None:
            self._loader.load_state_dict(self._trained)
        self._pending.clear()
        self._start = None
        num_empty = 0  # One empty epoch is normal, because an epoch that is resumed at its end has no batches.
        while num_empty < _MAX_EMPTY_EPOCHS:
            num_empty += 1
            epoch = iter(self._loader)
            self._start = self._start or self._loader.state_dict()
            for batch in epoch:
                num_empty = 0
                self._pending.append(self._loader.state_dict())
                yield self._select_features(batch)
        raise ValueError(f"{_MAX_EMPTY_EPOCHS} epochs in a row had no batch; check the filter of {self._loader!r}")

    def callback(self) -> Any:
        """Return a Keras callback that reports the progress of ``fit`` to this object.

        Returns
        -------
        keras.callbacks.Callback
            Pass it to ``fit``.
        """
        return create_callback(self)

    def epoch_begins(self, epoch: int, last: int, steps: int | None) -> None:  # noqa: ARG002 (any number of steps fits)
        """Reset the number of trained batches at the start of an epoch of ``fit``; the callback calls this method."""
        self._step = 0
        self._trained = self._trained or self._start

    def batch_ends(self, batch: int) -> None:
        """Store that the model was trained on the batches of this epoch up to `batch`. The callback calls this."""
        while self._step <= batch and self._pending:
            self._trained = self._pending.popleft()
            self._step += 1

    def state_dict(self) -> dict[str, Any]:
        """Return the state after the last batch on which the model was trained; ``fit`` must use `callback`.

        Returns
        -------
        dict
            A small dict that can be written as JSON.
        """
        return self._trained or self._loader.state_dict()

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue after the batch at which a state was saved; call `batches` again afterwards.

        Parameters
        ----------
        state : dict
            Return value of `state_dict`; the number of threads or ranks may have changed since.

        Raises
        ------
        StateError
            If the state belongs to another pipeline.
        """
        self._loader.load_state_dict(state)
        self._trained = self._start = None

    def close(self) -> None:
        """Stop the threads of the loader."""
        self._loader.close()

    def __repr__(self) -> str:
        """Return a readable representation."""
        # Keras shows this text in an error if the stream itself, and not its batches, is passed to fit.
        return f"Stream({self._loader!r}, {self._select_features!r}); pass stream.batches() to fit"
