"""Adapters cost nothing until they are asked for, and name what is missing."""

from __future__ import annotations

import pickle
import subprocess
import sys

import pytest

import recordmill as rm

NAMES = ("jax", "keras", "torch")


@pytest.fixture
def no_framework(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the frameworks, and the classes that were made of theirs."""
    for name in ("jax", "keras", "torch", "keras.utils", "keras.callbacks", "torch.utils", "torch.utils.data"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(vars(rm.torch), "IterableDataset", raising=False)
    monkeypatch.delitem(vars(rm.torch), "MapDataset", raising=False)
    monkeypatch.delitem(vars(rm.keras), "PyDataset", raising=False)


def test_adapters_when_looked_up_then_import_no_framework() -> None:
    code = (
        "import sys, recordmill as rm\n"
        "rm.torch.loader, rm.torch.tensors, rm.keras.Stream, rm.jax.loader, rm.jax.Source\n"
        "print(*{'torch', 'keras', 'jax'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == []


def test_package_when_imported_then_loads_no_adapter() -> None:
    code = (
        "import sys, recordmill as rm\nrm.open\nprint(*[name for name in sys.modules if 'recordmill.adapters' in name])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == []


@pytest.mark.parametrize("name", NAMES)
def test_adapter_when_star_imported_then_does_not_hide_the_framework(name: str) -> None:
    assert name not in rm.__all__ and name in dir(rm)


@pytest.mark.parametrize(
    "extra, use",
    [
        ("torch", lambda: rm.torch.tensors({})),
        ("torch", lambda: rm.torch.IterableDataset),
        ("torch", lambda: rm.torch.MapDataset),
        ("torch", lambda: rm.torch.Loader(None)),
        ("keras", lambda: rm.keras.PyDataset),
        ("keras", lambda: rm.keras.Stream([], "image").callback()),
        ("jax", lambda: rm.jax.arrays({})),
    ],
)
@pytest.mark.usefixtures("no_framework")
def test_name_when_its_framework_is_missing_then_names_the_extra(extra: str, use) -> None:
    with pytest.raises(rm.MissingExtraError, match=rf"recordmill\.{extra} needs the package \w+") as caught:
        use()
    assert f"recordmill[{extra}]" in str(caught.value.hint)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@pytest.mark.parametrize("name", NAMES)
def test_adapter_when_asked_for_an_unknown_name_then_says_so(name: str) -> None:
    with pytest.raises(AttributeError, match="nothing"):
        getattr(rm, name).nothing  # noqa: B018
