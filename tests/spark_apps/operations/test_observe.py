"""When a look finds that the manifest cannot be reached any more, because of what somebody else has changed."""

from __future__ import annotations

from dataclasses import dataclass, replace

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
    latest = replace(LEFT, id=1, options={**LEFT.options, **altered})
    parameters = ObserveParameters(table=manifest, drift=JobDrift(schema_id=0, schema_digest=LEFT.digest))
    asked: Job = job(operation="Observe", parameters=parameters)
    found = observed(asked, ENGINE, Files(latest))
    assert found is not None
    assert found.count == len(altered)
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
