"""Attacks by runs, in the namespace of their table: forged runs, cancelled runs, runs that hold their table."""

from __future__ import annotations

from typing import Final

from paimon_operator.core.naming import FINALIZER, run_name
from tests.apiserver.attacks.attack import MAKE_RUNS, MAKE_TABLES, PATCH_RUNS, Actor, Attack, Outcome, Scope, each
from tests.apiserver.attacks.attacker import Answer, Attacker, weakest
from tests.apiserver.attacks.bed import HADOOP_CONF, NIGHTLY, SCRATCH, VICTIM, Bed, VictimHarmedError
from tests.apiserver.namespace_client import RUNS, TABLES
from tests.support.manifests import REMOVED, Manifest

_RUNS: Final = "tests/apiserver/test_admission_of_runs.py"
_DELETIONS: Final = "tests/apiserver/test_admission_of_deletions.py"
_CREATE: Final = "`create` on `paimonruns`"
_MAINTAINER: Final = "`paimon-maintainer`"
_ROLES: Final = (Actor.MAINTAINER, *MAKE_TABLES)
_WITH_FINALIZERS: Final = (Actor.ADMINISTRATOR,)
_WITHOUT_FINALIZERS: Final = (Actor.MAINTAINER, Actor.OWNER, Actor.EDITOR, Actor.RUNS)
_DROP: Final[dict[str, object]] = {"spec__type": "Drop", "spec__compact": REMOVED}


def _forged(bed: Bed, me: Attacker, manifest: Manifest) -> Answer:
    """Creates a run that must get no Pod."""
    got, name = me.create(manifest), manifest["metadata"]["name"]
    if got.refused:
        return got
    waits = bed.shop.wait(lambda: _succeeded(bed, name), f"what the operator says about {name}")
    if waits["reason"] not in ("WaitingForTable", "InvalidSpec"):
        raise VictimHarmedError(f"{name}: {waits}")
    if any(pod.run == name for pod in bed.shop.pods()):
        raise VictimHarmedError(f"{name} has a Pod")
    return got


def _succeeded(bed: Bed, name: str) -> Manifest | None:
    conditions = (bed.shop.get(RUNS, name).get("status") or {}).get("conditions") or ()
    found: Manifest | None = next((each for each in conditions if each["type"] == "Succeeded"), None)
    return found


def _drop(bed: Bed, me: Attacker) -> Answer:
    return _forged(bed, me, bed.run_of(bed.fresh("drop"), VICTIM, **_DROP, spec__trigger={"type": "Deletion"}))


def _schedule(bed: Bed, me: Attacker) -> Answer:
    due = {"type": "Schedule", "message": "due at 03:00"}
    return _forged(bed, me, bed.run_of(bed.fresh("schedule"), VICTIM, spec__trigger=due))


def _type(bed: Bed, me: Attacker) -> Answer:
    """A run of each type that only the operator starts, without a trigger."""
    types: tuple[dict[str, object], ...] = (
        _DROP,
        {"spec__type": "Provision", "spec__compact": REMOVED},
        {"spec__type": "Write", "spec__compact": REMOVED, "spec__write": {"name": "import"}},
    )
    return weakest(*(me.create(bed.run_of(bed.fresh("type"), VICTIM, **edits)) for edits in types))


def _name(bed: Bed, me: Attacker) -> Answer:
    """The name that the operator would give to a run of the victim."""
    uid = bed.shop.get(TABLES, VICTIM)["metadata"]["uid"]
    name = run_name(table=VICTIM, table_uid=uid, action="Compact", trigger=bed.fresh("tick"))
    return _forged(bed, me, bed.run_of(name, VICTIM))


def _controlled(bed: Bed, me: Attacker) -> Answer:
    table = bed.shop.get(TABLES, VICTIM)
    owner = {"apiVersion": table["apiVersion"], "kind": "PaimonTable", "name": VICTIM, "controller": True}
    refs = [owner | {"uid": table["metadata"]["uid"]}]
    return _forged(bed, me, bed.run_of(bed.fresh("controlled"), VICTIM, metadata__ownerReferences=refs))


