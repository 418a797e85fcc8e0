"""A run's turn in a shared Pod, as the state machine decides it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from paimon_contract.environment import BATCH_CONFIG
from paimon_contract.turns import MAX_JOB_BYTES, job_variable
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import AttemptState, Phase
from paimon_operator.core.launch.batch_pod import batch_pod, read_batch
from paimon_operator.core.operations import registry
from paimon_operator.core.run.observed import Turn
from paimon_operator.core.run.outcome import ran_out_of_memory
from paimon_operator.core.run.turn import begins_turn, has_begun, waits_for_turn
from paimon_operator.errors import SpecError
from tests.core.run.shared_story import POD, UID, SharedStory, begun
from tests.support import builders, pods
from tests.support.run_story import Story, created, released


def shared_body(story: SharedStory, **launch: str) -> pods.Json:
    """The Pod of the story's run alone, as the API server stores it. `launch` changes what it is started with."""
    body = batch_pod(
        builders.catalog(),
        replace(story.launch(), **launch),  # type: ignore[arg-type]
        [story.member()],
        url="http://operator:8082/v1/turns",
        deadline_s=60,
        own_deadline_s=30,
        distinction="first",
    )
    body["metadata"]["uid"] = UID
    return body


def test_a_shared_pod_is_read_as_it_was_made() -> None:
    story = SharedStory()
    body = shared_body(story, service_account="spark")
    found = read_batch(body)
    assert found is not None
    assert (found.uid, found.launch_hash) == (UID, story.member().launch_hash)
    assert found.jobs == story.turn().pod.jobs
    assert body["spec"]["serviceAccountName"] == "spark"


def without_configuration(body: pods.Json) -> None:
    (container,) = body["spec"]["containers"]
    container["env"] = [each for each in container["env"] if each["name"] != BATCH_CONFIG]


def with_no_json(body: pods.Json) -> None:
    (container,) = body["spec"]["containers"]
    container["env"] += [{"name": job_variable(1), "value": "no JSON"}]


def without_its_label(body: pods.Json) -> None:
    body["metadata"]["labels"].clear()


UNREADABLE = {
    "without configuration": without_configuration,
    "with a job that is no JSON": with_no_json,
    "of another role": without_its_label,
}


@pytest.mark.parametrize("change", UNREADABLE.values(), ids=UNREADABLE)
def test_a_pod_that_another_release_has_made_is_no_shared_pod(change: Callable[[pods.Json], None]) -> None:
    body = shared_body(SharedStory())
    change(body)
    assert read_batch(body) is None


def test_a_small_run_waits_for_a_pod_before_its_first_attempt() -> None:
    story = SharedStory()
    decision = story.decide()
    assert waits_for_turn(decision)
    assert (story.run.status.phase, story.run.status.attempts, decision.actions) == (Phase.PENDING, (), ())


def test_the_turn_is_stored_as_an_attempt_and_nothing_is_created() -> None:
    story = SharedStory()
    before = story.run
    decision = story.decide(story.turn())
    assert begins_turn(before, decision)
    assert decision.actions == ()
    attempt = story.attempt
    assert (attempt.number, attempt.state, attempt.pod, attempt.pod_uid) == (1, AttemptState.RUNNING, POD, UID)
    assert (attempt.started, attempt.memory, attempt.cores) == (story.now, "2048Mi", 2)


@pytest.mark.parametrize("change", [{"launch_hash": "0" * 16}, {"jobs": {}}], ids=["another launch", "no such job"])
def test_a_turn_does_not_begin_with_what_the_pod_has_not(change: dict[str, str]) -> None:
    story = SharedStory()
    decision = story.decide(story.turn(**change))
    assert waits_for_turn(decision)
    assert not has_begun(decision.status, UID)


def test_a_turn_does_not_begin_while_the_table_names_another_run() -> None:
    story = SharedStory()
    story.set_active_run("orders-write-00000000", "other")
    decision = story.decide(story.turn())
    assert story.run.status.attempts == ()
    assert not waits_for_turn(decision)


def test_a_turn_does_not_begin_while_a_driver_of_another_run_is_at_work() -> None:
    story = SharedStory()
    other = Story()
    other.reconcile()
    story.others = (pods.observed(other.run, 1, pods.running()),)
    story.decide(story.turn())
    assert story.run.status.attempts == ()


def test_a_manifest_that_became_wrong_ends_the_run_as_alone() -> None:
    story = SharedStory()
    turn = story.turn()
    story.launch_error = SpecError("spec.schema", "is wrong", "Correct it.", reason=Reason.INVALID_SPEC)
    story.decide(turn)
    assert story.run.status.phase is Phase.FAILED


