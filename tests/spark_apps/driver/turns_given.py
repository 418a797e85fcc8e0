"""An operator that gives turns, and the jobs that ask for them, for tests without a JVM."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from paimon_contract.job import Job, JobRun, JobTable
from paimon_contract.parameters.expire_snapshots import ExpireSnapshotsParameters
from paimon_contract.turns import TurnRequest
from spark_apps.driver.process import Performed
from spark_apps.driver.turns import NotAnsweredError
from tests.spark_apps.jobs import job

WAIT_S = 20


def job_of(name: str, table: str = "orders") -> Job:
    """The job of a run of this name."""
    return job(
        run=JobRun(name, f"uid-of-{name}", "shop"),
        operation="ExpireSnapshots",
        table=JobTable("shop", table),
        parameters=ExpireSnapshotsParameters(),
    )


@dataclass
class FakeOperator:
    """Begins every turn but those of `refused`, and answers no request after `answers` of them."""

    refused: set[str] = field(default_factory=set)
    answers: int = 100
    steps: list[str] = field(default_factory=list)

    def ask(self, request: TurnRequest) -> bool:
        """What TurnClient returns."""
        if len(self.steps) >= self.answers:
            raise NotAnsweredError("timed out")
        reported = "" if request.report is None else f"{json.loads(request.report.result)['run']} ended"
        asked = "" if request.next is None else f"{request.next.name} begins?"
        self.steps.append(", ".join(each for each in (reported, asked) if each))
        return request.next is not None and request.next.name not in self.refused


def succeeds(job: Job) -> Performed:
    """The result of a job that has succeeded."""
    return {"run": job.run.name, "ok": True, "ms": {}}, 0