def _without_verb(bed: Bed, me: Attacker) -> Answer:
    return me.create(bed.run_of(bed.fresh("compaction")), dry=True)


def _held(bed: Bed, me: Attacker) -> Answer:
    return me.create(bed.run_of(bed.fresh("held"), metadata__finalizers=["a.test/for-ever"]), dry=True)


def _released(bed: Bed, me: Attacker) -> Answer:
    return weakest(
        me.patch(RUNS, NIGHTLY, {"metadata": {"finalizers": None}}),
        me.patch(RUNS, NIGHTLY, {"metadata": {"finalizers": [FINALIZER, "a.test/for-ever"]}}),
    )


def _tied(bed: Bed, me: Attacker) -> Answer:
    """An owner that does not exist: the garbage collector would delete the run."""
    gone = {"apiVersion": "v1", "kind": "ConfigMap", "name": "gone", "uid": "gone"}
    return me.patch(RUNS, NIGHTLY, {"metadata": {"ownerReferences": [gone]}})


def _edited(bed: Bed, me: Attacker) -> Answer:
    return me.patch(RUNS, NIGHTLY, {"spec": {"tableRef": {"name": SCRATCH}}})


def _cancelled(bed: Bed, me: Attacker) -> Answer:
    return me.delete(RUNS, NIGHTLY)


def _status(bed: Bed, me: Attacker) -> Answer:
    return me.patch_status(RUNS, NIGHTLY, {"phase": "Succeeded"})


def _endless(bed: Bed, me: Attacker) -> Answer:
    return me.create(bed.run_of(bed.fresh("endless"), VICTIM, spec__activeDeadline="99999d"))


def _config_map_name(bed: Bed, me: Attacker) -> Answer:
    """A run named like the ConfigMap of the catalog."""
    got = me.create(bed.run_of(HADOOP_CONF))
    if not got.refused:
        pod = bed.shop.wait_for_pod(of=SCRATCH)
        assert (pod.name, pod.config_map) == (f"paimon-run-{HADOOP_CONF}-1", f"paimon-run-{HADOOP_CONF}")
        bed.shop.succeed(pod)
        bed.shop.wait_for_condition(RUNS, HADOOP_CONF, "Succeeded", "True")
    return got


