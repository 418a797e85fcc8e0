"""Attacks from one namespace on the work of another: names, references, forged objects, places for runs, load."""

from __future__ import annotations

import json
from typing import Final

from tests.apiserver.attacks.attack import MAKE_RUNS, MAKE_TABLES, Actor, Attack, Outcome, each
from tests.apiserver.attacks.attacker import ADMITTED, Answer, Attacker, first_refusal, weakest
from tests.apiserver.attacks.bed import MAX_RUNS, NIGHTLY, SECRET, VAULT, VICTIM, Bed, VictimHarmedError
from tests.apiserver.namespace_client import CATALOGS, RUNS, TABLES

_ADMINISTRATOR: Final = (Actor.ADMINISTRATOR,)
_ROLES: Final = (Actor.MAINTAINER, *MAKE_TABLES)
_MAINTAINER: Final = "`paimon-maintainer` in another namespace"
_OWNER: Final = "`paimon-table-owner` in another namespace"
_ADMIN: Final = "`paimon-administrator` in another namespace"


def _learn_names(bed: Bed, me: Attacker) -> Answer:
    """Reads all that the operator says about the rival's own objects."""
    name = bed.fresh("curious")
    got = me.create(bed.rivals(name))
    if got.refused:
        return got
    bed.require_claimed(name)
    bed.rival.wait_for_event("TableClaimed")
    events = bed.rival.core.list_namespaced_event(bed.rival.namespace).items
    said = [str(event.message) for event in events if event.involved_object.name == name]
    said += [json.dumps(each["status"]) for each in (*bed.rival.all(TABLES), *bed.rival.all(CATALOGS))]
    if not said or any(word in text for text in said for word in (VICTIM, VAULT, NIGHTLY)):
        raise VictimHarmedError("a message of the rival names an object of the victim")
    return got


def _references(bed: Bed, me: Attacker) -> Answer:
    name = bed.fresh("refers")
    refs = (
        {"spec__catalogRef": {"name": VAULT, "namespace": "shop"}},
        {"spec__catalogRef": {"name": f"shop/{VAULT}"}},
    )
    return weakest(*(me.create(bed.rivals(name, **ref)) for ref in refs))


def _run_of_another(bed: Bed, me: Attacker) -> Answer:
    return me.create(bed.run_of(bed.fresh("far"), f"shop/{VICTIM}"))


def _requests(bed: Bed, me: Attacker) -> Answer:
    """Every kind of request to the victim's namespace."""
    shop = bed.shop.namespace
    return weakest(
        me.create(bed.run_of("far", VICTIM), namespace=shop, dry=True),
        me.create(bed.rivals("far"), namespace=shop, dry=True),
        me.patch(TABLES, VICTIM, {"spec": {"suspend": True}}, namespace=shop),
        me.patch(CATALOGS, VAULT, {"spec": {"suspend": True}}, namespace=shop),
        me.patch(RUNS, NIGHTLY, {"metadata": {"finalizers": None}}, namespace=shop),
        me.patch_status(TABLES, VICTIM, {"activeRun": None}, namespace=shop),
        me.delete(RUNS, NIGHTLY, namespace=shop),
        me.delete(TABLES, VICTIM, namespace=shop),
        me.read_secret(SECRET, namespace=shop),
        me.create_pod({"metadata": {"name": "far"}, "spec": {"containers": []}}, namespace=shop, dry=True),
    )


def _owner_reference(bed: Bed, me: Attacker) -> Answer:
    """A run of the rival that the victim's table controls."""
    table = bed.shop.get(TABLES, VICTIM)
    owner = {"apiVersion": table["apiVersion"], "kind": "PaimonTable", "name": VICTIM, "controller": True}
    tied = bed.run_of(bed.fresh("tied"), "own", metadata__ownerReferences=[owner | {"uid": table["metadata"]["uid"]}])
    return me.create(tied)


def _pod_of_another_run(bed: Bed, me: Attacker) -> Answer:
    """A Pod of the rival with name, labels and owner of the victim's driver."""
    pod = bed.nightly.manifest
    spec = {"containers": [{"name": "driver", "image": "busybox"}], "restartPolicy": "Never"}
    metadata = {key: pod["metadata"][key] for key in ("name", "labels", "ownerReferences", "finalizers")}
    got = me.create_pod({"metadata": metadata, "spec": spec})
    if not got.refused:
        forged = bed.nightly.name
        bed.rival.wait(lambda: forged not in [pod.name for pod in bed.rival.pods()], "the forged Pod released")
        bed.require_new_table()
    return got


