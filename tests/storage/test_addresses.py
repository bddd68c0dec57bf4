"""Addresses of remote files: which are recognized, how they are divided and expanded, and which parts are secret."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from recordmill.errors import UnsupportedPathError
from recordmill.storage.addresses import (
    Address,
    check_path,
    expand_braces,
    is_address,
    redact,
    split_address,
)

ADDRESSES = [
    "s3://bucket/train",
    "s3a://bucket/train",
    "gs://bucket/a b/#1.tfrecord",
    "az://container/größe",
    "abfs://container@account.dfs.core.windows.net/train",
    "https://example.org/a.rec",
    "http://127.0.0.1:8000/a.rec?X-Amz-Signature=1",
    "s3://bucket",
    "s3://bucket/",
]
LOCAL = ["train", "./s3/train", "/data/s3:/train", "C:/data", "c:\\data", "s3:train", "a:b", "part-0:1/x", "://x", ""]


@pytest.mark.parametrize("address", ADDRESSES)
def test_check_path_keeps_addresses(address: str) -> None:
    assert check_path(address) == address and is_address(address)


@pytest.mark.parametrize("path", LOCAL)
def test_check_path_keeps_local_paths(path: str) -> None:
    assert check_path(path) == path and not is_address(path)


@pytest.mark.parametrize("address", ["s3://bucket/a/b", "https://example.org/a.rec", "gs://bucket/train"])
def test_check_path_restores_address_that_pathlib_shortened(address: str) -> None:
    assert check_path(Path(address)) == address


def test_check_path_normalizes_the_case_of_the_scheme() -> None:
    assert check_path("S3://Bucket/Train") == "s3://Bucket/Train"
    assert check_path("HTTPS://example.org/A") == "https://example.org/A"


@pytest.mark.parametrize(
    "address, path",
    [
        ("file:///data/train", "/data/train"),
        ("file://localhost/data/train", "/data/train"),
        ("FILE:///data/a%20b%25", "/data/a b%"),
        ("file:/data/train", "/data/train"),
    ],
)
def test_check_path_converts_file_addresses(address: str, path: str) -> None:
    assert check_path(address) == path


@pytest.mark.parametrize("address", ["ftp://host/a", "hf://data/a", "hdfs://host/a", "memory://a", "ss3://bucket/a"])
def test_check_path_rejects_other_schemes(address: str) -> None:
    with pytest.raises(UnsupportedPathError, match="are not supported") as caught:
        check_path(address)
    assert "s3://" in str(caught.value.hint)


@pytest.mark.parametrize("address", ["s3://", "s3:///", "gs:////", "https://"])
def test_check_path_rejects_addresses_without_bucket(address: str) -> None:
    with pytest.raises(UnsupportedPathError, match="no bucket"):
        check_path(address)


def test_unsupported_address_is_named_without_password() -> None:
    with pytest.raises(UnsupportedPathError) as caught:
        check_path("ftp://user:secret@host/a?token=secret")
    assert "secret" not in str(caught.value) and "secret" not in str(caught.value.shard)


def test_existing_folder_whose_name_ends_with_a_colon_is_local(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s3:").mkdir()
    assert check_path("s3:/train") == "s3:/train"
    assert check_path("s3://train") == "s3://train" and is_address("s3://train")


@pytest.mark.parametrize(
    "address, expected",
    [
        ("s3://bucket/a/b", ("s3://bucket", "a/b")),
        ("s3://bucket", ("s3://bucket", "")),
        ("s3://bucket/", ("s3://bucket", "")),
        ("s3://bucket/a%20b #?", ("s3://bucket", "a%20b #?")),
        ("https://host:80/a%20b/c", ("https://host:80", "a b/c")),
        ("https://host", ("https://host", "")),
        ("https://host/a?X-Amz-Signature=1", ("https://host/a?X-Amz-Signature=1", "")),
    ],
)
def test_split_address_divides_root_and_key(address: str, expected: tuple[str, str]) -> None:
    assert split_address(address) == Address(*expected)


@pytest.mark.parametrize(
    "pattern, expected",
    [
        ("s3://b/a", ["s3://b/a"]),
        ("a-{8..11}", ["a-8", "a-9", "a-10", "a-11"]),
        ("a-{08..11}", ["a-08", "a-09", "a-10", "a-11"]),
        ("a-{00000..00002}-of-3", ["a-00000-of-3", "a-00001-of-3", "a-00002-of-3"]),
        ("{train,val}/{0..1}", ["train/0", "train/1", "val/0", "val/1"]),
        ("{a,}b", ["ab", "b"]),
        ("{1..1}", ["1"]),
        ("{a}", ["{a}"]),
        ("{}", ["{}"]),
        ("{a..b}", ["{a..b}"]),
        ("{-1..2}", ["{-1..2}"]),
    ],
)
def test_expand_braces_yields_each_number_or_word(pattern: str, expected: list[str]) -> None:
    assert list(expand_braces(pattern)) == expected


@pytest.mark.parametrize("pattern", ["{2..1}", "{0..1000000}", "{0..99999999999999999999}"])
def test_expand_braces_rejects_ranges_that_are_a_mistake(pattern: str) -> None:
    with pytest.raises(ValueError, match="increasing range"):
        list(expand_braces(f"s3://b/{pattern}"))


@given(st.text(alphabet=st.sampled_from("ab,.{}0189/*"), max_size=20))
def test_expand_braces_keeps_text_outside_of_braces(text: str) -> None:
    if "{" not in text:
        assert list(expand_braces(text)) == [text]


TEXTS_WITH_SECRETS = [
    "https://user:S3cr3t/+@host/a".replace("/+@", "@"),
    "GET https://host/a?X-Amz-Credential=S3cr3t&X-Amz-Signature=S3cr3t failed",
    "https://host/a?sv=2020&sig=S3cr3t%2B",
    'url: "http://host/a?token=S3cr3t", other',
    (
        "<Error><Code>AccessDenied</Code><AWSAccessKeyId>S3cr3t</AWSAccessKeyId><StringToSign>S3cr3t\nS3cr3t</StringToSign>"
        "<SignatureProvided>S3cr3t</SignatureProvided><StringToSignBytes>S3cr3t</StringToSignBytes></Error>"
    ),
    "<Error><Code>ExpiredToken</Code><Token-0>S3cr3t</Token-0></Error>",
    "<CanonicalRequest>S3cr3t\n\nS3cr3t</CanonicalRequest><CanonicalRequestBytes>S3cr3t</CanonicalRequestBytes>",
]


@pytest.mark.parametrize("text", TEXTS_WITH_SECRETS)
def test_redact_removes_secrets(text: str) -> None:
    assert "S3cr3t" in text and "S3cr3t" not in redact(text)


@pytest.mark.parametrize("text", [*LOCAL, "s3://bucket/a=b&c", "s3://bucket/what?", "gs://b/a b/#1", "time=3 s, n=5"])
def test_redact_keeps_other_text(text: str) -> None:
    assert redact(text) == text


def test_check_path_accepts_bytes() -> None:
    assert check_path(os.fsencode("s3://bucket/größe")) == "s3://bucket/größe"  # type: ignore[arg-type]