ALONE = {
    "long work": {"long_work": True},
    "a host name of the table's": {"table_host_name": True},
}


@pytest.mark.parametrize("plan", ALONE.values(), ids=ALONE)
def test_a_launch_that_is_not_like_others_has_its_own_pod(plan: dict[str, object]) -> None:
    story = SharedStory()
    story.plan = plan
    assert any(each.startswith("Pod ") for each in created(story.decide()))


@pytest.mark.parametrize(("size", "shares"), [(MAX_JOB_BYTES, True), (MAX_JOB_BYTES + 1, False)])
def test_only_a_job_within_the_bound_shares_a_pod(size: int, shares: bool) -> None:
    story = SharedStory()
    member = story.member()
    padding = "w" * (size - len(member.job.encode()))
    job = story.launch().job
    longer = replace(job, catalog=replace(job.catalog, warehouse=job.catalog.warehouse + padding))
    assert (story.member_with(replace(story.launch(), job=longer)) is not None) is shares


def test_a_run_that_may_not_share_starts_alone() -> None:
    story = SharedStory()
    story.sharing = None
    assert any(each.startswith("Pod ") for each in created(story.decide()))


def test_no_operation_whose_lost_result_is_unknown_is_small() -> None:
    small = {each.type for each in registry.OPERATIONS.operations if each.small}
    unknown = {each.type for each in registry.OPERATIONS.operations if each.lost_result_is_unknown}
    assert small == {"Provision", "Observe", "ExpireSnapshots", "ExpirePartitions", "MarkPartitionsDone"}
    assert not small & unknown


def test_asking_again_for_a_turn_that_has_begun_changes_nothing() -> None:
    story = begun()
    before = story.run.status.attempts
    decision = story.decide(story.turn(), pods.running())
    assert has_begun(decision.status, UID)
    assert story.run.status.attempts == before


@pytest.mark.parametrize("status", [pods.running(), pods.ended(0), None], ids=["running", "ended", "gone"])
def test_a_reported_result_counts_whatever_the_pod_does(status: pods.Json | None) -> None:
    story = begun()
    turn = Turn(pod=story.turn().pod, result=pods.result(story.run))
    decision = story.decide(turn, status, later=7)
    assert story.run.status.phase is Phase.SUCCEEDED
    assert (story.run.status.cost and story.run.status.cost.pod_seconds) == 7
    assert decision.actions == (), "the Pod goes on"


def test_a_deleted_run_keeps_the_success_that_its_driver_reports() -> None:
    story = begun()
    story.cancel()
    decision = story.decide(Turn(pod=story.turn().pod, result=pods.result(story.run)), pods.running())
    assert (decision.finalizer, decision.actions, story.run.status.phase) == ("keep", (), Phase.SUCCEEDED)


def test_the_cost_of_a_turn_beside_others_is_its_share_of_the_time() -> None:
    story = begun()
    result = {**json.loads(pods.result(story.run)), "ms": {"session": 1, "total": 6900, "share": 1300}}
    story.decide(Turn(pod=story.turn().pod, result=json.dumps(result)), pods.running(), later=7)
    cost = story.run.status.cost
    assert cost is not None
    assert cost.pod_seconds == 2


def test_a_result_that_another_pod_reports_does_not_count() -> None:
    story = begun()
    turn = Turn(pod=replace(story.turn().pod, uid="another"), result=pods.result(story.run))
    story.decide(turn, pods.running())
    assert story.run.status.phase is Phase.RUNNING


REPORTED = {"Spec": (Phase.FAILED, "Spec"), "Infrastructure": (Phase.PENDING, None)}


@pytest.mark.parametrize("class_", REPORTED)
def test_a_reported_failure_has_the_class_of_the_result(class_: str) -> None:
    story = begun()
    text = pods.error(story.run, class_, "DriverFailed")
    story.decide(Turn(pod=story.turn().pod, result=text), pods.running())
    assert (story.run.status.phase, story.run.status.failure_class) == REPORTED[class_]


@pytest.mark.parametrize("text", ["", "no JSON", '{"version":1,"run":"another","operation":"Observe","ok":true}'])
def test_a_report_that_is_no_result_of_the_run_is_no_success(text: str) -> None:
    story = begun()
    story.decide(Turn(pod=story.turn().pod, result=text), pods.running())
    assert (story.attempt.state, story.attempt.reason) == (AttemptState.ENDED, "ResultMissing")


