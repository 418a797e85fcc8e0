"""Argo CD's health of each object, by the Lua that its ConfigMap gets, on statuses that the core makes."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import lupa
import pytest
import yaml

from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import FailureClass
from paimon_operator.core.ports import Kind
from paimon_operator.runtime.bug_reports import bug_report
from paimon_operator.runtime.keys import Key
from tests.core.catalog.test_plan import catalog, decide, says
from tests.support.run_story import cancelled_story, running_story
from tests.support.table_world import TableWorld

ROOT: Final = Path(__file__).parents[2]
CHECKS: Final = yaml.safe_load((ROOT / "charts/paimon-operator/files/argocd.yaml").read_text(encoding="utf-8"))
PREFIX: Final = "resource.customizations.health.paimon-operator.dev_"


def health(kind: str, document: dict[str, Any]) -> tuple[str, str]:
    """What Argo CD shows: status and message."""
    lua = lupa.LuaRuntime()
    lua.globals().obj = lua.table_from(document, recursive=True)
    found = lua.execute(CHECKS[PREFIX + kind])
    return found.status, found.message


def shown(seen: TableWorld) -> tuple[str, str]:
    return health("PaimonTable", seen.table.to_json())


def test_it_knows_every_kind() -> None:
    """That of executors' rights has no status: it is healthy as soon as it exists."""
    kinds = {yaml.safe_load(path.read_text())["spec"]["names"]["kind"] for path in (ROOT / "crds").glob("*.yaml")}
    assert {name.removeprefix(PREFIX) for name in CHECKS} == kinds - {"PaimonExecutorRights"}


def test_a_table_progresses_until_it_is_ready_and_again_after_an_edit() -> None:
    seen = TableWorld()
    assert shown(seen) == ("Progressing", "waits for the operator")
    seen.settle()
    assert shown(seen)[0] == "Progressing"
    seen.finish("Provision", created=True)
    seen.settle()
    assert shown(seen)[0] == "Healthy"
    seen.edit(options={"file.format": "orc"})
    assert shown(seen) == ("Progressing", "waits for the operator"), "Ready is of the manifest before"


def test_a_stalled_table_is_degraded_and_says_what_to_do() -> None:
    seen = TableWorld().ready()
    seen.edit(options={"file.formt": "orc"})
    seen.settle()
    status, message = shown(seen)
    assert status == "Degraded"
    assert "file.format" in message


def test_a_suspended_table_is_suspended() -> None:
    seen = TableWorld().ready()
    seen.edit(suspend=True)
    seen.settle()
    assert shown(seen)[0] == "Suspended"


def test_a_table_that_is_being_deleted_progresses() -> None:
    seen = TableWorld().ready()
    seen.delete()
    assert shown(seen) == ("Progressing", "is being deleted")


@pytest.mark.parametrize("edit", [{}, {"suspend": True}], ids=["without an edit", "after an edit"])
def test_a_table_whose_reconcile_has_a_bug_is_degraded(edit: dict[str, Any]) -> None:
    seen = TableWorld().ready()
    seen.edit(**edit)
    body = seen.table.to_json()
    reported = bug_report(Key(Kind.TABLE, "shop", "orders"), body, ZeroDivisionError(), seen.now)
    conditions = [condition.to_json() for condition in reported.conditions]
    status, message = health("PaimonTable", body | {"status": body["status"] | {"conditions": conditions}})
    assert status == "Degraded"
    assert message.startswith("InternalError: ")


def catalog_health(seen: PaimonCatalog, **observed: Any) -> tuple[str, str]:
    status = decide(seen, **observed).status
    assert status is not None
    return health("PaimonCatalog", seen.to_json() | {"status": status.to_json()})


def test_a_catalog_is_healthy_before_a_table_has_reached_its_storage() -> None:
    assert says(decide(catalog()), "Ready") == ("Unknown", Reason.STORAGE_UNVERIFIED)
    assert catalog_health(catalog())[0] == "Healthy"


@pytest.mark.parametrize(
    ("sentence", "seen", "observed", "expected"),
    [
        ("an engine that is unknown", catalog(engine="paimon-7.3"), {}, ("Degraded", "UnknownEngine: ")),
        ("a suspended catalog", catalog(suspend=True), {}, ("Suspended", "nothing new starts")),
        ("a deleted catalog with a table", catalog(deleted=True), {"tables": 1}, ("Progressing", "is being deleted")),
    ],
)
def test_a_catalog_shows_what_it_waits_for(
    sentence: str, seen: PaimonCatalog, observed: dict[str, Any], expected: tuple[str, str]
) -> None:
    status, message = catalog_health(seen, **observed)
    assert (status, message[: len(expected[1])]) == expected, sentence


@pytest.mark.parametrize(("succeeds", "status"), [(True, "Healthy"), (False, "Degraded")])
def test_a_run_is_judged_by_its_end(succeeds: bool, status: str) -> None:
    seen = TableWorld()
    seen.settle()
    assert health("PaimonRun", seen.active.to_json())[0] == "Progressing"
    run = seen.active
    if succeeds:
        seen.finish("Provision", created=True)
    else:
        seen.fail(FailureClass.SPEC, Reason.INVALID_SPEC)
    ended = next(each for each in seen.runs if each.metadata.name == run.metadata.name)
    assert health("PaimonRun", ended.to_json())[0] == status


def test_a_run_that_is_being_deleted_progresses() -> None:
    run = cancelled_story(running_story()).run
    assert run.metadata.deletion_timestamp is not None
    assert health("PaimonRun", run.to_json()) == ("Progressing", "is being deleted")
