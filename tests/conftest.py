"""Settings of all tests: Hypothesis profiles, the tiers deep and campaign, and a private cache folder."""

from __future__ import annotations

import os
import sys
import types
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

# Time limit of a test in seconds by its marker, unless the test sets its own.
TIME_LIMITS_S = {"deep": 1200, "campaign": 3600}

# Files that take longest, in any tier. A worker that started one of them last would keep the others waiting.
SLOWEST_FILES = {
    "test_recipes.py",
    "test_oldest_numpy.py",
    "test_keras.py",
    "test_written_files_in_real_frameworks.py",
    "test_page.py",
    "test_resnet_from_tfrecord.py",
    "test_images_under_tensorflow.py",
    "test_programs_under_mxnet.py",
}

# On a busy machine, the duration of an example has no meaning.
_UNTIMED = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("fast", max_examples=25, derandomize=True, **_UNTIMED)
# Results in CI are reproducible; local deep tests use new random examples in each run.
settings.register_profile("deep", max_examples=50, print_blob=True, derandomize="CI" in os.environ, **_UNTIMED)
settings.register_profile("campaign", max_examples=2000, print_blob=True, **_UNTIMED)


def _tier(config: pytest.Config) -> str:
    """Return the tier that `-m` selects: "deep", "campaign", or "fast"."""
    expression = config.getoption("markexpr")
    return expression if expression in TIME_LIMITS_S else "fast"


def pytest_configure(config: pytest.Config) -> None:
    """Load the Hypothesis profile HYPOTHESIS_PROFILE, by default that of the tier."""
    settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE") or _tier(config))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Add property tests to the slow tiers, give slow tests more time, and start the slowest files first."""
    tier = _tier(config)
    if tier == "deep":  # Modules of deep tests contain tests of the campaign, which have both markers.
        skipped = [item for item in items if item.get_closest_marker("campaign")]
        config.hook.pytest_deselected(items=skipped)
        items[:] = [item for item in items if not item.get_closest_marker("campaign")]
    items.sort(key=lambda item: item.path.name not in SLOWEST_FILES)
    for item in items:
        if tier != "fast" and getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
            item.add_marker(tier)
        slow = next((name for name in TIME_LIMITS_S if item.get_closest_marker(name)), None)
        if slow is not None and not item.get_closest_marker("timeout"):
            item.add_marker(pytest.mark.timeout(TIME_LIMITS_S[slow]))


@pytest.fixture(scope="session", autouse=True)
def _private_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Redirect the user cache, which stores indexes of read-only folders, to a temporary folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture
def _light_main(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let worker processes import an empty main module instead of pytest's, which is large."""
    monkeypatch.setitem(sys.modules, "__main__", types.ModuleType("__main__"))
