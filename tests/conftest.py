"""Settings of all tests: Hypothesis profiles, what `-m deep` selects, a private cache folder."""

from __future__ import annotations

import os
import sys
import types
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

DEEP_LIMIT_S = 1200

# The machine may be busy: how long an example takes says nothing.
_UNTIMED = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("fast", max_examples=50, derandomize=True, **_UNTIMED)
# The same tree gets the same verdict from CI; by hand, deep tests look elsewhere every time.
settings.register_profile("deep", max_examples=100, print_blob=True, derandomize="CI" in os.environ, **_UNTIMED)


def _deep_only(config: pytest.Config) -> bool:
    return config.getoption("markexpr") == "deep"


def pytest_configure(config: pytest.Config) -> None:
    """Choose the profile: HYPOTHESIS_PROFILE, else `deep` under `-m deep`, else `fast`."""
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or ("deep" if _deep_only(config) else "fast"))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Let `-m deep` run the property tests too, with the deep profile, and give deep tests more time."""
    for item in items:
        if _deep_only(config) and getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
            item.add_marker(pytest.mark.deep)
        if item.get_closest_marker("deep") and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(DEEP_LIMIT_S))


@pytest.fixture(scope="session", autouse=True)
def _private_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep what the package caches for the user (indexes of read-only folders) out of the home folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def _light_main(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let worker processes import an empty main module instead of pytest's, which is large."""
    monkeypatch.setitem(sys.modules, "__main__", types.ModuleType("__main__"))
