"""Files on HDFS, by hdfs-native, for a run that changes no file of the table. Imported only for a warehouse on HDFS.

hdfs-native takes any service of the realm for the NameNode, so what it reads can be forged at the NameNode's address.
A forged listing must not decide which files are moved away. So that is left to Hadoop's client, which checks the
NameNode's principal, and which reads and lists again by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ClassVar, Final, NoReturn, Self
from uuid import uuid4

from hdfs_native import WriteOptions

from spark_apps.metadata.base import UnreadableError
from spark_apps.metadata.hdfs import ANSWER_S, CONTENT_S, HdfsFiles, plain, readable
from spark_apps.metadata.namenodes import NameNodes
from spark_apps.orphans.files import ChangeFailedError, ListedFile

_UMASK: Final = "fs.permissions.umask-mode"
_DEFAULT_UMASK: Final = "022"


@dataclass(frozen=True)
class HdfsStorage(HdfsFiles):
    """Files that are listed, and reports that are written and removed. A call without an answer may have succeeded."""

    umask: int = 0
    """The permissions that new files and directories lack: hdfs-native does not read Hadoop's setting of it."""

    may_change_tables: ClassVar[bool] = False

    @classmethod
    def with_options(cls, nodes: NameNodes, options: Mapping[str, str]) -> Self:
        """The files that these NameNodes have. Raises UnreadableError for a umask that only Hadoop reads."""
        return cls(nodes, umask=_umask(options))

    @property
    def largest_move(self) -> int | None:
        """Nothing is moved."""
        return 0

    def walk(self, directory: str) -> Iterator[ListedFile]:
        """All files below a directory, one call for each thousand in one directory; none where it does not exist."""
        root = plain(directory)
        left = [root]
        while left:
            for each in self._listed(left.pop()):
                if each.isdir:
                    left.append(each.path)
                else:
                    yield ListedFile(each.path.removeprefix(f"{root}/"), each.length, each.modification_time)

    def status(self, path: str) -> ListedFile | None:
        """The file at this path; None: no such file."""
        with readable(path):
            try:
                found = self.nodes.ask(lambda client: client.get_file_info(plain(path)), ANSWER_S)
            except FileNotFoundError:
                return None
        return ListedFile(path, found.length, found.modification_time)

    def write(self, path: str, content: bytes) -> None:
        """Writes a file beside it, and renames that."""
        target = plain(path)
        directory, _, name = target.rpartition("/")
        beside = f"{directory}/.{name}.{uuid4()}.tmp"

        def written(client: Any) -> None:
            # `create` would give the directories the permissions of the file.
            client.mkdirs(directory, 0o777 & ~self.umask, create_parent=True)
            with client.create(beside, WriteOptions(permission=0o666 & ~self.umask)) as file:
                file.write(content)
            client.rename(beside, target, overwrite=True)

        with _changing(path):
            self.nodes.ask(written, CONTENT_S)

    def delete(self, path: str) -> None:
        """Removes the file."""
        with _changing(path):
            self.nodes.ask(lambda client: client.delete(plain(path)), ANSWER_S)

    def move(self, source: str, target: str) -> NoReturn:
        """Raises ChangeFailedError."""
        raise ChangeFailedError(f"{source}: it is moved to {target} by Hadoop's client alone")

    def prune(self, directory: str) -> None:
        """Directories stay, since nothing is moved out of them."""


def _umask(options: Mapping[str, str]) -> int:
    """Hadoop's setting, if it is a number. Raises UnreadableError for the other form, which only Hadoop reads."""
    text = options.get(_UMASK, _DEFAULT_UMASK)
    try:
        return int(text, 8)
    except ValueError as error:
        raise UnreadableError(f"{_UMASK} is {text}, and no octal number") from error


@contextmanager
def _changing(path: str) -> Iterator[None]:
    try:
        with readable(path):
            yield
    except (FileNotFoundError, UnreadableError) as error:
        raise ChangeFailedError(str(error)) from error
