"""A catalog whose tables are in PostgreSQL: a table lives under the lock; what is wrong with the Secret is mended."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from tests.cluster import postgres
from tests.cluster.layout import Layout
from tests.e2e.lab import Lab, committed, scheduled
from tests.support import secret_values
from tests.support.kubectl import Object, RefusedError, condition

METASTORE = "Jdbc"
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
pytestmark = pytest.mark.xdist_group("postgres")  # one server, for all tests of this file
COLUMNS = {"id": "BIGINT", "v": "STRING"}
KINDS = "pods,configmaps,events,paimontables,paimoncatalogs,paimonruns"


@pytest.fixture(scope="module")
def server() -> Iterator[postgres.Server]:
    with postgres.running_on_node(Layout()) as started:
        yield started


@pytest.fixture
def login(server: postgres.Server, lab: Lab) -> postgres.Login:
    """A database of the test's own; the lab's catalog `shared` keeps its tables there."""
    made = server.login(lab.namespace)
    jdbc = {"uri": made.uri, "credentialsSecretRef": {"name": "lake-pg"}}
    catalog = lab.catalog("shared", metastore={"type": "Jdbc", "jdbc": jdbc})
    catalog["spec"]["warehouse"] += "/shared"
    lab.kubectl.apply(catalog)
    return made


def secret(lab: Lab, login: postgres.Login, *, name: str = "lake-pg", **override: str) -> Object:
    keys = {"username": login.user, "password": login.password} | override
    secret_values.register({"password": keys["password"]})  # the server's own refusals tell the user's name
    return lab.secret(name) | {"stringData": keys}


def table(lab: Lab, **spec: object) -> Object:
    return lab.table("t", COLUMNS, keys=["id"], **({"catalogRef": {"name": "shared"}} | spec))


def has_commit(obj: Object | None) -> bool:
    return bool(obj and committed(obj))


def compacted(obj: Object | None) -> bool:
    return bool(((obj or {}).get("status") or {}).get("compaction", {}).get("lastTime"))


def says(lab: Lab, kind: str, name: str, type_: str) -> tuple[str, str]:
    found = condition(lab.kubectl.get(kind, name), type_)
    return found["status"], found["reason"]


def has_started(pod: Object) -> bool:
    """A Pod has no log before."""
    return bool(pod["status"].get("phase") in ("Running", "Succeeded", "Failed"))


def log_of(lab: Lab, pod: str) -> str:
    """Empty for a Pod that has gone with its run."""
    try:
        return lab.kubectl.run("logs", pod)
    except RefusedError:
        assert lab.kubectl.get("pod", pod) is None
        return ""


def wait_for(lab: Lab, what: str, is_true: Callable[[Object | None], bool]) -> None:
    lab.kubectl.until("paimontable", "t", is_true, what=what)


def test_a_table_with_outside_writers_lives_under_the_lock(
    lab: Lab, each_engine: str, server: postgres.Server, login: postgres.Login
) -> None:
    lab.kubectl.apply(
        secret(lab, login),
        table(
            lab,
            bucket={"type": "Fixed", "fixed": {"count": 2}},
            externalWriters="Active",
            deletionPolicy="Delete",
            compaction={"mode": "Dedicated", "full": {"schedule": "*/2 * * * *"}},
            writes=[scheduled("import", "in/")],
        ),
    )
    lab.ready("t")
    assert says(lab, "paimontable", "t", "CommitSafe") == ("True", "CommitLock")
    lab.land("in/1.json", [{"id": 1, "v": "a"}, {"id": 2, "v": "b"}])
    wait_for(lab, "loaded", has_commit)
    wait_for(lab, "compacted", compacted)
    assert says(lab, "paimoncatalog", "shared", "CommitSafe") == ("True", "CommitLock")
    assert lab.rows("t", directory="shared") == [{"id": 1, "v": "a"}, {"id": 2, "v": "b"}]
    assert server.execute("SELECT table_name FROM paimon_tables", database=login.user) == "t"

    shown = [lab.kubectl.run("get", KINDS, "-o", "yaml")]
    shown += [log_of(lab, pod["metadata"]["name"]) for pod in lab.pods() if has_started(pod)]
    assert len(shown) > 1
    assert all(login.password[:12] not in text for text in shown)

    lab.kubectl.run("delete", "paimontable", "t", "--timeout=7m", timeout=430)
    assert server.execute("SELECT count(*) FROM paimon_tables", database=login.user) == "0"
    assert lab.keys(f"shared/{lab.namespace}.db/t/") == []


def test_a_wrong_password_stalls_until_the_secret_is_corrected(
    lab: Lab, each_engine: str, login: postgres.Login
) -> None:
    lab.kubectl.apply(secret(lab, login, password="wrong"), table(lab))

    stalled = lab.kubectl.until_condition("t", "Stalled", "True")
    assert stalled["reason"] == "CredentialsRefused"
    assert "metastore" in stalled["message"]
    failure = (lab.kubectl.get("paimontable", "t") or {})["status"]["provision"]["failure"]
    assert failure["field"] == "spec.metastore.jdbc.credentialsSecretRef"

    lab.kubectl.apply(secret(lab, login))
    lab.ready("t")


def test_a_missing_secret_is_named_and_costs_no_attempt(lab: Lab, each_engine: str, login: postgres.Login) -> None:
    lab.kubectl.apply(table(lab))

    stalled = lab.kubectl.until_condition("t", "Stalled", "True")
    assert stalled["reason"] == "SecretNotFound"
    assert "lake-pg" in stalled["message"]
    (run,) = lab.runs("t")
    assert [attempt.get("finished") for attempt in run["status"]["attempts"]] == [None]

    lab.kubectl.apply(secret(lab, login))
    lab.ready("t")


def test_the_example_becomes_a_table(lab: Lab, each_engine: str, server: postgres.Server) -> None:
    made = server.login(f"{lab.namespace}-example")
    catalog, example = lab.placed(yaml.safe_load_all((EXAMPLES / "jdbc.yaml").read_text()))
    jdbc = catalog["spec"]["metastore"]["jdbc"]
    jdbc["uri"] = made.uri
    lab.kubectl.apply(secret(lab, made, name=jdbc["credentialsSecretRef"]["name"]))
    lab.kubectl.apply(catalog, example)

    name = example["metadata"]["name"]
    lab.ready(name)
    assert says(lab, "paimontable", name, "CommitSafe") == ("True", "CommitLock")
