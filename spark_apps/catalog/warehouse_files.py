"""The files of the warehouse as an open session reads them: by Python where that is enough, otherwise by Java."""

from __future__ import annotations

from spark_apps.catalog.java_files import JavaFiles
from spark_apps.catalog.session import Session
from spark_apps.metadata import files_of
from spark_apps.metadata.base import MetadataFiles, UnreadableError
from spark_apps.metadata.remembered import RememberedFiles
from spark_apps.progress import log_step
from spark_apps.storage.hdfs import Hdfs


def files_for(session: Session) -> MetadataFiles:
    """The files of the warehouse, read by Python where it can. On HDFS Java has logged in already."""
    try:
        found = None if Hdfs.holds(session.job.catalog.warehouse) else files_of(session.job, session.engine)
    except UnreadableError as error:
        log_step(f"Paimon reads the files: {error}")
        found = None
    return found or JavaFiles(session)


def files_at_start(session: Session) -> RememberedFiles:
    """As `files_for`, for what a run asks before it has changed anything: each file is read once."""
    if session.files_found is None:
        session.files_found = RememberedFiles(files_for(session))
    return session.files_found


def is_empty(session: Session, directory: str) -> bool:
    """Whether there certainly is nothing in a directory, by Python: Java asks an object store three times for that.

    False where only Java can tell.
    """
    files = JavaFiles(session) if session.only_java_reads else files_for(session)
    if isinstance(files, JavaFiles):
        return False
    try:
        return next(iter(files.names(directory)), None) is None
    except UnreadableError:
        session.only_java_reads = True
        return False
