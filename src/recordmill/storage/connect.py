"""Connect to object stores: import obstore, and choose the options and credentials of a connection."""

from __future__ import annotations

import importlib.util
import os
import re
import sys
from collections.abc import Mapping
from datetime import timedelta
from functools import cache
from importlib import import_module
from importlib.machinery import ExtensionFileLoader
from typing import Any

from recordmill.errors import MissingExtraError

_CLIENT_OPTIONS = {"timeout": "30s", "connect_timeout": "5s", "pool_max_idle_per_host": "64"}
# Keys in `storage_options` that are arguments of obstore functions instead of settings of the store.
_ARGUMENTS = ("client_options", "retry_config", "credential_provider")
# Time after which a store asks boto3 for credentials again. boto3 renews credentials that expire within ten minutes, so
# credentials from boto3 are always valid for at least ten minutes.
_CREDENTIALS_LIFETIME = timedelta(minutes=10)
# Modules and connections that a forked process has inherited. They are never closed, because closing may wait for
# threads that exist only in the parent.
INHERITED: list[Any] = []


def create_store(api: Any, root: str, options: Mapping[str, Any], max_retries: int) -> Any:
    """Connect to a store; settings that are not in `options` come from the environment."""
    from_url = import_module(f"{api.__name__}.store").from_url
    settings = {name: value for name, value in options.items() if name not in _ARGUMENTS}
    arguments = {name: options[name] for name in _ARGUMENTS if name in options}
    arguments["retry_config"] = {"max_retries": max_retries} | arguments.get("retry_config", {})
    arguments["client_options"] = _CLIENT_OPTIONS | _allow_http(root, settings) | arguments.get("client_options", {})
    if root.startswith(("s3://", "s3a://")) and "credential_provider" not in arguments:
        arguments |= _load_aws_profile(settings)
    return from_url(root, **arguments, **settings)


def _allow_http(root: str, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the client option that allows connections without TLS, if the endpoint is http://.

    obstore ignores the variable AWS_ALLOW_HTTP if it gets client options.
    """
    names = [name for name in os.environ if re.fullmatch(r"(AWS|GOOGLE|AZURE)\w*_(ENDPOINT(_URL\w*)?|BASE_URL)", name)]
    endpoints = [os.environ[name] for name in names]
    endpoints += [str(value) for name, value in settings.items() if "endpoint" in name.lower()]
    is_plain = root.startswith("http://") or any(endpoint.startswith("http://") for endpoint in endpoints)
    return {"allow_http": True} if is_plain else {}


def _load_aws_profile(settings: dict[str, Any]) -> dict[str, Any]:
    """Return the credentials of a profile in ``~/.aws``, unless the environment or the options contain credentials."""
    profile = settings.pop("profile", None) or os.environ.get("AWS_PROFILE")
    given = {name.lower().removeprefix("aws_") for name in (*settings, *os.environ)}
    if not profile and not given.isdisjoint({"access_key_id", "skip_signature", "web_identity_token_file"}):
        return {}
    folder = os.path.join(os.path.expanduser("~"), ".aws")
    names = [os.environ.get("AWS_SHARED_CREDENTIALS_FILE", os.path.join(folder, "credentials"))]
    names.append(os.environ.get("AWS_CONFIG_FILE", os.path.join(folder, "config")))
    if not profile and not any(map(os.path.exists, names)):
        return {}
    try:
        import boto3
        from obstore.auth.boto3 import Boto3CredentialProvider
    except ImportError as error:
        raise MissingExtraError(f"reading an AWS profile requires {error.name}", hint="pip install boto3") from None
    session = boto3.Session(profile_name=profile)
    if session.get_credentials() is None:
        if profile:
            raise ValueError(f"the AWS profile {profile!r} has no credentials")
        return {}  # The AWS files contain settings such as the region, but no credentials.
    return {"credential_provider": Boto3CredentialProvider(session, ttl=_CREDENTIALS_LIFETIME)}


# Id of the process that first imported obstore, and path of the native module that it imported. A forked process has
# another id, and loads a copy of this module.
_first_use: tuple[int, str] | None = None


def load_obstore() -> Any:
    """Import obstore; in a forked process, load a copy of it."""
    global _first_use  # noqa: PLW0603 (one per process)
    try:
        import obstore
        import obstore._obstore as native
    except ImportError:
        message = "remote storage needs obstore"
        raise MissingExtraError(message, hint="pip install 'recordmill[cloud]'") from None
    if _first_use is None:
        _first_use = os.getpid(), native.__file__
    process, path = _first_use
    return obstore if process == os.getpid() else _load_obstore_copy(os.getpid(), path)


@cache
def _load_obstore_copy(process: int, path: str) -> Any:
    """Load obstore a second time.

    Its native module has a Tokio runtime, whose threads do not exist in a forked process. Every request would therefore
    wait forever. The runtime cannot be restarted, but a copy of the module has its own runtime.
    """
    del process
    hidden = {name: sys.modules.pop(name) for name in list(sys.modules) if name.partition(".")[0] == "obstore"}
    try:
        with open(path, "rb") as original, open(os.memfd_create("obstore"), "wb") as copy:
            copy.write(original.read())
            copy.flush()
            loader = ExtensionFileLoader("obstore._obstore", f"/proc/self/fd/{copy.fileno()}")
            spec = importlib.util.spec_from_loader(loader.name, loader)
            assert spec is not None  # noqa: S101 (a loader always has a spec)
            module = sys.modules[loader.name] = importlib.util.module_from_spec(spec)
            loader.exec_module(module)
        import obstore.store

        return obstore
    finally:
        INHERITED.append(hidden)
