"""When a look finds that the manifest cannot be reached any more, because of what somebody else has changed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest

from paimon_contract.drift import JobDrift
from paimon_contract.job import Job
from paimon_contract.parameters.observe import ObserveParameters
from paimon_contract.parameters.provision import JobColumn, ProvisionParameters
from paimon_contract.result import ResultDrift
from paimon_engines.loader import load_engine
from paimon_schema.table_schema import Column, TableSchema
from paimon_schema.type_parser import parse
from spark_apps.operations.observe import observed
from tests.spark_apps.jobs import job

ENGINE = load_engine("paimon-1.4")
LEFT = TableSchema(columns=(Column(name="id", type=parse("BIGINT"), id=0),), options={"bucket": "2"}, time_ms=0)
MANIFEST = ProvisionParameters(
    columns=(JobColumn(name="id", type="BIGINT", data_type="BIGINT"),),
    options={"bucket": "2"},
    adoption="AdoptIfIdentical",
)
BUCKET, UNRELATED = {"bucket": "4"}, {"snapshot.num-retained.min": "5"}


@dataclass(frozen=True)
class Files:
    """The schema that the operator has left, and the latest one."""

    latest: TableSchema

    def schema(self, id_: int) -> TableSchema | None:
        return {0: LEFT, self.latest.id: self.latest}.get(id_)

    def latest_schema(self, from_id: int | None = None) -> TableSchema:  # noqa: ARG002
        return self.latest


def look(altered: dict[str, str], manifest: ProvisionParameters) -> ResultDrift:
    """What a look finds in the altered table."""
    found = compared(replace(LEFT, id=1, options={**LEFT.options, **altered}), manifest)
    assert found.count == len(altered)
    return found


def compared(latest: TableSchema, manifest: ProvisionParameters = MANIFEST, **known: Any) -> ResultDrift:
    """What a look finds that knows the schema which the operator has left."""
    usual: dict[str, Any] = {"schema_id": 0, "schema_digest": LEFT.digest}
    drift = JobDrift(**usual | known)
    asked: Job = job(operation="Observe", parameters=ObserveParameters(table=manifest, drift=drift), owner="c/shop/o")
    found = observed(asked, ENGINE, Files(latest))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("altered", "edited", "refused"),
    [
        (UNRELATED, {}, None),
        (BUCKET, {}, "option bucket: table has 4, manifest has 2"),
        (UNRELATED, {"bucket": "8"}, None),  # the edit was refused before, and still is
        (BUCKET, {"bucket": "8"}, "option bucket: table has 4, manifest has 8"),
        (BUCKET | UNRELATED, {"merge-engine": "first-row"}, "option bucket: table has 4, manifest has 2"),
    ],
)
def test_only_what_somebody_else_has_made_unreachable_is_refused(
    altered: dict[str, str], edited: dict[str, str], refused: str | None
) -> None:
    found = look(altered, replace(MANIFEST, options=MANIFEST.options | edited))
    assert (found.refused is None) == (refused is None)
    assert (found.refused or "").startswith(refused or "")


def test_another_number_of_buckets_is_always_among_the_changes_that_are_listed() -> None:
    many = {f"snapshot.option-{number:02}": "1" for number in range(20)}
    found = look(many | {"bucket": "4", "a.option": "1"}, replace(MANIFEST, rescales=True))
    assert [each.field for each in found.changes][:2] == ["bucket", "a.option"]
    assert found.refused is None


OWNER = "paimon-operator.owner"
AT = 1_700_000_000_000


def test_a_look_states_the_number_the_digest_and_the_time_of_the_schema_that_it_has_read() -> None:
    latest = replace(LEFT, id=1, options={**LEFT.options, **UNRELATED}, time_ms=AT)
    found = compared(latest)
    assert (found.baseline_id, found.schema_id, found.schema_digest) == (0, 1, latest.digest)
    assert found.schema_time == "2023-11-14T22:13:20Z"


def test_changes_that_the_status_does_not_list_count() -> None:
    found = compared(replace(LEFT, id=1, options={**LEFT.options, **UNRELATED}), hidden=3)
    assert (found.count, len(found.changes)) == (4, 1)


def test_another_table_under_the_name_is_one_change_and_has_to_be_verified() -> None:
    found = compared(replace(LEFT, id=2), schema_digest="0" * 16)
    assert [(each.change, each.before, each.after) for each in found.changes] == [
        ("TableReplaced", "schema 0", "schema 2")
    ]
    assert found.refused == "the table is another one than the operator has left"


@pytest.mark.parametrize(
    ("owner", "shown"),
    [
        ("c/shop/other", "PaimonTable other"),
        ("c/web/secret", "a PaimonTable of another namespace"),
        ("d/shop/other", "a PaimonTable of another cluster"),
    ],
)
def test_another_owner_is_named_only_in_its_namespace_and_nothing_of_its_table_is_corrected(
    owner: str, shown: str
) -> None:
    found = compared(replace(LEFT, id=1, options={**LEFT.options, **UNRELATED, OWNER: owner}))
    assert [(each.change, each.correctable) for each in found.changes] == [
        ("OwnerChanged", None),
        ("OptionChanged", None),
    ]
    assert (found.changes[0].before, found.changes[0].after) == ("PaimonTable o", shown)
    assert found.refused == "the mark of its owner has changed"
    without = compared(replace(LEFT, id=1, options={**LEFT.options, **UNRELATED}))
    assert [each.correctable for each in without.changes] == [True], "the owner alone is the reason"
