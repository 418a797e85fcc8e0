"""Who may make which PaimonRun: the chart's admission policy on a real API server, tried by people who want more."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest
from kubernetes import client

from paimon_operator.core.naming import FINALIZER, run_name
from paimon_operator.core.operations.registry import OPERATIONS
from tests.apiserver.rights import RELEASE, Rights
from tests.apiserver.stage import GROUP, RUNS, TABLES, Stage
from tests.apiserver.users import ALLOWED, Person, Right, table_owner
from tests.cluster import programs
from tests.cluster.apiserver import ApiServer
from tests.support.manifests import REMOVED, Manifest, edited, keyed_table, run

EXPIRY: dict[str, object] = {"spec__type": "ExpireSnapshots", "spec__compact": REMOVED}
DROP: dict[str, object] = {"spec__type": "Drop", "spec__compact": REMOVED, "spec__trigger": {"type": "Deletion"}}
SCHEDULED: dict[str, object] = {"spec__trigger": {"type": "Schedule", "message": "due at 03:00"}}


@pytest.fixture(scope="module")
def stage(api_server: ApiServer) -> Iterator[Stage]:
    stage = Stage(api_server.kubeconfig, "who-may")
    for name in ("orders", "payroll"):
        stage.create(edited(keyed_table(spec__writes=REMOVED), metadata__name=name))
    stage.create(run(metadata__name="there", metadata__finalizers=[FINALIZER]))
    yield stage
    stage.close()


@pytest.fixture(scope="module")
def rights(api_server: ApiServer, stage: Stage) -> Iterator[Rights]:
    """The policy at work: it takes a moment until the API server goes by it."""
    rights = Rights(api_server, stage)
    nobody = Person.with_rights(api_server, stage, "nobody", [Right(("create",))])
    stage.wait(lambda: "verb compact" in nobody.creates(run()), "the policy at work")
    yield rights
    rights.close()


@pytest.fixture(scope="module")
def jane(api_server: ApiServer, stage: Stage, rights: Rights) -> Person:
    """May create runs, and compact the table `orders`."""
    only_compact = Right(("compact",), TABLES, ("orders",))
    made = Person.with_rights(api_server, stage, "jane", [Right(("create", "patch", "get")), only_compact])
    stage.wait(lambda: made.creates(run()) == ALLOWED, "her rights at work")
    return made


@pytest.fixture(scope="module")
def admin(api_server: ApiServer, stage: Stage, rights: Rights) -> Person:
    return Person(stage, api_server.kubeconfig)


@pytest.fixture(scope="module")
def operator(stage: Stage, rights: Rights) -> Person:
    return Person(stage, rights.kubeconfig)


def own(stage: Stage, type_: str = "Provision", table: str = "orders", **edits: object) -> Manifest:
    """A run as the operator makes it."""
    name = run_name(table=table, table_uid="uid", action=type_, trigger="spec")
    owner = table_owner(stage.get(TABLES, table))
    usual = run(
        metadata__name=name,
        metadata__finalizers=[FINALIZER],
        metadata__ownerReferences=[owner],
        spec__tableRef__name=table,
        spec__type=type_,
        spec__compact=REMOVED,
        **SCHEDULED,
    )
    return edited(usual, **edits)


# Whoever has the verb


def test_the_verb_on_the_table_is_enough(jane: Person) -> None:
    assert jane.creates(run(metadata__name="by-hand")) == ALLOWED


def test_a_name_that_the_api_server_makes_up_is_as_good(jane: Person) -> None:
    assert jane.creates(run(metadata__name=REMOVED, metadata__generateName="orders-compact-")) == ALLOWED


@pytest.mark.parametrize(
    ("edits", "words"),
    [
        pytest.param({"spec__tableRef__name": "payroll"}, "verb compact on paimontables/payroll", id="other table"),
        pytest.param({"spec__tableRef__name": "nowhere"}, "verb compact on paimontables/nowhere", id="no table"),
        pytest.param(EXPIRY, "verb expiresnapshots on paimontables/orders is missing", id="other type"),
    ],
)
def test_the_verb_is_good_for_one_type_on_one_table(jane: Person, edits: dict[str, Any], words: str) -> None:
    said = jane.creates(run(**edits))
    assert words in said
    assert said.count("jane") == 2, "who lacks it, and to whom it is granted"


def test_what_the_message_says_is_what_helps(api_server: ApiServer, stage: Stage, rights: Rights) -> None:
    name = f"system:serviceaccount:{stage.namespace}:default"
    Person.with_rights(api_server, stage, "ci", [Right(("create",))])
    rbac = client.RbacAuthorizationV1Api(stage.client)
    rbac.patch_namespaced_role_binding("ci", stage.namespace, {"subjects": [{"kind": "User", "name": name}]})
    ci = Person(stage, api_server.service_account_kubeconfig(stage.namespace, "default"))
    said = stage.wait(lambda: _if(ci.creates(run(**EXPIRY)), "paimontables/orders"), "the right to create")

    (kubectl,) = programs.build(["kubectl"])
    for command in said[said.index("kubectl -n") :].split(" && "):
        subprocess.run(
            [kubectl, f"--kubeconfig={api_server.kubeconfig}", *shlex.split(command)[1:]],
            check=True,
            capture_output=True,
        )

    stage.wait(lambda: ci.creates(run(**EXPIRY)) == ALLOWED, "the verb")
    assert "verb compact" in ci.creates(run())


# What somebody might try who has the verb for one table


@pytest.mark.parametrize("type_", OPERATIONS.types)
def test_nobody_takes_a_name_that_the_operator_may_need(jane: Person, type_: str) -> None:
    name = run_name(table="payroll", table_uid="uid", action=type_, subject="import", trigger="spec")
    assert "looks like one that the operator gives" in jane.creates(run(metadata__name=name))


@pytest.mark.parametrize(
    ("edits", "words"),
    [
        pytest.param(SCHEDULED, "spec.trigger is written by the operator only", id="as if it were scheduled"),
        pytest.param(DROP, "runs of type Drop", id="a drop"),
        pytest.param({"metadata__finalizers": ["a.test/x"]}, "paimonruns/finalizers", id="a run that cannot go"),
        pytest.param({"metadata__finalizers": [FINALIZER]}, "paimonruns/finalizers", id="our finalizer"),
    ],
)
def test_a_verb_is_no_way_to_more(jane: Person, edits: dict[str, Any], words: str) -> None:
    assert words in jane.creates(run(**edits))


def test_a_run_of_a_user_is_not_controlled_by_a_table(jane: Person, stage: Stage) -> None:
    table = stage.get(TABLES, "orders")
    assert "controlled by a PaimonTable" in jane.creates(run(metadata__ownerReferences=[table_owner(table)]))
    assert jane.creates(run(metadata__ownerReferences=[table_owner(table, controller=False)])) == ALLOWED


@pytest.mark.parametrize(
    ("metadata", "said"),
    [
        pytest.param({"finalizers": None}, "paimonruns/finalizers", id="frees a run"),
        pytest.param({"finalizers": [FINALIZER, "a.test/x"]}, "paimonruns/finalizers", id="holds a run"),
        pytest.param(
            {"ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "gone", "uid": "gone"}]},
            "paimonruns/finalizers",
            id="has a run collected",
        ),
        pytest.param({"labels": {"a.test/team": "shop"}}, ALLOWED, id="labels a run"),
    ],
)
def test_who_may_patch_runs_may_not_decide_when_they_go(jane: Person, metadata: dict[str, Any], said: str) -> None:
    answer = jane.patches("there", {"metadata": metadata})
    assert answer == said if said == ALLOWED else said in answer


# Administrators, and the operator


def test_an_administrator_may_free_a_run_and_make_any_run_of_users_but_none_of_the_operators(
    admin: Person, stage: Stage
) -> None:
    assert admin.patches("there", {"metadata": {"finalizers": None}}) == ALLOWED
    assert [admin.creates(made) for made in (run(), run(**EXPIRY))] == [ALLOWED, ALLOWED]
    assert "by the operator only" in admin.creates(own(stage))
    assert "by the operator only" in admin.creates(own(stage, "Drop"))


def test_the_operator_makes_its_own_runs_and_frees_every_run(operator: Person, stage: Stage) -> None:
    member = {"Write": {"spec__write": {"name": "import"}}, "Compact": {"spec__compact": {"strategy": "Full"}}}
    for type_ in OPERATIONS.types:
        assert operator.creates(own(stage, type_, **member.get(type_, {}))) == ALLOWED, type_
    assert operator.patches("there", {"metadata": {"finalizers": None}}) == ALLOWED


@pytest.mark.parametrize(
    "edits",
    [
        pytest.param({"metadata__name": "by-hand"}, id="a user's name"),
        pytest.param({"metadata__ownerReferences": REMOVED}, id="nobody's"),
        pytest.param({"metadata__ownerReferences__0__name": "payroll"}, id="another table's"),
        pytest.param({"spec__type": "ExpireSnapshots", "spec__trigger": REMOVED}, id="without a reason"),
    ],
)
def test_what_the_operator_makes_looks_like_it(operator: Person, stage: Stage, edits: dict[str, Any]) -> None:
    assert "a run of the operator has" in operator.creates(own(stage, **edits))


def test_an_account_of_the_operators_name_elsewhere_is_not_the_operator(api_server: ApiServer, stage: Stage) -> None:
    elsewhere = Stage(api_server.kubeconfig, "who-may-elsewhere")
    elsewhere.core.create_namespaced_service_account(elsewhere.namespace, {"metadata": {"name": RELEASE}})
    name = f"system:serviceaccount:{elsewhere.namespace}:{RELEASE}"
    Person.with_rights(api_server, stage, "namesake", [Right(("create",))])
    rbac = client.RbacAuthorizationV1Api(stage.client)
    rbac.patch_namespaced_role_binding("namesake", stage.namespace, {"subjects": [{"kind": "User", "name": name}]})
    namesake = Person(stage, api_server.service_account_kubeconfig(elsewhere.namespace, RELEASE))
    stage.wait(lambda: "by the operator only" in namesake.creates(own(stage)), "refused by the policy, not by RBAC")
    elsewhere.close()


# The policy itself


def test_the_api_server_finds_nothing_wrong_with_the_types_of_the_policy(rights: Rights, stage: Stage) -> None:
    checked = stage.wait(lambda: rights.policy().status.type_checking, "the types checked")
    assert checked.expression_warnings is None


def test_the_widest_metadata_is_within_the_limits_of_cel(jane: Person, admin: Person, stage: Stage) -> None:
    """A request may have 3 MB; this is what a person could put in by hand many times over."""
    other = {"apiVersion": "v1", "kind": "ConfigMap"}
    owners = [other | {"name": f"owner-{n}", "uid": f"uid-{n}"} for n in range(1000)]
    finalizers = [f"a.test/{n}" for n in range(1000)]
    wide = run(metadata__ownerReferences=owners, metadata__name="x" * 60)
    assert jane.creates(wide) == ALLOWED
    assert admin.creates(edited(wide, metadata__finalizers=finalizers)) == ALLOWED
    said = jane.patches("there", {"metadata": {"finalizers": finalizers, "ownerReferences": owners}})
    assert "paimonruns/finalizers" in said


def test_the_garbage_collector_may_take_off_the_finalizer_of_a_foreground_deletion(stage: Stage) -> None:
    what = {"verb": "update", "group": GROUP, "resource": RUNS, "subresource": "finalizers"}
    user = "system:serviceaccount:kube-system:generic-garbage-collector"
    body = {"spec": {"user": user, "resourceAttributes": {"namespace": stage.namespace, **what}}}
    assert client.AuthorizationV1Api(stage.client).create_subject_access_review(body).status.allowed


def test_where_the_operator_does_not_watch_the_policy_asks_nothing(api_server: ApiServer, rights: Rights) -> None:
    elsewhere = Stage(api_server.kubeconfig, "who-may-unwatched")
    somebody = Person.with_rights(api_server, elsewhere, "somebody", [Right(("create",))])
    elsewhere.wait(lambda: somebody.creates(run()) == ALLOWED, "another operator's affair, or nobody's")
    elsewhere.close()


def test_types_for_users_need_no_trigger_and_all_others_do(admin: Person) -> None:
    """The policy keeps the trigger for the operator; that a type belongs to the operator is the CRD's rule."""
    for type_ in set(OPERATIONS.types) - set(OPERATIONS.on_demand):
        member = {"spec__write": {"name": "import"}} if type_ == "Write" else {}
        said = admin.creates(run(spec__type=type_, spec__compact=REMOVED, **member))
        assert "only the operator starts runs of this type" in said, type_


def _if(said: str, words: str) -> str:
    return said if words in said else ""
