"""Which permissions new files and directories on HDFS get, by Hadoop's setting."""

from __future__ import annotations

import pytest

from spark_apps.metadata.base import UnreadableError
from spark_apps.orphans.hdfs import HdfsStorage

UMASK = "fs.permissions.umask-mode"


@pytest.mark.parametrize(("options", "umask"), [({}, 0o022), ({UMASK: "027"}, 0o027), ({UMASK: "0"}, 0)])
def test_the_umask_is_that_of_the_options(options: dict[str, str], umask: int) -> None:
    assert HdfsStorage.of("hdfs://namenode:8020/lake", options).umask == umask


def test_a_symbolic_umask_is_left_to_hadoop() -> None:
    with pytest.raises(UnreadableError, match=r"fs.permissions.umask-mode is u=rwx,g=rx,o=, and no octal number"):
        HdfsStorage.of("hdfs://namenode:8020/lake", {UMASK: "u=rwx,g=rx,o="})