def _all_places(bed: Bed, me: Attacker) -> Answer:
    """Tables of the rival take all places for runs, and their Pods never start."""
    names = [bed.fresh("greedy") for _ in range(MAX_RUNS)]
    answers = [me.create(bed.rivals(name, spec__table=name.replace("-", "_"))) for name in names]
    got = first_refusal(*answers)
    if not got.refused:
        bed.rival.wait(lambda: sum(pod.is_active for pod in bed.rival.pods()) >= MAX_RUNS - 1, "all places taken")
        bed.require_new_table(bed.idle)
    return got


def _limit_of_a_namesake(bed: Bed, me: Attacker) -> Answer:
    """A catalog with the name of the victim's, whose limit one run uses up."""
    got = me.create(bed.rival_catalog(VAULT, spec__limits={"maxConcurrentRuns": 1}))
    if got.refused:
        return got
    name = bed.fresh("fills")
    got = me.create(bed.rivals(name, spec__table=name.replace("-", "_"), spec__catalogRef__name=VAULT))
    bed.rival.wait_for_pod(of=name)
    bed.require_new_table()
    return got


def _many_runs(bed: Bed, me: Attacker) -> Answer:
    """Twenty runs at once. How much they delay another namespace is measured elsewhere."""
    answers = [me.create(bed.run_of(bed.fresh("many"), "own")) for _ in range(20)]
    got = first_refusal(*answers)
    if not got.refused:
        bed.require_new_table()
    return got


def _large_tables(bed: Bed, me: Attacker) -> Answer:
    """A table almost as large as the CRD allows."""
    columns = [{"name": f"c{number}", "type": "STRING", "comment": "x" * 900} for number in range(240)]
    wide = bed.rivals(bed.fresh("large"), spec__table="large", spec__schema={"columns": columns}, spec__suspend=True)
    got = me.create(wide)
    if not got.refused:
        bed.require_new_table()
    return got


def _priority(bed: Bed, me: Attacker) -> Answer:
    overlay = {"priorityClassName": "system-node-critical"}
    return me.create(bed.rival_catalog(bed.fresh("critical"), spec__spark={"podOverlay": overlay}))


def _hostile_result(bed: Bed, me: Attacker) -> Answer:
    """The rival's driver reports terminal escapes and numbers that no status can hold."""
    name = bed.fresh("hostile")
    bed.rival.create(bed.run_of(name, "own"))
    me.made.append((RUNS, name))
    pod = bed.rival.wait_for_pod(of="own")
    measure = {"schemaId": 0, "snapshotId": 10**30, "bucketMode": "\x1b[2J", "files": -(10**30), "rows": 1}
    bed.rival.succeed(pod, table=measure | {"sizeBytes": 10**40})
    bed.rival.wait(lambda: bed.rival.get(RUNS, name)["status"]["attempts"][0]["state"] == "Ended", "the end")
    stored = json.dumps([bed.rival.get(RUNS, name)["status"], bed.rival.get(TABLES, "own")["status"]])
    if "\\u001b" in stored or "0" * 30 in stored:
        raise VictimHarmedError("the status holds what the driver invented")
    bed.require_new_table()
    return ADMITTED


