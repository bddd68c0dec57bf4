"""What tests of pipelines share."""

from __future__ import annotations

import sys
import types

import pytest


@pytest.fixture
def _light_main(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let worker processes import no main module; pytest's is large."""
    monkeypatch.setitem(sys.modules, "__main__", types.ModuleType("__main__"))
