"""Objects on S3, to read and to change. Imported only for a warehouse on S3."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from http import HTTPStatus
from typing import Any, ClassVar, Final

from botocore.exceptions import BotoCoreError, ClientError

from spark_apps.metadata.s3 import S3Files, readable, split
from spark_apps.orphans.files import ChangeFailedError, ListedFile

_LARGEST_COPY: Final = 5 << 30


class S3Storage(S3Files):
    """Objects that can be copied and deleted: S3 has no rename."""

    may_change_tables: ClassVar[bool] = True

    @property
    def largest_move(self) -> int | None:
        """Bytes of the largest object that S3 copies in one request."""
        return _LARGEST_COPY

    def walk(self, directory: str) -> Iterator[ListedFile]:
        """All objects below a prefix, 1000 in one request. The markers of directories are left out."""
        bucket, key = split(directory)
        with readable(directory):
            pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=f"{key}/")
            for page in pages:
                for each in page.get("Contents", ()):
                    if not each["Key"].endswith("/"):
                        path = each["Key"].removeprefix(f"{key}/")
                        yield ListedFile(path, each["Size"], _milliseconds(each["LastModified"]))

    def status(self, path: str) -> ListedFile | None:
        """The object at this path; None: no such object."""
        bucket, key = split(path)
        with readable(path):
            try:
                found = self.client.head_object(Bucket=bucket, Key=key)
            except ClientError as error:
                if error.response["ResponseMetadata"]["HTTPStatusCode"] == HTTPStatus.NOT_FOUND:
                    return None
                raise
        return ListedFile(path, found["ContentLength"], _milliseconds(found["LastModified"]))

    def write(self, path: str, content: bytes) -> None:
        """Puts the object."""
        bucket, key = split(path)
        with _changing(path):
            self.client.put_object(Bucket=bucket, Key=key, Body=content)

    def move(self, source: str, target: str) -> None:
        """Copies the object, then deletes it."""
        (bucket, key), (to_bucket, to_key) = split(source), split(target)
        with _changing(source):
            copied: Any = {"Bucket": bucket, "Key": key}
            self.client.copy_object(Bucket=to_bucket, Key=to_key, CopySource=copied)
            self.client.delete_object(Bucket=bucket, Key=key)

    def delete(self, path: str) -> None:
        """Deletes the object."""
        bucket, key = split(path)
        with _changing(path):
            self.client.delete_object(Bucket=bucket, Key=key)

    def prune(self, directory: str) -> None:
        """S3 has no directories."""


def _milliseconds(time: datetime) -> int:
    """In whole seconds: some servers list milliseconds, and none has them in the header Last-Modified."""
    return 1000 * int(time.timestamp())


@contextmanager
def _changing(path: str) -> Iterator[None]:
    try:
        yield
    except (BotoCoreError, ClientError, ValueError) as error:
        raise ChangeFailedError(f"{path}: {error}") from error
