"""Hadoop's programs: jars of the version that pom.xml pins, fetched once through Maven."""

from __future__ import annotations

from pathlib import Path

from tests.cluster.cache import cached
from tests.cluster.images.digest import digest
from tests.cluster.progress import run_with_progress

POM = Path(__file__).with_name("pom.xml")

NAMENODE = "org.apache.hadoop.hdfs.server.namenode.NameNode"
DATANODE = "org.apache.hadoop.hdfs.server.datanode.DataNode"
SHELL = "org.apache.hadoop.fs.FsShell"
ADMIN = "org.apache.hadoop.hdfs.tools.DFSAdmin"

_JAVA = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "--add-opens=java.base/java.lang=ALL-UNNAMED")


def java(main: str, *arguments: str, conf: Path, heap: str, system: tuple[str, ...] = ()) -> list[str]:
    """Returns the command of one program, which finds core-site.xml and hdfs-site.xml in `conf`."""
    class_path = f"{conf}:{_home() / 'web'}:{libraries()}"
    return ["java", f"-Xmx{heap}", *_JAVA, *system, "-cp", class_path, main, *arguments]


def libraries() -> Path:
    """Returns the class path entry with all of Hadoop's jars."""
    return _home() / "lib" / "*"


def _home() -> Path:
    return cached("hadoop", digest(files=[POM]), _fetch)


def _fetch(into: Path) -> None:
    command = ["mvn", "-q", "-B", "-C", "-f", str(POM), "dependency:copy-dependencies"]
    run_with_progress("fetching Hadoop's jars", [*command, f"-DoutputDirectory={into / 'lib'}"])
    for name in ("hdfs", "datanode", "static"):  # neither server starts without these on its class path
        (into / "web" / "webapps" / name).mkdir(parents=True)
