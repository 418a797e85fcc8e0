"""The driver that several runs share, as a process on this machine beside an operator that gives turns."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from paimon_contract import environment
from paimon_contract.documents import to_text
from paimon_contract.turns import BatchConfig, TurnAnswer, answer_text, config_text, job_variable
from tests.spark.lake import Lake
from tests.spark_apps.observer.fake_operator import FakeOperator
from tests.support.spark_process import Exited, run_batch


class TurnGiver(FakeOperator):
    """Begins each turn but those of `refused`."""

    def __init__(self, refused: tuple[str, ...] = ()) -> None:
        super().__init__()
        self.refused = refused

    def answer(self, request: Mapping[str, Any]) -> str:
        following = request.get("next")
        return answer_text(TurnAnswer(begin=following is not None and following["name"] not in self.refused))

    def results(self) -> dict[str, dict[str, Any]]:
        """Run -> its result."""
        reports = [each["report"] for each in self.requests if "report" in each]
        return {each["run"]["name"]: json.loads(each["result"]) for each in reports}


def owner_of(table: str) -> str:
    """The owner's mark of a table that `of_table` names."""
    return f"cluster-uid/shop/{table}"


def of_table(job: dict[str, Any], table: str) -> dict[str, Any]:
    """The job, for another table of the lake."""
    return {**job, "table": {"database": "shop", "name": table}, "owner": owner_of(table)}


def drive(lake: Lake, giver: TurnGiver, jobs: list[dict[str, Any]], directory: Path, **env: str) -> Exited:
    """Runs the driver to its end. `env` are more variables of its Pod."""
    (directory / "token").write_text("t")
    config = BatchConfig(url=giver.url, token_file=str(directory / "token"), seconds=600, launch_hash="0")
    variables = {job_variable(number): to_text(job) for number, job in enumerate(jobs)}
    return run_batch(lake.home, directory, **{environment.BATCH_CONFIG: config_text(config)}, **variables, **env)
