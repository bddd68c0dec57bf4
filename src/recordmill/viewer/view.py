"""The function `view`, which shows a dataset in a browser."""

from __future__ import annotations

import threading
import webbrowser
from types import TracebackType
from typing import Self

from recordmill.pipeline.dataset import Dataset
from recordmill.pipeline.open import open as open_dataset
from recordmill.shards.paths import Paths
from recordmill.suggestions import suggest_arguments
from recordmill.viewer.records import ViewedRecords
from recordmill.viewer.routes import Routes
from recordmill.viewer.server import ViewerServer


class Viewer:
    """A local web page that shows a dataset until `close` is called or the process ends. `view` creates it.

    Parameters
    ----------
    records : ViewedRecords
    port : int
    """

    def __init__(self, records: ViewedRecords, port: int) -> None:
        self._routes = Routes(records)
        self._server = ViewerServer(self._routes.respond, port)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.1,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        """Address of the page, including a token. The viewer refuses requests without the token."""
        return self._server.url

    def wait(self) -> None:
        """Wait until the viewer is closed."""
        while self._thread.is_alive():
            self._thread.join(0.2)  # Without a timeout, Ctrl-C cannot interrupt the wait on some systems.

    def close(self) -> None:
        """Stop the server and all work in the background."""
        self._routes.close()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def __enter__(self) -> Self:
        """Return the viewer. It is closed at the end of the block."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Close the viewer."""
        self.close()

    def __repr__(self) -> str:
        """Return ``<Viewer at URL>``, where URL is the address of the page."""
        return f"<Viewer at {self.url}>"


@suggest_arguments
def view(source: Dataset | Paths, *, port: int = 0, browser: bool = True) -> Viewer:
    """Show a dataset in the browser: a grid of its records, each record in full, and an overview.

    For a pipeline, the page of a record also shows the samples that the pipeline produces in several epochs. A thread
    of this process serves the page at 127.0.0.1, so it is available only on this machine.

    Parameters
    ----------
    source : Dataset, or path, pattern, folder, or iterable of them
        Dataset of shards, or the shards.
    port : int
        Port of the server; 0 chooses a free one.
    browser : bool
        Whether to open the page in the browser.

    Returns
    -------
    Viewer
        The attribute `url` is the address of the page. `close`, or the end of a ``with`` block, stops the viewer.

    Raises
    ------
    InputError
        If the dataset does not read shards.
    OSError
        If the port is in use.

    Examples
    --------
    >>> with rm.view("train.tfrecord", browser=False) as viewer:
    ...     print(viewer.url.startswith("http://127.0.0.1:"))
    True
    """
    dataset = source if isinstance(source, Dataset) else open_dataset(source)
    viewer = Viewer(ViewedRecords(dataset), port)
    if browser:
        threading.Thread(target=webbrowser.open, args=(viewer.url,), daemon=True).start()
    return viewer
