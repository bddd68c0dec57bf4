"""Adapters import no framework until it is needed, and name the extra of a missing one."""

from __future__ import annotations

import pickle
import subprocess
import sys

import pytest

import recordmill as rm

NAMES = ("jax", "keras", "ray", "torch")


@pytest.fixture
def no_framework(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide the frameworks and the classes derived from theirs."""
    for name in ("jax", "keras", "ray", "torch", "keras.utils", "keras.callbacks", "torch.utils", "torch.utils.data"):
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.delitem(vars(rm.torch), "IterableDataset", raising=False)
    monkeypatch.delitem(vars(rm.torch), "MapDataset", raising=False)
    monkeypatch.delitem(vars(rm.keras), "PyDataset", raising=False)


def test_adapters_import_no_framework() -> None:
    code = (
        "import sys, recordmill as rm\n"
        "rm.torch.loader, rm.torch.tensors, rm.keras.Stream, rm.jax.loader, rm.jax.Source, rm.ray.read\n"
        "print(*{'torch', 'keras', 'jax', 'ray', 'pyarrow'} & set(sys.modules))"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert process.stdout.split() == []


def test_package_imports_no_adapter() -> None:
    code = (
        "import sys, recordmill as rm\nrm.open\nprint(*[name for name in sys.modules if 'recordmill.adapters' in name])"
    )
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    assert process.stdout.split() == []


@pytest.mark.parametrize("name", NAMES)
def test_star_import_excludes_adapters(name: str) -> None:
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
        ("ray", lambda: rm.ray.pack("photos", "out/train")),
        ("ray", lambda: rm.ray.convert("train.rec", "out/train")),
        ("ray", lambda: rm.ray.verify("train.rec")),
        ("ray", lambda: rm.ray.read("train.rec")),
    ],
)
@pytest.mark.usefixtures("no_framework")
def test_missing_framework_raises_error_with_extra(extra: str, use) -> None:
    with pytest.raises(rm.MissingExtraError, match=rf"recordmill\.{extra} needs the package \w+") as caught:
        use()
    assert f"recordmill[{extra}]" in str(caught.value.hint)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@pytest.mark.parametrize("name", NAMES)
def test_unknown_adapter_name_raises_attribute_error(name: str) -> None:
    with pytest.raises(AttributeError, match="nothing"):
        getattr(rm, name).nothing  # noqa: B018