TENANTS: Final = (
    Attack(
        id="requests",
        title="Reach into another namespace",
        who="every role in another namespace",
        how="Create, change and delete catalogs, tables, runs and Pods there, patch a status, read a Secret.",
        why="The roles are bound by RoleBindings, so RBAC refuses every request.",
        tests=("tests/apiserver/test_tenants.py::test_an_attack_comes_to_what_its_row_says",),
        attempt=_requests,
    ),
    Attack(
        id="references",
        title="Use the catalog of another namespace",
        who=_OWNER,
        how="`spec.catalogRef` names a namespace, or a path with a slash.",
        why="A reference is a name in the same namespace: the CRD has no field and no pattern for another one.",
        tests=("tests/apiserver/test_crds_refuse.py",),
        expected=each(MAKE_TABLES, Outcome.RULE),
        attempt=_references,
    ),
    Attack(
        id="run-of-another",
        title="Start a run on a table of another namespace",
        who=_MAINTAINER,
        how="`spec.tableRef` of a run names a path with a slash.",
        why="A reference is a name in the same namespace.",
        tests=("tests/apiserver/test_crds_refuse.py",),
        expected=each(MAKE_RUNS, Outcome.RULE),
        attempt=_run_of_another,
    ),
    Attack(
        id="learn-names",
        title="Learn the names of objects of another namespace",
        findings=("S1",),
        who=_OWNER,
        how="Read every status and Event of objects that collide with those of another namespace.",
        why="A message names another object only in that object's own namespace.",
        tests=(
            "tests/core/commits/test_table_claims.py::test_the_name_of_another_object_is_told_in_its_own_namespace_only",
            "tests/core/commits/test_warehouses.py::test_the_name_of_a_catalog_is_told_in_its_own_namespace_only",
        ),
        expected=each(MAKE_TABLES, Outcome.WITHOUT_EFFECT),
        attempt=_learn_names,
    ),
    Attack(
        id="owner-of-another",
        title="Tie a run to a table of another namespace",
        who=_MAINTAINER,
        how="A run has an owner reference to that table, with its UID.",
        why="The policy refuses a table as controller. The operator looks for runs in the table's namespace only.",
        without="The run is admitted, and changes nothing of that table.",
        tests=("tests/apiserver/test_admission_of_runs.py::test_a_run_of_a_user_is_not_controlled_by_a_table",),
        expected=each(MAKE_RUNS, Outcome.POLICY),
        expected_without=each(MAKE_RUNS, Outcome.WITHOUT_EFFECT),
        attempt=_owner_reference,
    ),
    Attack(
        id="pod-of-another-run",
        title="Forge a driver of a run of another namespace",
        who="Kubernetes' `edit` in another namespace",
        how="A Pod has the name, the labels and the owner reference of that driver.",
        why="The operator looks for the Pods of a run in the run's namespace only.",
        tests=("tests/runtime/test_one_run_per_table.py",),
        expected={Actor.EDITOR: Outcome.WITHOUT_EFFECT},
        attempt=_pod_of_another_run,
    ),
    Attack(
        id="all-places",
        title="Hold all places for runs",
        findings=("S11",),
        who=_OWNER,
        how="As many tables as the operator's `limits.maxConcurrentRuns` have runs whose Pods never end.",
        why="A namespace without an active run may always start one.",
        tests=("tests/core/table/test_run_slots.py::test_the_runs_of_one_namespace_never_keep_another_one_from_a_run",),
        expected=each(MAKE_TABLES, Outcome.WITHOUT_EFFECT),
        attempt=_all_places,
    ),
    Attack(
        id="limit-of-a-namesake",
        title="Use up the limit of a catalog of another namespace",
        who=_ADMIN,
        how="A catalog of the same name has `limits.maxConcurrentRuns: 1` and an active run.",
        why="A catalog's limit counts the runs of its own namespace.",
        tests=("tests/core/table/test_run_slots.py",),
        expected=each(_ADMINISTRATOR, Outcome.WITHOUT_EFFECT),
        attempt=_limit_of_a_namesake,
    ),
    Attack(
        id="priority-of-the-system",
        title="Evict Pods of another namespace",
        who=_ADMIN,
        how="`spec.spark.podOverlay.priorityClassName` of a catalog names a class of the system.",
        why="A rule of the CRD, the operator and the policy for its account refuse `system-...`.",
        tests=(
            "tests/core/validation/test_spark_conf.py::test_a_reserved_spark_setting_is_refused_with_a_remedy",
            "tests/apiserver/test_operator_account.py::test_the_account_creates_no_pod_with",
        ),
        expected=each(_ADMINISTRATOR, Outcome.RULE),
        attempt=_priority,
    ),
    Attack(
        id="many-runs",
        title="Delay another namespace by load",
        findings=("S11",),
        who=_MAINTAINER,
        how="Create runs as fast as the API server takes them.",
        why="The rate of requests is shared fairly by namespace, so the other namespace's objects are not behind them.",
        without="The same; a user without the verb `compact` then can too.",
        tests=("tests/runtime/test_fairness.py", "tests/apiserver/test_operator_fairness.py"),
        expected={Actor.RUNS: Outcome.POLICY, **each(_ROLES, Outcome.WITHOUT_EFFECT)},
        expected_without=each(MAKE_RUNS, Outcome.WITHOUT_EFFECT),
        attempt=_many_runs,
    ),
    Attack(
        id="large-tables",
        title="Kill the operator by large objects",
        findings=("S4",),
        who=_OWNER,
        how="Create PaimonTables as large as the CRD allows.",
        why="A spec has at most 256 KiB, and the operator keeps only the parts of an object that it reads.",
        tests=(
            "tests/runtime/test_projection.py",
            "tests/runtime/test_large_specs.py",
            "tests/apiserver/test_spec_size.py",
        ),
        expected=each(MAKE_TABLES, Outcome.WITHOUT_EFFECT),
        attempt=_large_tables,
    ),
    Attack(
        id="hostile-result",
        title="Make a status that cannot be stored",
        findings=("S10",),
        who="a driver that was taken over, in another namespace",
        how="Its result has terminal escapes, and numbers beyond 64 bits.",
        why="The operator takes only printable text and bounded numbers from a result.",
        tests=(
            "tests/api/test_run_result.py",
            "tests/contract/test_contract.py::test_a_result_with_a_value_that_no_status_can_hold_is_a_contract_error",
        ),
        actors=(Actor.DRIVER,),
        expected={Actor.DRIVER: Outcome.WITHOUT_EFFECT},
        attempt=_hostile_result,
    ),
)
