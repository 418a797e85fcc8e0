"""A catalog with a jdbc metastore in PostgreSQL: life cycle with the lock, and wrong Secrets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
import yaml

from tests.cluster import postgres
from tests.cluster.layout import Layout
from tests.e2e.lab import Lab, once
from tests.e2e.lifecycle import YEARLY
from tests.support import secret_values
from tests.support.kubectl import Object, RefusedError, condition

METASTORE = "Jdbc"
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
pytestmark = [pytest.mark.xdist_group("postgres"), pytest.mark.each_engine]  # one server for all tests of this file
COLUMNS = {"id": "BIGINT", "v": "STRING"}
KINDS = "pods,configmaps,events,paimontables,paimoncatalogs,paimonruns,paimonexecutorrights"


@pytest.fixture(scope="module")
def server() -> Iterator[postgres.Server]:
    with postgres.running_on_node(Layout()) as started:
        yield started


@pytest.fixture
def login(server: postgres.Server, lab: Lab) -> postgres.Login:
    return database_of(lab, server)


def database_of(lab: Lab, server: postgres.Server) -> postgres.Login:
    """Creates a database for the lab and the catalog `shared`, which uses it as its metastore."""
    made = server.login(lab.namespace)
    jdbc = {"uri": made.uri, "credentialsSecretRef": {"name": "lake-pg"}}
    catalog = lab.catalog("shared", metastore={"type": "Jdbc", "jdbc": jdbc})
    catalog["spec"]["warehouse"] += "/shared"
    lab.kubectl.apply(catalog)
    return made


def secret(lab: Lab, login: postgres.Login, *, name: str = "lake-pg", **override: str) -> Object:
    keys = {"username": login.user, "password": login.password} | override
    secret_values.register({"password": keys["password"]})  # the server's own errors contain the user's name
    return lab.secret(name) | {"stringData": keys}


def table(lab: Lab, columns: Mapping[str, str] = COLUMNS, **spec: object) -> Object:
    return lab.table("t", columns, keys=["id"], **({"catalogRef": {"name": "shared"}} | spec))


def says(lab: Lab, kind: str, name: str, type_: str) -> tuple[str, str]:
    found = condition(lab.kubectl.get(kind, name), type_)
    return found["status"], found["reason"]


def has_started(pod: Object) -> bool:
    """Returns whether the driver has started, before which its Pod has no log."""
    return bool(pod["status"].get("phase") in ("Running", "Succeeded", "Failed"))


def log_of(lab: Lab, pod: str) -> str:
    """Returns the Pod's log, empty for a Pod that was deleted with its run."""
    try:
        return lab.kubectl.run("logs", pod)
    except RefusedError:
        assert lab.kubectl.get("pod", pod) is None
        return ""


class TestLifeUnderTheLock:
    """A table with external writers, which is safe because of the metastore's lock."""

    @pytest.fixture(scope="class")
    @classmethod
    def made(cls, class_lab: Lab, server: postgres.Server) -> tuple[Lab, postgres.Login]:
        """A lab with the manifest and its input file."""
        login = database_of(class_lab, server)
        class_lab.land("in/1.json", [{"id": 1, "v": "a"}, {"id": 2, "v": "b"}])
        spec: Object = {
            "bucket": {"type": "Fixed", "fixed": {"count": 2}},
            "externalWriters": "Active",
            "deletionPolicy": "Delete",
            "compaction": {"mode": "Dedicated", "full": {"schedule": YEARLY}},
            "writes": [once("import", "in/1.json")],
        }
        class_lab.kubectl.apply(secret(class_lab, login), table(class_lab, **spec))
        class_lab.ready("t")
        return class_lab, login

    def test_it_is_loaded(self, made: tuple[Lab, postgres.Login], server: postgres.Server) -> None:
        lab, login = made
        assert says(lab, "paimontable", "t", "CommitSafe") == ("True", "CommitLock")
        lab.settled("t")
        assert lab.rows("t", directory="shared") == [{"id": 1, "v": "a"}, {"id": 2, "v": "b"}]
        assert server.execute("SELECT table_name FROM paimon_tables", database=login.user) == "t"

    def test_it_is_compacted(self, made: tuple[Lab, postgres.Login]) -> None:
        lab, _ = made
        lab.kubectl.apply(lab.compaction("t", "squeeze"))
        lab.kubectl.until_condition("squeeze", "Succeeded", "True", kind="paimonrun")
        assert says(lab, "paimoncatalog", "shared", "CommitSafe") == ("True", "CommitLock")

    def test_the_password_is_in_no_log_or_object(self, made: tuple[Lab, postgres.Login]) -> None:
        lab, login = made
        shown = [lab.kubectl.run("get", KINDS, "-o", "yaml")]
        shown += [log_of(lab, pod["metadata"]["name"]) for pod in lab.pods() if has_started(pod)]
        assert len(shown) > 1
        assert all(login.password[:12] not in text for text in shown)

    def test_its_deletion_deletes_its_row_in_the_metastore(
        self, made: tuple[Lab, postgres.Login], server: postgres.Server
    ) -> None:
        lab, login = made
        lab.kubectl.run("delete", "paimontable", "t", "--timeout=7m", timeout=430)
        assert server.execute("SELECT count(*) FROM paimon_tables", database=login.user) == "0"
        assert lab.keys(f"shared/{lab.namespace}.db/t/") == []


@pytest.mark.long
def test_a_wrong_password_stalls_until_the_secret_is_corrected(
    lab: Lab, login: postgres.Login, *, by_an_edit: bool
) -> None:
    lab.kubectl.apply(secret(lab, login, password="wrong"), table(lab))

    stalled = lab.kubectl.until_condition("t", "Stalled", "True")
    assert stalled["reason"] == "CredentialsRefused"
    assert "metastore" in stalled["message"]
    failure = (lab.kubectl.get("paimontable", "t") or {})["status"]["provision"]["failure"]
    assert failure["field"] == "spec.metastore.jdbc.credentialsSecretRef"

    lab.kubectl.apply(secret(lab, login))
    if by_an_edit:
        lab.kubectl.apply(table(lab, COLUMNS | {"later": "INT"}))
    lab.ready("t")


@pytest.mark.long
def test_a_missing_secret_is_reported_without_an_attempt(lab: Lab, login: postgres.Login) -> None:
    lab.kubectl.apply(table(lab))

    stalled = lab.kubectl.until_condition("t", "Stalled", "True")
    assert stalled["reason"] == "SecretNotFound"
    assert "lake-pg" in stalled["message"]
    (run,) = lab.runs("t")
    assert [attempt.get("finished") for attempt in run["status"]["attempts"]] == [None]

    lab.kubectl.apply(secret(lab, login))
    lab.ready("t")


@pytest.mark.long
def test_the_example_becomes_a_table(lab: Lab, server: postgres.Server) -> None:
    made = server.login(f"{lab.namespace}-example")
    catalog, example = lab.placed(yaml.safe_load_all((EXAMPLES / "jdbc.yaml").read_text()))
    jdbc = catalog["spec"]["metastore"]["jdbc"]
    jdbc["uri"] = made.uri
    lab.kubectl.apply(secret(lab, made, name=jdbc["credentialsSecretRef"]["name"]))
    lab.kubectl.apply(catalog, example)

    name = example["metadata"]["name"]
    lab.ready(name)
    assert says(lab, "paimontable", name, "CommitSafe") == ("True", "CommitLock")