INSIDE_RUNS: Final = (
    Attack(
        id="forged-drop",
        title="Drop a table by a run",
        scope=Scope.SHOP,
        who=_CREATE,
        how="A run of type `Drop` has `spec.trigger`, as the operator's runs have.",
        why="The policy leaves `spec.trigger` to the operator.",
        without="The run gets no Pod: `status.activeRun` of the table does not name its UID.",
        tests=("tests/apiserver/test_operator_happy_path.py::test_a_forged_drop_gets_no_pod",),
        expected=each(MAKE_RUNS, Outcome.POLICY),
        expected_without=each(MAKE_RUNS, Outcome.WITHOUT_EFFECT),
        attempt=_drop,
    ),
    Attack(
        id="forged-schedule",
        title="Start a run in the operator's name",
        scope=Scope.SHOP,
        who=_CREATE,
        how="A run says that a schedule triggered it.",
        why="The policy leaves `spec.trigger` to the operator.",
        without="The run gets no Pod: `status.activeRun` of the table does not name its UID.",
        tests=(f"{_RUNS}::test_the_verb_gives_no_other_right",),
        expected=each(MAKE_RUNS, Outcome.POLICY),
        expected_without=each(MAKE_RUNS, Outcome.WITHOUT_EFFECT),
        attempt=_schedule,
    ),
    Attack(
        id="operators-type",
        title="Start a run of a type that only the operator starts",
        scope=Scope.SHOP,
        who=_CREATE,
        how="A run of type `Provision`, `Write` or `Drop` has no `spec.trigger`.",
        why="A rule of the CRD requires the trigger for these types.",
        tests=(f"{_RUNS}::test_types_for_users_need_no_trigger_and_all_others_do",),
        expected=each(MAKE_RUNS, Outcome.RULE),
        attempt=_type,
    ),
    Attack(
        id="operators-name",
        title="Take the name of the operator's next run",
        scope=Scope.SHOP,
        who=_CREATE,
        how="A run has a name like `<table>-<type>-<8 hex digits>`, which can be computed.",
        why="The policy refuses these names to everyone else.",
        without="The operator takes no run for its own that the table does not control. The table reports `NameTaken`.",
        tests=(
            f"{_RUNS}::test_a_name_of_the_operators_form_is_refused",
            "tests/runtime/test_reconcile_faults.py"
            "::test_a_name_taken_by_the_run_of_another_table_is_reported_until_it_is_free",
        ),
        expected=each(MAKE_RUNS, Outcome.POLICY),
        expected_without=each(MAKE_RUNS, Outcome.WITHOUT_EFFECT),
        attempt=_name,
    ),
    Attack(
        id="controlled-run",
        title="Pass a run off as the operator's",
        scope=Scope.SHOP,
        who=_CREATE,
        how="A run has the PaimonTable as its controller.",
        why="The policy refuses this owner reference to everyone else.",
        without="The run is a user's run: only `status.activeRun` makes it the operator's.",
        tests=(f"{_RUNS}::test_a_run_of_a_user_is_not_controlled_by_a_table",),
        expected=each(MAKE_RUNS, Outcome.POLICY),
        expected_without=each(MAKE_RUNS, Outcome.WITHOUT_EFFECT),
        attempt=_controlled,
    ),
    Attack(
        id="without-the-verb",
        title="Start a run without the verb of its type",
        scope=Scope.SHOP,
        who=f"{_CREATE} alone",
        how="A run of type `Compact` names any table.",
        why="The policy requires the verb `compact` on that PaimonTable. The roles for users have it.",
        without="`create` on `paimonruns` is enough for every type that users may start, on every table.",
        tests=(f"{_RUNS}::test_the_verb_admits_one_type_on_one_table",),
        expected={Actor.RUNS: Outcome.POLICY, **each(_ROLES, Outcome.ADMITTED)},
        expected_without=each(MAKE_RUNS, Outcome.ADMITTED),
        attempt=_without_verb,
    ),
    Attack(
        id="run-with-a-finalizer",
        title="Hold a table by a run that cannot be deleted",
        scope=Scope.SHOP,
        who=_MAINTAINER,
        how="A run is created with a finalizer.",
        why="The policy requires `update` on `paimonruns/finalizers`, which only administrators have.",
        without="The run and its table stay until an administrator removes the finalizer.",
        tests=(f"{_RUNS}::test_the_verb_gives_no_other_right",),
        expected={
            **each(_WITHOUT_FINALIZERS, Outcome.POLICY),
            **each(_WITH_FINALIZERS, Outcome.ADMITTED),
        },
        expected_without=each(MAKE_RUNS, Outcome.ADMITTED),
        attempt=_held,
    ),
    Attack(
        id="finalizer-of-a-run",
        title="Release a run whose driver is running",
        scope=Scope.SHOP,
        who="`patch` on `paimonruns`",
        how="Remove the finalizer of a run, or add one.",
        why="The policy requires `update` on `paimonruns/finalizers`, which only administrators have.",
        without="The run can be released. No other run starts before its Pod has ended.",
        tests=(
            f"{_RUNS}::test_a_user_who_can_patch_runs_cannot_change_finalizers_or_owners",
            "tests/apiserver/test_operator_pods.py"
            "::test_no_other_run_creates_a_pod_while_the_driver_of_a_run_released_by_hand_is_running",
        ),
        expected={Actor.RUNS: Outcome.POLICY, **each(_WITH_FINALIZERS, Outcome.ADMITTED)},
        expected_without=each(PATCH_RUNS, Outcome.ADMITTED),
        attempt=_released,
    ),
    Attack(
        id="owner-of-a-run",
        title="Have the garbage collector cancel a run",
        scope=Scope.SHOP,
        who="`patch` on `paimonruns`",
        how="Give a run an owner that does not exist.",
        why="The policy requires `update` on `paimonruns/finalizers`, which only administrators have.",
        without="`patch` on `paimonruns` is enough to cancel a run.",
        tests=(f"{_RUNS}::test_a_user_who_can_patch_runs_cannot_change_finalizers_or_owners",),
        expected={Actor.RUNS: Outcome.POLICY, **each(_WITH_FINALIZERS, Outcome.ADMITTED)},
        expected_without=each(PATCH_RUNS, Outcome.ADMITTED),
        attempt=_tied,
    ),
    Attack(
        id="edited-run",
        title="Turn a run into another one",
        scope=Scope.SHOP,
        who="`patch` on `paimonruns`",
        how="Change `spec.tableRef` of a run that is active.",
        why="A rule of the CRD makes the spec of a run immutable.",
        tests=("tests/apiserver/test_crds_refuse.py::test_the_identity_of_an_object_is_immutable",),
        expected=each(PATCH_RUNS, Outcome.RULE),
        attempt=_edited,
    ),
    Attack(
        id="cancel",
        title="Cancel the run of another user",
        scope=Scope.SHOP,
        who="`paimon-maintainer`, or `delete` on `paimonruns`",
        how="Delete a run that has started.",
        why="The policy requires the verb `cancel` on its table, which table owners and administrators have.",
        without="`delete` on `paimonruns` is enough. The chart's `paimon-maintainer` then has no `delete`.",
        tests=(f"{_DELETIONS}::test_a_maintainer_cancels_no_run",),
        expected={
            **each((Actor.MAINTAINER, Actor.RUNS), Outcome.POLICY),
            **each(MAKE_TABLES, Outcome.ADMITTED),
        },
        expected_without={Actor.MAINTAINER: Outcome.RBAC, Actor.RUNS: Outcome.ADMITTED},
        attempt=_cancelled,
    ),
    Attack(
        id="status-of-a-run",
        title="Forge the result of a run",
        scope=Scope.SHOP,
        who="`patch` on `paimonruns/status`, which no role gives",
        how="Write `phase: Succeeded` into the status of a run that is active.",
        why="RBAC refuses it: only the operator's account may write a status.",
        tests=("tests/apiserver/test_chart.py",),
        attempt=_status,
    ),
    Attack(
        id="endless-run",
        title="Hold a table by a run whose Pod Kubernetes refuses",
        findings=("S3",),
        scope=Scope.SHOP,
        who=_MAINTAINER,
        how="A run has `activeDeadline: 99999d`, which no Pod can have.",
        why="A rule of the CRD allows at most 30 days. A run of an older CRD is cut to what a Pod can have.",
        tests=(
            "tests/core/run/test_machine_never_started.py::test_a_deadline_that_an_older_crd_took_fits_into_a_pod",
            "tests/core/run/test_machine_never_started.py"
            "::test_a_users_run_whose_pod_is_refused_fails_within_an_hour_and_says_what_to_do",
        ),
        expected=each(MAKE_RUNS, Outcome.RULE),
        attempt=_endless,
    ),
    Attack(
        id="name-of-a-config-map",
        title="Take the name of an application's object",
        findings=("S3",),
        scope=Scope.SHOP,
        who=_MAINTAINER,
        how="A run is named like the ConfigMap of the catalog.",
        why="The ConfigMap and the Pods of a user's run are named `paimon-run-<run>`.",
        without="The same for those who may create the run: see `without-the-verb`.",
        tests=("tests/core/run/test_machine_names.py::test_a_users_run_names_its_objects_with_a_prefix",),
        expected={Actor.RUNS: Outcome.POLICY, **each(_ROLES, Outcome.WITHOUT_EFFECT)},
        expected_without=each(MAKE_RUNS, Outcome.WITHOUT_EFFECT),
        attempt=_config_map_name,
    ),
)
