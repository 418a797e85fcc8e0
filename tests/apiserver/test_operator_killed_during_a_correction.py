"""SIGKILL of the operator after each write that it makes to find and to take back a change by somebody else."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.apiserver.finding_drift import OPTION, found, measure, request
from tests.apiserver.namespace_client import conditions
from tests.apiserver.story import WRITES_OF_A_RUN, Story, is_settled, job_of_last, telling, types_of
from tests.cluster.apiserver import ApiServer


def is_corrected(story: Story) -> bool:
    return is_settled(story) and story.status["provision"].get("schemaId") == 2


@pytest.mark.long
def test_a_change_is_taken_back_by_one_run_after_a_kill_at_each_write(api_server: ApiServer, tmp_path: Path) -> None:
    change = OPTION | {"correctable": True}
    sees = {"table": measure(1), "drift": found(1, change)}
    takes_back = {"table": measure(2), "created": False, "drift": found(2, takenBack=[change])}
    with telling(api_server, "killed-correction", tmp_path, spec__driftPolicy="Correct") as story:
        story.live({"table": measure(0), "created": True, "drift": found(0, baseline=None)}, until=is_settled)
        request(story.ns, "orders", "look", "Observe")

        made = story.kill_at_each_write(sees, takes_back, until=is_corrected)

        assert set(made) >= WRITES_OF_A_RUN, made
        assert types_of(story) == ["Provision", "Observe", "Provision"]
        assert job_of_last(story)["provision"]["corrects"] is True
        drift = story.status["drift"]
        assert [each["fields"] for each in drift["corrections"]] == [[OPTION["field"]]], "it counts once"
        assert (drift["schemaId"], drift.get("count")) == (2, None)
        assert conditions(story.table)["Drifted"]["status"] == "False"
