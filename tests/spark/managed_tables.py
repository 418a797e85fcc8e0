"""The operator's decisions about one table of a lake, with real drivers: nothing between the two is made up.

The operator is its pure core (TableWorld). Each run's job is the operator's, and the driver's result is read as the
operator reads that of a Pod.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from paimon_contract.documents import to_text
from paimon_contract.job import job_text
from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.api.run.spec import PaimonRun
from paimon_operator.api.run.status import Attempt, AttemptState, RunStatus
from paimon_operator.core.config import OperatorFacts
from paimon_operator.core.launch.job import build_job
from paimon_operator.core.run.completion import finish_attempt
from paimon_operator.core.run.outcome import classify
from paimon_operator.core.run.pod import read_pod
from paimon_operator.core.run.transition import to_decision
from tests.spark.drift_reports import Change, compare_with_files
from tests.spark.lake import Lake
from tests.support import builders, pods
from tests.support.manifests import Manifest
from tests.support.table_world import TableWorld

INTERVAL = timedelta(hours=1)
LONGEST_INTERVAL = INTERVAL * 1.25


def catalog_of(lake: Lake) -> PaimonCatalog:
    """The catalog of the lake: a volume, which the Pods have under /data and the test's drivers elsewhere."""
    storage = {"claim": {"name": "lake"}}
    place: Any = {"warehouse": "file:///data/warehouse", "storage": storage, "locations": None}
    return builders.catalog(**place, engine=lake.engine.id, allowedDatabases=["shop"])


def facts_of(lake: Lake) -> OperatorFacts:
    """An operator that looks for drift every hour."""
    facts = builders.operator_facts(default_engine=lake.engine.id, claims_allowed=True)
    return replace(facts, observe_interval=INTERVAL)


def job_of(lake: Lake, run: PaimonRun, world: TableWorld) -> dict[str, Any]:
    """The operator's job, with the warehouse where it is on this machine."""
    assert world.catalog is not None
    job = build_job(run, world.table, world.catalog, world.operator)
    here = replace(job, catalog=replace(job.catalog, warehouse=lake.warehouse))
    document: dict[str, Any] = json.loads(job_text(here))
    return document


@dataclass
class ManagedTable:
    """A PaimonTable and its table in the lake."""

    lake: Lake
    world: TableWorld

    @classmethod
    def of(cls, lake: Lake, manifest: Manifest, catalog: PaimonCatalog) -> ManagedTable:
        """The PaimonTable of a manifest that was just applied."""
        table = builders.table(manifest["metadata"]["name"], manifest["metadata"]["namespace"], **manifest["spec"])
        return cls(lake, TableWorld(table=table, catalog=catalog, operator=facts_of(lake)))

    def run_due(self) -> list[str]:
        """Performs everything that is due, one run after the other. Returns the types of the runs."""
        before = len(self.world.started)
        self.world.settle()
        while self.world.table.status.active_run:
            assert len(self.world.started) < before + 5, f"one run after the other: {self.world.started}"
            self._perform(self.world.active)
            self.world.settle()
        return [type_ for type_, _ in self.world.started[before:]]

    def reported(self) -> list[Change]:
        """The changes by others that the last run of type Observe has found."""
        looks = [each for each in self.world.runs if each.spec.type == "Observe"]
        found = looks[-1].status.drift
        assert found is not None
        return [(each.change.value, each.field, each.before, each.after) for each in found.changes]

    def _perform(self, run: PaimonRun) -> None:
        job = job_of(self.lake, run, self.world)
        result, code = self.lake.jvm.ask(job=str(self.lake.save(job)))
        if run.spec.type == "Observe":
            compare_with_files(self.lake, job, result)
        pod = read_pod(pods.pod(run, **pods.ended(code, to_text(result), finished=self.world.now)))
        attempt = Attempt(number=1, state=AttemptState.RUNNING, pod=pod.name, launched=self.world.now)
        step = finish_attempt(run, attempt, classify(pod, run.metadata.name), backoff_limit=0, now=self.world.now)
        status: RunStatus | None = to_decision(run, step, self.world.now).status
        assert status is not None
        self.world.runs[self.world.runs.index(run)] = run.model_copy(update={"status": status})