ENDS = {
    "without a result": (pods.ended(0), "ResultMissing"),
    "with an exit code of a driver": (pods.ended(20), "ResultMissing"),
    "killed": (pods.ended(137), "OutOfMemory"),
    "terminated": (pods.ended(143), "DriverFailed"),
    "out of memory": (pods.ended(3), "OutOfMemory"),
    "evicted": (pods.evicted(), "DiskFull"),
    "past its deadline": ({"phase": "Failed", "reason": "DeadlineExceeded"}, "ResultMissing"),
}


@pytest.mark.parametrize(("status", "reason"), ENDS.values(), ids=ENDS)
def test_the_end_of_the_pod_ends_the_turn_that_had_begun(status: pods.Json, reason: str) -> None:
    story = begun()
    decision = story.decide(None, status)
    assert (story.run.status.phase, story.attempt.reason) == (Phase.PENDING, reason)
    assert released(decision) == [], "another run may not have read its end"


def test_a_result_that_is_left_in_the_pod_is_read() -> None:
    story = begun()
    decision = story.decide(None, pods.ended(0, pods.result(story.run)))
    assert story.run.status.phase is Phase.SUCCEEDED
    assert released(decision) == []


def test_a_run_that_has_learned_to_need_more_memory_has_its_pod_alone() -> None:
    story = SharedStory()
    launch = story.launch()
    assert story.member_with(replace(launch, learned_memory_mib=launch.memory_mib)) is not None
    assert story.member_with(replace(launch, learned_memory_mib=2 * launch.memory_mib)) is None


MEMORY = {
    "running": (pods.running(), False),
    "killed": (pods.ended(137), False),
    "killed for its memory": (pods.ended(137, reason="OOMKilled"), True),
    "ended by Java for its memory": (pods.ended(3), True),
}


@pytest.mark.parametrize(("status", "expected"), MEMORY.values(), ids=MEMORY)
def test_only_what_is_known_to_be_an_end_by_memory_is_one(status: pods.Json, expected: bool) -> None:
    pod = begun().pod(status, UID)
    assert pod is not None
    assert ran_out_of_memory(pod) is expected


def test_a_run_with_a_single_attempt_has_its_pod_alone() -> None:
    story = SharedStory()
    story.run = story.run.model_copy(update={"spec": story.run.spec.model_copy(update={"backoff_limit": 0})})
    assert not waits_for_turn(story.decide())


@pytest.mark.parametrize(("status", "uid"), [(None, UID), (pods.running(), "another")], ids=["gone", "another Pod"])
def test_a_turn_whose_pod_is_gone_is_lost(status: pods.Json | None, uid: str) -> None:
    story = begun()
    story.decide(None, status, uid=uid)
    assert (story.attempt.state, story.attempt.reason) == (AttemptState.ENDED, "PodLost")


def test_the_second_attempt_has_a_pod_and_a_job_of_its_own() -> None:
    story = begun()
    story.decide(None, pods.evicted())
    decision = story.decide(None, later=600)
    assert created(decision) == [f"ConfigMap {story.run.metadata.name}", f"Pod {story.run.metadata.name}-2"]
    assert story.run.status.job is not None
    assert story.run.status.job.digest is not None
    assert not story.attempt.shared


def test_a_turn_beyond_its_deadline_stops_the_pod() -> None:
    story = begun()
    decision = story.decide(None, pods.running(), later=3600)
    assert story.attempt.state is AttemptState.STOPPING
    assert [each.name for each in decision.actions] == [POD]


def test_the_time_before_the_turn_does_not_count_for_its_deadline() -> None:
    """The container of the Pod may have run for long."""
    story = begun()
    story.decide(None, pods.running(started=story.now - timedelta(hours=2)), later=3599)
    assert story.attempt.state is AttemptState.RUNNING
    assert story.attempt.started == story.now - timedelta(seconds=3599)


def test_a_deleted_run_whose_turn_has_ended_leaves_the_pod_alone() -> None:
    story = begun()
    story.decide(Turn(pod=story.turn().pod, result=pods.result(story.run)), pods.running())
    story.set_active_run(None)
    story.cancel()
    decision = story.decide(None, pods.running())
    assert (decision.actions, decision.finalizer) == ((), "remove")


def test_a_deleted_run_that_waits_goes_at_once() -> None:
    story = SharedStory()
    story.decide()
    story.cancel()
    assert story.decide(story.turn()).finalizer == "remove"
    assert story.run.status.attempts == ()
