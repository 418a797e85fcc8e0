"""Files on S3, by botocore. Imported only for a warehouse on S3.

Credentials come from botocore's own chain, which finds each source of a catalog: AWS_ACCESS_KEY_ID, the file of
AWS_SHARED_CREDENTIALS_FILE, and the identity of the Pod.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

import botocore.session
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from paimon_contract import environment
from paimon_engines.engine import S3Keys
from spark_apps.metadata.base import MAX_BYTES, UnreadableError
from spark_apps.storage.s3 import SCHEME

CONNECT_TIMEOUT_S: Final = 3
READ_TIMEOUT_S: Final = 10
TRIES: Final = 3
_NO_SUCH_BUCKET: Final = "NoSuchBucket"


@dataclass(frozen=True)
class S3Files:
    """The objects that a client of botocore reads: `s3://bucket/warehouse/t`."""

    client: Any

    @classmethod
    def of(cls, options: Mapping[str, str], keys: S3Keys) -> S3Files:
        """The server that the catalog's options name, by the engine's names for them."""
        is_path_style = options.get(keys.path_style_key) == "true"
        settings = Config(
            connect_timeout=CONNECT_TIMEOUT_S,
            read_timeout=READ_TIMEOUT_S,
            retries={"total_max_attempts": TRIES, "mode": "standard"},
            s3={"addressing_style": "path" if is_path_style else "auto"},
            # Servers other than AWS's may know no checksums.
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
        )
        client = botocore.session.get_session().create_client(
            "s3",
            endpoint_url=options.get(keys.endpoint_key),
            region_name=options.get(keys.region_key),
            # In place of botocore's own authorities. Java trusts both; a server of the others is left to it.
            verify=os.environ.get(environment.STORAGE_CA_FILE) or None,
            config=settings,
        )
        return cls(client)

    def read(self, path: str) -> bytes | None:
        """The content of an object; None: no such object. Raises UnreadableError for more than MAX_BYTES."""
        with _readable(path):
            answer = self._object(path)
            if answer is None:
                return None
            content: bytes = answer["Body"].read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise UnreadableError(f"{path} has more than {MAX_BYTES} bytes")
        return content

    def names(self, directory: str) -> Iterator[str]:
        """Names of the objects and common prefixes below a prefix, one level deep."""
        bucket, key = _split(directory)
        prefix = f"{key}/" if key else ""
        with _readable(directory):
            pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=prefix, Delimiter="/")
            for page in pages:
                keys = [each["Key"] for each in page.get("Contents", ())]
                keys += [each["Prefix"] for each in page.get("CommonPrefixes", ())]
                # The prefix itself can be an object: a marker of the directory.
                yield from (key.removeprefix(prefix).removesuffix("/") for key in keys if key != prefix)

    def _object(self, path: str) -> Any:
        bucket, key = _split(path)
        try:
            return self.client.get_object(Bucket=bucket, Key=key)
        except ClientError as error:
            status = error.response["ResponseMetadata"]["HTTPStatusCode"]
            if status == HTTPStatus.NOT_FOUND and error.response["Error"]["Code"] != _NO_SUCH_BUCKET:
                return None
            raise


def _split(uri: str) -> tuple[str, str]:
    """Bucket and key, without empty parts, as Paimon's paths have none. A key may contain `?` and `#`."""
    bucket, _, key = uri.removeprefix(f"{SCHEME}://").partition("/")
    return bucket, re.sub("/+", "/", key).strip("/")


@contextmanager
def _readable(path: str) -> Iterator[None]:
    try:
        yield
    except (BotoCoreError, ClientError) as error:
        raise UnreadableError(f"{path}: {error}") from error
