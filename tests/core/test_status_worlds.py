"""Every status that random worlds produce passes the schema of its CRD: any text, list or number from outside."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, precondition, rule

from paimon_contract.exit_codes import EXIT_CODES
from paimon_operator.api.base import ApiModel, Json
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import FailureClass
from paimon_operator.api.table.writes import MAX_WRITES
from paimon_operator.core.catalog.plan import plan_catalog
from paimon_operator.core.decision import Refusal
from paimon_operator.core.table.observed import TableObserved
from tests.core.catalog.test_plan import catalog, unreached
from tests.core.table.test_plan_properties import TableHistory
from tests.support import builders, crd_schema, pods
from tests.support.random_examples import examples
from tests.support.run_story import NO_POD, Story, running_story, write_story
from tests.support.table_world import TableWorld

ANY_TEXT = st.one_of(
    st.text(max_size=60),
    st.text(alphabet="a\x00\x1b\u202e\U0001f600\ud7ff é", min_size=1, max_size=9).map(lambda text: text * 2000),
    st.text(alphabet="a\x00é", min_size=1, max_size=3).map(lambda text: text * 300),
)
REASONS = st.sampled_from(list(Reason))
FAILURES = st.sampled_from(list(FailureClass))
NUMBERS = st.sampled_from([0, 1, 2**31, 2**63 - 1, 2**63, 2**80, -1, -(2**70)])
STORED_NUMBERS = st.sampled_from([0, 1, 2**31, 2**63 - 1])


def assert_storable(kind: str, status: ApiModel) -> None:
    assert crd_schema.problems(kind, status.to_json()) == []


class WildTableHistory(TableHistory):
    """Histories of a table in a world that says anything."""

    @precondition(lambda self: self.busy)
    @rule(class_=FAILURES, reason=REASONS, text=ANY_TEXT)
    def the_run_fails_with_any_text(self, class_: FailureClass, reason: Reason, text: str) -> None:
        self.world.fail(class_, reason, text)

    @precondition(lambda self: self.busy)
    @rule(reason=REASONS, text=ANY_TEXT)
    def the_run_is_blocked_with_any_text(self, reason: Reason, text: str) -> None:
        self.world.block(reason, text)

    @precondition(lambda self: self.busy)
    @rule(rows=STORED_NUMBERS, size=STORED_NUMBERS)
    def the_run_reports_large_numbers(self, rows: int, size: int) -> None:
        self.world.finish(after={"rows": rows, "bytes": size, "files": rows, "snapshotId": size, "schemaId": rows})

    @rule(text=st.one_of(st.none(), ANY_TEXT))
    def the_api_server_refuses_with_any_text(self, text: str | None) -> None:
        refusal = None if text is None else Refusal(reason=Reason.NOT_PERMITTED, message=text)
        self.world.observed = TableObserved(refusal=refusal)

    @rule(first=st.integers(1, 4), count=st.sampled_from([0, 3, 16, 16]), catalog=st.booleans())
    def the_writes_are_others(self, first: int, count: int, catalog: bool) -> None:
        paths = {f"write-{each}": f"{each}/{first % 2}/" for each in range(first, first + count)}
        writes = [builders.write(name, schedule="*/5 * * * *", path=path) for name, path in paths.items()]
        self.world.edit(writes=writes or None)
        self.world.catalog = builders.catalog() if catalog else None

    @rule(names=st.integers(1, 100))
    def the_catalog_allows_other_databases(self, names: int) -> None:
        databases = [f"a_database_with_a_long_name_{number:080}" for number in range(names)]
        self.world.catalog = builders.catalog(allowedDatabases=databases)

    @invariant()
    def the_status_is_storable(self) -> None:
        assert_storable("PaimonTable", self.world.table.status)


TestWildTableHistory = pytest.mark.worlds(WildTableHistory.TestCase)
TestWildTableHistory.settings = settings(max_examples=examples(12, most=500), stateful_step_count=30, deadline=None)

POD_STATUSES = st.one_of(
    st.just(NO_POD),
    st.just(pods.running()),
    st.builds(pods.waiting, ANY_TEXT, ANY_TEXT),
    st.builds(pods.unschedulable, ANY_TEXT),
    st.builds(pods.evicted, ANY_TEXT),
    st.builds(pods.ended, st.integers(-1, 300), ANY_TEXT),
)


@st.composite
def reports(draw: st.DrawFn, story: Story) -> tuple[int, str]:
    """An exit code, and a result or an error document with any text and any number. Mostly the two fit."""
    failure = draw(st.sampled_from([None, None, *EXIT_CODES, "nonsense"]))
    code = 0 if failure is None else EXIT_CODES.get(failure, 20)
    code = code if draw(st.integers(0, 9)) else draw(st.sampled_from([0, 20, 25, 30, 40]))
    if failure is not None:
        return code, pods.error(story.run, failure, draw(ANY_TEXT)[:90] or "x", draw(ANY_TEXT), field=draw(ANY_TEXT))
    measure = {name: draw(NUMBERS) for name in ("rows", "bytes", "files", "snapshotId", "schemaId", "sortedRunsMax")}
    differences = draw(st.lists(ANY_TEXT, max_size=40))
    write = {"rows": draw(NUMBERS), "files": draw(NUMBERS)}
    return code, pods.result(story.run, after=measure, differences=differences, write=write, expired=draw(NUMBERS))


EDITED_LISTS = st.permutations(range(MAX_WRITES + 4)).map(lambda order: order[:MAX_WRITES])
"""The writes of a full list by number. A write that is left out may have an active run."""


def full_list(numbers: list[int]) -> list[Json]:
    return [builders.write(f"w{number}", schedule=None, path=f"{number}/") for number in numbers]


@pytest.mark.worlds
@settings(max_examples=examples(8, most=500), deadline=None)
@given(lists=st.lists(EDITED_LISTS, min_size=1, max_size=6), world=st.data())
def test_every_status_of_a_table_whose_full_list_of_writes_is_edited_is_storable(
    lists: list[list[int]], world: st.DataObject
) -> None:
    """Without its catalog a table records results, and decides nothing that would tidy its list."""
    seen = TableWorld(table=builders.table(writes=full_list(list(range(MAX_WRITES))))).ready()
    for numbers in lists:
        seen.catalog = builders.catalog()
        seen.settle()
        seen.edit(writes=full_list(numbers))
        seen.settle()
        if seen.table.status.active_run is not None and world.draw(st.booleans()):
            seen.finish()
        seen.catalog = None
        seen.settle()
        assert_storable("PaimonTable", seen.table.status)


def provision_story() -> Story:
    return Story(type="Provision", compact=None)


@pytest.mark.worlds
@settings(max_examples=examples(90), deadline=None)
@given(data=st.data())
def test_every_status_of_a_run_is_storable(data: st.DataObject) -> None:
    story = running_story(data.draw(st.sampled_from([Story, write_story, provision_story]))())
    statuses = data.draw(st.lists(POD_STATUSES, max_size=3))
    for status in (*statuses, pods.ended(*data.draw(reports(story)))):
        decision = story.reconcile(status)
        if decision.status is not None:
            assert_storable("PaimonRun", decision.status)


@pytest.mark.worlds
@settings(max_examples=examples(60), deadline=None)
@given(names=st.lists(st.integers(0, 59), max_size=20), zone=ANY_TEXT, reason=REASONS)
def test_every_status_of_a_catalog_is_storable(names: list[int], zone: str, reason: Reason) -> None:
    tables = [unreached(f"t{name}", minute=name, reason=reason.value) for name in names]
    wrong = catalog().model_copy(update={"spec": catalog().spec.model_copy(update={"time_zone": zone})})
    for seen in (catalog(), wrong, catalog(deleted=True)):
        decision = plan_catalog(seen, builders.catalog_observed(tables), builders.operator_facts(), builders.NOW)
        if decision.status is not None:
            assert_storable("PaimonCatalog", decision.status)
