"""Lists the input files below a location, each with a version that changes when the file is replaced."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from paimon_contract.parameters.write import WriteParameters
from spark_apps.catalog.session import Session
from spark_apps.failures.causes import is_caused_by
from spark_apps.failures.errors import RunError, input_failure, spec_failure
from spark_apps.loading.file_identity import place_of

RowsT = TypeVar("RowsT")


@dataclass(frozen=True, order=True)
class InputFile:
    """A file; `version` is its ETag on S3, elsewhere its modification time in milliseconds.

    `modified` is that time everywhere. It gives the age of a version and does not identify it, so it is in no ledger.
    `place` is where the file is below its location (file_identity.py); empty in entries of release 0.1.
    """

    path: str
    size: int
    version: str
    modified: int = dataclasses.field(default=0, compare=False)
    place: str = dataclasses.field(default="", compare=False)


def find_files(write: WriteParameters, session: Session) -> list[InputFile]:
    """All files below the write's path, by path; names with a leading _ or . are not input, as in all of Hadoop.

    On S3 an empty folder does not exist, so a write that loads new files on a schedule treats a missing folder as an
    empty one. Anything else that is missing is a failure.
    """
    base = input_uri(write)
    path = session.jvm.org.apache.hadoop.fs.Path(base)
    try:
        file_system = path.getFileSystem(session.hadoop_configuration)
        root = file_system.getFileStatus(path).getPath()
        statuses = list(_each(file_system.listFiles(path, True)))
    except Exception as error:
        if is_caused_by(error, "FileNotFoundException"):
            if write.select == "New" and not write.once and _is_folder(write.path):
                return []
            raise RunError(
                "Environment",
                "InputNotFound",
                f"{base} does not exist",
                "put the files there, or correct the path",
                field=path_field(write),
            ) from error
        raise
    on_s3 = root.toUri().getScheme() in ("s3", "s3a")  # once: every call into the JVM costs time in a large folder
    found = (_input_file(status, on_s3, write) for status in statuses)
    above = root.toString()
    return sorted(each for each in found if not _hidden(each.path.removeprefix(above)))


MAX_READS = 3
"""Reads of the files at most: they are read again when one of them was replaced meanwhile."""


def read_unchanged(
    listed: Callable[[], list[InputFile]],
    chosen: Callable[[list[InputFile]], list[InputFile]],
    read: Callable[[list[InputFile]], RowsT],
    *,
    field: str,
) -> tuple[list[InputFile], RowsT | None]:
    """The chosen files and what `read` makes of them, once a second listing has found the same versions of them.

    Spark opens a file several times and reports no version: a file that was replaced in between would be recorded as
    the old one. Files that were only added are for the next run. None when there is nothing to read.
    Raises RunError, which names `field`, when files keep changing.
    """
    found = listed()
    for _ in range(MAX_READS):
        files = chosen(found)
        if not files:
            return [], None
        rows = read(files)
        found = listed()
        if set(files) <= set(found):
            return files, rows
    raise input_failure(
        "InputMalformed",
        f"{files[0].path} or another input file is replaced again and again while it is read",
        "write files elsewhere, and move them below the location when they are complete",
        field=field,
    )


def path_field(write: WriteParameters) -> str:
    """The field of the manifest with the path of the write's files."""
    return f"spec.writes[{write.name}].from.files.path"


def input_uri(write: WriteParameters) -> str:
    """The location with the path below it. Raises RunError (Spec) when the path leads out of the location."""
    parts = [part for part in write.path.split("/") if part]
    if ".." in parts or "\\" in write.path or ":" in write.path:
        raise spec_failure(
            "InvalidSpec",
            f"path {write.path!r} leads out of its location",
            "name a folder or file below the location, without ..",
            field=path_field(write),
        )
    return "/".join([write.location.rstrip("/"), *parts])


def _input_file(status: Any, on_s3: bool, write: WriteParameters) -> InputFile:
    # Some servers omit the ETag from listings; without a version, a replaced file would never count as new.
    modified = int(status.getModificationTime())
    version = (status.getEtag() if on_s3 else None) or str(modified)
    path = status.getPath().toString()
    place = place_of(path, write.location, write.location_name or "")
    return InputFile(path, int(status.getLen()), version, modified, place)


def _each(iterator: Any) -> Iterator[Any]:
    while iterator.hasNext():
        yield iterator.next()


def _is_folder(path: str) -> bool:
    return not path or path.endswith("/")


def _hidden(below_root: str) -> bool:
    return any(part.startswith(("_", ".")) for part in below_root.split("/") if part)
