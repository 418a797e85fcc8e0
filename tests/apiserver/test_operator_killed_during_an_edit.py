"""SIGKILL of the operator after each write that it makes for an edit of the schema.

Each edit ends in the declared state with one run of its own. What a driver that is killed leaves is tested with Spark.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import ClassVar

import pytest

from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.api.table.spec import PaimonTable
from paimon_operator.core.spec.context import TableContext
from paimon_operator.core.spec.desired_table import desired_table
from paimon_operator.core.spec.edit_plan import declared_schema, read_record
from paimon_schema.plan import schema_after
from tests.apiserver.namespace_client import CATALOGS, TABLES, conditions
from tests.apiserver.story import WRITES_OF_A_RUN, Story, ends_of, is_settled, job_of_last, telling, types_of
from tests.cluster.apiserver import ApiServer
from tests.support import builders
from tests.support.manifests import Manifest, keyed_table

COLUMNS: list[Manifest] = keyed_table()["spec"]["schema"]["columns"]
RENAMED = {"name": "total", "type": "DECIMAL(12,2)", "renamedFrom": "amount"}
"""Another column takes the old name, so the rename is a schema commit of its own."""
TWO_COMMITS = [*(RENAMED if each["name"] == "amount" else each for each in COLUMNS), {"name": "amount", "type": "INT"}]
APPROVE = "paimon-operator.dev/approve"


def without(*names: str) -> Manifest:
    """The schema without these columns, which are to be dropped."""
    kept = [each for each in COLUMNS if each["name"] not in names]
    return {"columns": kept, "droppedColumns": list(names)}


def measure(schema_id: int) -> Manifest:
    return {"schemaId": schema_id, "snapshotId": 1, "bucketMode": "Dynamic", "files": 8, "rows": 10, "sizeBytes": 99}


def verified(story: Story, schema_id: int) -> Manifest:
    """What the driver reports once the table is as the manifest says."""
    context = context_of(story)
    digest = schema_after(None, declared_schema(desired_table(context.spec, context.effective))).columns_digest
    return {"table": measure(schema_id), "created": schema_id == 0, "columnsDigest": digest}


def context_of(story: Story) -> TableContext:
    table = PaimonTable.model_validate(story.table)
    return builders.context(table, PaimonCatalog.model_validate(story.ns.get(CATALOGS, "lake")))


def columns_of(story: Story) -> list[str]:
    """The columns of the table by its status: the operator plans the next edit from them."""
    found = read_record(story.status["provision"]["schemaRecord"])
    assert found is not None
    return [each.name for each in found.columns]


def planned(story: Story) -> list[tuple[str, str]]:
    """The steps of the plan that the status shows, with their costs."""
    return [(each["change"], each["cost"]) for each in story.status.get("plan", {}).get("steps", ())]


def shows(steps: int, type_: str, reason: str) -> Callable[[Story], bool]:
    """Whether the status shows so many steps for the current manifest, and this condition."""

    def is_shown(story: Story) -> bool:
        table = story.table
        found = conditions(table).get(type_, {})
        current = found.get("observedGeneration") == table["metadata"]["generation"]
        return current and (found["status"], found["reason"]) == ("True", reason) and len(planned(story)) == steps

    return is_shown


@pytest.fixture(scope="class")
def story(
    api_server: ApiServer, request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Story]:
    """A Ready table, without an operator. Lossy edits of it wait for approval.

    Of a class with `columns_unknown`, the operator does not know the columns, as after a driver of an older release.
    """
    logs, policy = tmp_path_factory.mktemp("operators"), {"spec__evolutionPolicy": "Approve"}
    with telling(api_server, f"each-{request.cls.__name__.lower()}", logs, catalog=policy) as story:
        unknown = getattr(request.cls, "columns_unknown", False)
        story.live(verified(story, 0) | ({"columnsDigest": None} if unknown else {}), until=is_settled)
        assert ("schemaRecord" in story.status["provision"]) is not unknown
        yield story


class TestAnEditWithTwoSchemaCommits:
    def test_it_ends_in_the_declared_state_after_a_kill_at_each_write(self, story: Story) -> None:
        story.edit(schema={"columns": TWO_COMMITS})
        edit = context_of(story).edit
        assert edit is not None
        assert len(edit.commits) == 2

        made = story.kill_at_each_write(until=lambda story: bool(planned(story)))
        assert planned(story) == [("RenameColumn", "Metadata"), ("AddColumn", "Metadata")]
        made += story.kill_at_each_write(verified(story, 2), until=is_settled)

        assert set(made) >= WRITES_OF_A_RUN, made
        assert story.kills >= len(WRITES_OF_A_RUN)
        assert types_of(story) == ["Provision", "Provision"]
        assert (story.status["table"]["schemaId"], "plan" in story.status) == (2, False)
        assert columns_of(story) == [each["name"] for each in TWO_COMMITS]
        assert not any(pod.finalizers for pod in story.ns.pods()), "a run is released after its Pod"


class TestAnEditThatWaitsForApproval:
    """Suspended, then not approved, then edited after its approval, then approved."""

    def test_while_the_table_is_suspended_its_plan_is_shown_and_nothing_starts(self, story: Story) -> None:
        story.edit(schema=without("tags"), suspend=True)
        story.kill_at_each_write(until=shows(1, "Suspended", "Suspended"))
        assert planned(story) == [("DropColumn", "LosesData")]
        assert types_of(story) == ["Provision"]

    def test_then_it_waits_for_its_approval(self, story: Story) -> None:
        story.edit(suspend=False)
        story.kill_at_each_write(until=shows(1, "Stalled", "AwaitingApproval"))
        assert types_of(story) == ["Provision"]

    def test_an_edit_after_the_annotation_waits_for_another_approval(self, story: Story) -> None:
        approve(story)
        story.edit(schema=without("tags", "state"))
        story.kill_at_each_write(until=shows(2, "Stalled", "AwaitingApproval"))
        assert types_of(story) == ["Provision"]

    def test_the_approved_plan_is_applied_by_one_run(self, story: Story) -> None:
        approved = approve(story)

        made = story.kill_at_each_write(verified(story, 1), until=is_settled)

        assert set(made) >= WRITES_OF_A_RUN, made
        assert types_of(story) == ["Provision", "Provision"]
        job = job_of_last(story)["provision"]
        assert (job["approve"], job["approved"], job["dropped"]) == (True, approved, ["tags", "state"])
        assert (story.status["table"]["schemaId"], "plan" in story.status) == (1, False)
        assert columns_of(story) == [each["name"] for each in without("tags", "state")["columns"]]


@pytest.mark.long
class TestAnEditWhosePlanOnlyARunFinds:
    """A run finds the plan and ends without a change; after the approval another run applies it."""

    columns_unknown = True
    error: ClassVar[Manifest] = {
        "class": "Spec",
        "reason": "AwaitingApproval",
        "message": "the edit waits for approval",
    }
    step: ClassVar[Manifest] = {
        "change": "DropColumn",
        "field": "f",
        "cost": "LosesData",
        "message": "drop column tags",
    }
    plan: ClassVar[Manifest] = {"hash": "00112233445566aa", "count": 1, "steps": [step]}

    def test_the_plan_of_the_run_waits_for_its_approval(self, story: Story) -> None:
        story.edit(schema=without("tags"))
        found = {"error": self.error, "plan": self.plan}
        story.kill_at_each_write(found, until=shows(1, "Stalled", "AwaitingApproval"))
        assert story.status["plan"] == self.plan

    def test_the_approved_plan_is_applied_by_one_run(self, story: Story) -> None:
        approved = approve(story)

        made = story.kill_at_each_write(verified(story, 1), until=is_settled)

        assert set(made) >= WRITES_OF_A_RUN, made
        phases = ["Succeeded", "Failed", "Succeeded"]
        assert ends_of(story) == [("Provision", phase) for phase in phases]
        assert job_of_last(story)["provision"]["approved"] == approved
        assert (story.status["table"]["schemaId"], "plan" in story.status) == (1, False)
        assert columns_of(story) == [each["name"] for each in without("tags")["columns"]]


def approve(story: Story) -> str:
    """Approves the plan that the status shows, and returns its hash."""
    approved: str = story.status["plan"]["hash"]
    story.ns.patch(TABLES, "orders", {"metadata": {"annotations": {APPROVE: approved}}})
    return approved
