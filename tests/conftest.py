"""How the suites share this machine when they run at once (`make test`): what belongs together stays in one process.

Tests on the node mostly wait for schedules, those of the API server for leases, while Spark's compute: side by side
they take as long as the longest of them, the soak. Without `-n` all run in turn, and nothing here has an effect.
"""

from __future__ import annotations

import pytest
from hypothesis import settings

settings.register_profile("any machine", deadline=None)  # how long an example takes is nobody's promise
settings.load_profile("any machine")

SUITES = ("e2e", "spark", "apiserver")
"""In the order in which they start: the longest first. The unit tests, which need a few seconds, come last.

Before all others come the groups that take longest, so that no process is left alone with one at the end.
"""

OWN_NODE = ("test_cluster_lifecycle", "test_release_life")
"""Files with a cluster of their own, whose life their tests go through in order."""


@pytest.hookimpl(tryfirst=True)  # xdist, registered after conftest files, reads the marks in its own hook of this name
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Groups: the soak; Spark tests by servers, else by engine; each file with an API server or cluster of its own."""
    for item in items:
        if group := _group(item):
            item.add_marker(pytest.mark.xdist_group(group))
    items.sort(key=_rank)


def pytest_collection_finish(session: pytest.Session) -> None:
    """A process that shares the tests with others must have been told of every group: their names are in its ids."""
    if session.config.getoption("loadgroup", default=False):
        alone = [item.nodeid for item in session.items if _group(item) and "@" not in item.nodeid]
        assert not alone, f"{len(alone)} tests are without their group, such as {alone[0]}"


def _suite(item: pytest.Item) -> str:
    return item.path.parent.name


def _group(item: pytest.Item) -> str | None:
    suite, file = _suite(item), item.path.stem
    if suite == "spark":
        return f"spark-{_servers(item) or _engine(item) or 'no-engine'}"
    if suite == "apiserver" or file in OWN_NODE:
        return file
    if suite == "e2e":
        return "soak" if _is_soak(item) else None  # each has a namespace of its own
    return "unit"


def _servers(item: pytest.Item) -> str | None:
    """What a Spark test needs besides an engine, and takes long to start: once, for the tests of all engines."""
    fixtures = set(getattr(item, "fixturenames", ()))
    if fixtures & {"simple_hdfs", "kerberos_hdfs", "hdfs"}:
        return "hdfs"
    if "stage" in fixtures:
        return "executors"
    if "hive" in fixtures:
        return "hive"
    return "jdbc" if item.path.stem == "test_jdbc_metastore" else None


def _engine(item: pytest.Item) -> str | None:
    parameters = getattr(getattr(item, "callspec", None), "params", {})
    return str(parameters["engine_id"]) if "engine_id" in parameters else None


def _is_soak(item: pytest.Item) -> bool:
    return "soak" in getattr(item, "fixturenames", ())


def _rank(item: pytest.Item) -> tuple[bool, bool, int]:
    suite = _suite(item)
    grouped = item.get_closest_marker("xdist_group") is not None
    is_long = grouped and suite in ("e2e", "spark")
    return not _is_soak(item), not is_long, SUITES.index(suite) if suite in SUITES else len(SUITES)
