"""Files on S3, by botocore. Imported only for a warehouse on S3.

Credentials come from botocore's own chain, which finds each source of a catalog: AWS_ACCESS_KEY_ID, the file of
AWS_SHARED_CREDENTIALS_FILE, and the identity of the Pod.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final, Self

import botocore.session
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from botocore.httpsession import URLLib3Session, get_cert_path
from botocore.utils import get_environ_proxies

from paimon_contract import environment
from paimon_engines.engine import S3Keys
from spark_apps.metadata.base import MAX_BYTES, Stamped, UnreadableError, within
from spark_apps.metadata.s3_get import Getter, NotPlainError
from spark_apps.storage.s3 import SCHEME

CONNECT_TIMEOUT_S: Final = 3
READ_TIMEOUT_S: Final = 10
TRIES: Final = 3
_NO_SUCH_BUCKET: Final = "NoSuchBucket"


@dataclass(frozen=True)
class S3Files:
    """The objects that a client of botocore reads: `s3://bucket/warehouse/t`."""

    client: Any
    getter: Getter

    @classmethod
    def of(cls, options: Mapping[str, str], keys: S3Keys) -> Self:
        """The server that the catalog's options name, by the engine's names for them. Raises UnreadableError."""
        with readable(options.get(keys.endpoint_key, "S3")):
            return cls._of(options, keys)

    @classmethod
    def _of(cls, options: Mapping[str, str], keys: S3Keys) -> Self:
        session = botocore.session.get_session()
        own = os.environ.get(environment.STORAGE_CA_FILE)
        if own:  # also for STS, from which botocore gets keys for the identity of the Pod
            session.set_config_variable("ca_bundle", _authorities(Path(own).read_bytes()))
        client = session.create_client(
            "s3",
            endpoint_url=options.get(keys.endpoint_key),
            region_name=options.get(keys.region_key),
            config=_settings(is_path_style=options.get(keys.path_style_key) == "true"),
        )
        http = URLLib3Session(
            verify=session.get_config_variable("ca_bundle") or True,
            proxies=get_environ_proxies(client.meta.endpoint_url),
            timeout=(CONNECT_TIMEOUT_S, READ_TIMEOUT_S),
        )
        return cls(client, Getter(client, session.get_credentials(), http))

    def read(self, path: str, max_bytes: int = MAX_BYTES) -> bytes | None:
        """The content of an object; None: no such object. Raises UnreadableError for more than `max_bytes`."""
        found = self._get(path, max_bytes)
        return None if found is None else found.content

    def read_stamped(self, path: str) -> Stamped | None:
        """The content of a small object with its stamp; None: no such object."""
        return self._get(path, MAX_BYTES)

    def _get(self, path: str, max_bytes: int) -> Stamped | None:
        with readable(path):
            try:
                found = self.getter.get(*split(path), max_bytes + 1)
            except NotPlainError:
                found = self._by_client(path, max_bytes + 1)
        return None if found is None else Stamped(within(found.content, max_bytes, path), found.stamp)

    def _by_client(self, path: str, max_bytes: int) -> Stamped | None:
        answer = self._object(path)
        return None if answer is None else Stamped(answer["Body"].read(max_bytes), None)

    def names(self, directory: str) -> Iterator[str]:
        """Names of the objects and common prefixes below a prefix, one level deep."""
        bucket, prefix = _prefix(directory)
        with readable(directory):
            try:
                keys: Iterable[str] = self.getter.keys(bucket, prefix)
            except NotPlainError:
                keys = self._keys(directory)
        # The prefix itself can be an object: a marker of the directory.
        yield from (key.removeprefix(prefix).removesuffix("/") for key in keys if key != prefix)

    def _keys(self, directory: str) -> Iterator[str]:
        for page in self._pages(directory):
            yield from (each["Key"] for each in page.get("Contents", ()))
            yield from (each["Prefix"] for each in page.get("CommonPrefixes", ()))

    def times(self, directory: str) -> Iterator[tuple[str, int]]:
        """Names of the objects below a prefix, one level deep, with their times, which are whole seconds."""
        _, prefix = _prefix(directory)
        for page in self._pages(directory):
            for each in page.get("Contents", ()):
                if each["Key"] != prefix:
                    yield each["Key"].removeprefix(prefix), int(each["LastModified"].timestamp() * 1000)

    def _pages(self, directory: str) -> Iterator[Any]:
        bucket, prefix = _prefix(directory)
        with readable(directory):
            pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix, Delimiter="/")
            yield from pages

    def _object(self, path: str) -> Any:
        bucket, key = split(path)
        try:
            return self.getter.get_by_client(bucket, key)
        except ClientError as error:
            status = error.response["ResponseMetadata"]["HTTPStatusCode"]
            if status == HTTPStatus.NOT_FOUND and error.response["Error"]["Code"] != _NO_SUCH_BUCKET:
                return None
            raise


@lru_cache
def _authorities(own: bytes) -> str:
    """A file with botocore's authorities and those of the catalog: like Java, it trusts both.

    It is in memory, because the Pod of an observer has no place to write to. It exists as long as the process.
    """
    file = os.memfd_create("authorities")
    os.write(file, Path(get_cert_path(True)).read_bytes() + b"\n" + own)
    return f"/proc/self/fd/{file}"


def _settings(*, is_path_style: bool) -> Config:
    return Config(
        connect_timeout=CONNECT_TIMEOUT_S,
        read_timeout=READ_TIMEOUT_S,
        retries={"total_max_attempts": TRIES, "mode": "standard"},
        s3={"addressing_style": "path" if is_path_style else "auto"},
        # Servers other than AWS's may know no checksums.
        request_checksum_calculation="when_required",
        response_checksum_validation="when_required",
    )


def _prefix(directory: str) -> tuple[str, str]:
    """The bucket, and what the keys in a directory begin with."""
    bucket, key = split(directory)
    return bucket, f"{key}/" if key else ""


def split(uri: str) -> tuple[str, str]:
    """Bucket and key, without empty parts, as Paimon's paths have none. A key may contain `?` and `#`."""
    bucket, _, key = uri.removeprefix(f"{SCHEME}://").partition("/")
    return bucket, re.sub("/+", "/", key).strip("/")


@contextmanager
def readable(path: str) -> Iterator[None]:
    """Turns failures of botocore into UnreadableError."""
    try:
        yield
    except (BotoCoreError, ClientError, OSError, ValueError) as error:
        raise UnreadableError(f"{path}: {error}") from error
