"""The chart's admission policy of PaimonRuns on a real API server: which user can create which run."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import Any

import pytest
from kubernetes.client import V1TypeChecking

from paimon_operator.core.naming import FINALIZER, config_map_name, run_name
from paimon_operator.core.operations.registry import OPERATIONS
from tests.apiserver.api import account_user, create_account, grant, is_allowed, kubectl, user
from tests.apiserver.namespace_client import GROUP, RUNS, TABLES, NamespaceClient
from tests.apiserver.rights import RELEASE, Rights
from tests.apiserver.users import ALLOWED, Right, User, table_owner
from tests.cluster.apiserver import ApiServer
from tests.support.manifests import REMOVED, Manifest, edited, keyed_table, run

EXPIRY: dict[str, object] = {"spec__type": "ExpireSnapshots", "spec__compact": REMOVED}
DROP: dict[str, object] = {"spec__type": "Drop", "spec__compact": REMOVED, "spec__trigger": {"type": "Deletion"}}
SCHEDULED: dict[str, object] = {"spec__trigger": {"type": "Schedule", "message": "due at 03:00"}}


@pytest.fixture(scope="module")
def ns(api_server: ApiServer) -> Iterator[NamespaceClient]:
    ns = NamespaceClient(api_server.kubeconfig, "who-may")
    for name in ("orders", "payroll"):
        ns.create(edited(keyed_table(spec__writes=REMOVED), metadata__name=name))
    ns.create(run(metadata__name="there", metadata__finalizers=[FINALIZER]))
    yield ns
    ns.close()


@pytest.fixture(scope="module")
def rights(api_server: ApiServer, ns: NamespaceClient) -> Iterator[Rights]:
    """The chart's rights and policy, once the API server enforces the policy."""
    rights = Rights(api_server, ns)
    nobody = User.with_rights(api_server, ns, "nobody", [Right(("create",))])
    ns.wait(lambda: "verb compact" in nobody.try_create(run()), "the policy enforced")
    yield rights
    rights.close()


@pytest.fixture(scope="module")
def jane(api_server: ApiServer, ns: NamespaceClient, rights: Rights) -> User:
    """A user who can create runs and has the verb compact on the table `orders`."""
    only_compact = Right(("compact",), TABLES, ("orders",))
    made = User.with_rights(api_server, ns, "jane", [Right(("create", "patch", "get")), only_compact])
    ns.wait(lambda: made.try_create(run()) == ALLOWED, "her rights granted")
    return made


@pytest.fixture(scope="module")
def admin(api_server: ApiServer, ns: NamespaceClient, rights: Rights) -> User:
    return User(ns, api_server.kubeconfig)


@pytest.fixture(scope="module")
def operator(ns: NamespaceClient, rights: Rights) -> User:
    return User(ns, rights.kubeconfig)


def own(ns: NamespaceClient, type_: str = "Provision", table: str = "orders", **edits: object) -> Manifest:
    """Returns a run like those that the operator creates."""
    name = run_name(table=table, table_uid="uid", action=type_, trigger="spec")
    owner = table_owner(ns.get(TABLES, table))
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


# A user with the verb on the table


def test_the_verb_on_the_table_is_sufficient(jane: User) -> None:
    assert jane.try_create(run(metadata__name="by-hand")) == ALLOWED


def test_a_generated_name_is_admitted(jane: User) -> None:
    assert jane.try_create(run(metadata__name=REMOVED, metadata__generateName="orders-compact-")) == ALLOWED


@pytest.mark.parametrize(
    ("edits", "words"),
    [
        pytest.param({"spec__tableRef__name": "payroll"}, "verb compact on paimontables/payroll", id="other table"),
        pytest.param({"spec__tableRef__name": "nowhere"}, "verb compact on paimontables/nowhere", id="no table"),
        pytest.param(EXPIRY, "verb expiresnapshots on paimontables/orders is missing", id="other type"),
    ],
)
def test_the_verb_admits_one_type_on_one_table(jane: User, edits: dict[str, Any], words: str) -> None:
    answer = jane.try_create(run(**edits))
    assert words in answer
    assert answer.count("jane") == 2, "who lacks the verb, and the command that grants it"


@pytest.mark.parametrize("type_", OPERATIONS.on_demand)
def test_every_type_has_a_verb_of_its_own(
    api_server: ApiServer, ns: NamespaceClient, rights: Rights, type_: str
) -> None:
    verb = type_.lower()
    granted = [Right(("create",)), Right((verb,), TABLES, ("orders",))]
    somebody = User.with_rights(api_server, ns, f"may-{verb}", granted)
    ns.wait(lambda: somebody.try_create(by_hand(type_)) == ALLOWED, f"a run admitted with the verb {verb}")
    for other in set(OPERATIONS.on_demand) - {type_}:
        assert f"verb {other.lower()} on paimontables/orders is missing" in somebody.try_create(by_hand(other))


def test_the_commands_in_the_message_grant_the_verb(api_server: ApiServer, ns: NamespaceClient, rights: Rights) -> None:
    grant_create(ns, "ci", account_user(ns.namespace, "default"))
    ci = User(ns, api_server.service_account_kubeconfig(ns.namespace, "default"))
    answer = ns.wait(lambda: _if_contains(ci.try_create(run(**EXPIRY)), "paimontables/orders"), "the right to create")

    for command in answer[answer.index("kubectl -n") :].split(" && "):
        kubectl(api_server.kubeconfig, *shlex.split(command)[1:])

    ns.wait(lambda: ci.try_create(run(**EXPIRY)) == ALLOWED, "the verb")
    assert "verb compact" in ci.try_create(run())


# What a user with the verb on one table cannot do


@pytest.mark.parametrize("type_", OPERATIONS.types)
def test_a_name_of_the_operators_form_is_refused(jane: User, type_: str) -> None:
    name = run_name(table="payroll", table_uid="uid", action=type_, subject="import", trigger="spec")
    assert "looks like one that the operator gives" in jane.try_create(run(metadata__name=name))


def test_no_name_gives_the_objects_of_a_run_the_names_of_a_run_of_a_table_called_paimon_run(jane: User) -> None:
    ours = run_name(table="paimon-run", table_uid="uid", action="Compact", subject="full", trigger="03:00")
    theirs = ours.removeprefix("paimon-run-")
    assert config_map_name(theirs, by_user=True) == config_map_name(ours, by_user=False)
    assert "looks like one that the operator gives" in jane.try_create(run(metadata__name=theirs))


@pytest.mark.parametrize(
    ("edits", "words"),
    [
        pytest.param(SCHEDULED, "spec.trigger is written by the operator only", id="as if it were scheduled"),
        pytest.param(DROP, "runs of type Drop", id="a drop"),
        pytest.param({"metadata__finalizers": ["a.test/x"]}, "paimonruns/finalizers", id="a finalizer of the user"),
        pytest.param({"metadata__finalizers": [FINALIZER]}, "paimonruns/finalizers", id="the operator's finalizer"),
    ],
)
def test_the_verb_gives_no_other_right(jane: User, edits: dict[str, Any], words: str) -> None:
    assert words in jane.try_create(run(**edits))


def test_a_run_of_a_user_is_not_controlled_by_a_table(jane: User, ns: NamespaceClient) -> None:
    table = ns.get(TABLES, "orders")
    assert "controlled by a PaimonTable" in jane.try_create(run(metadata__ownerReferences=[table_owner(table)]))
    assert jane.try_create(run(metadata__ownerReferences=[table_owner(table, controller=False)])) == ALLOWED


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        pytest.param({"finalizers": None}, "paimonruns/finalizers", id="removes finalizers"),
        pytest.param({"finalizers": [FINALIZER, "a.test/x"]}, "paimonruns/finalizers", id="adds a finalizer"),
        pytest.param(
            {"ownerReferences": [{"apiVersion": "v1", "kind": "Pod", "name": "gone", "uid": "gone"}]},
            "paimonruns/finalizers",
            id="adds an owner that does not exist",
        ),
        pytest.param({"labels": {"a.test/team": "shop"}}, ALLOWED, id="adds a label"),
    ],
)
def test_a_user_who_can_patch_runs_cannot_change_finalizers_or_owners(
    jane: User, metadata: dict[str, Any], expected: str
) -> None:
    answer = jane.try_patch("there", {"metadata": metadata})
    assert answer == expected if expected == ALLOWED else expected in answer


# Administrators, and the operator


def test_an_administrator_can_release_runs_and_create_those_of_users_but_not_those_of_the_operator(
    admin: User, ns: NamespaceClient
) -> None:
    assert admin.try_patch("there", {"metadata": {"finalizers": None}}) == ALLOWED
    assert [admin.try_create(made) for made in (run(), run(**EXPIRY))] == [ALLOWED, ALLOWED]
    assert "by the operator only" in admin.try_create(own(ns))
    assert "by the operator only" in admin.try_create(own(ns, "Drop"))


def test_the_operator_creates_its_own_runs_and_releases_every_run(operator: User, ns: NamespaceClient) -> None:
    member: dict[str, dict[str, object]] = {
        "Write": {"spec__write": {"name": "import"}},
        "Compact": {"spec__compact": {"strategy": "Full"}},
        "RemoveOrphanFiles": {"spec__removeOrphanFiles": {"mode": "Report"}},
    }
    for type_ in OPERATIONS.types:
        assert operator.try_create(own(ns, type_, "orders", **member.get(type_, {}))) == ALLOWED, type_
    assert operator.try_patch("there", {"metadata": {"finalizers": None}}) == ALLOWED


@pytest.mark.parametrize(
    "edits",
    [
        pytest.param({"metadata__name": "by-hand"}, id="a user's name"),
        pytest.param({"metadata__ownerReferences": REMOVED}, id="without an owner"),
        pytest.param({"metadata__ownerReferences__0__name": "payroll"}, id="owned by another table"),
        pytest.param({"spec__type": "ExpireSnapshots", "spec__trigger": REMOVED}, id="without a trigger"),
    ],
)
def test_a_run_of_the_operator_must_have_its_name_its_owner_and_a_trigger(
    operator: User, ns: NamespaceClient, edits: dict[str, Any]
) -> None:
    assert "a run of the operator has" in operator.try_create(own(ns, **edits))


def test_an_account_of_the_same_name_in_another_namespace_is_not_the_operator(
    api_server: ApiServer, ns: NamespaceClient
) -> None:
    elsewhere = NamespaceClient(api_server.kubeconfig, "who-may-elsewhere")
    create_account(elsewhere.client, elsewhere.namespace, RELEASE)
    grant_create(ns, "namesake", account_user(elsewhere.namespace, RELEASE))
    namesake = User(ns, api_server.service_account_kubeconfig(elsewhere.namespace, RELEASE))
    ns.wait(lambda: "by the operator only" in namesake.try_create(own(ns)), "refused by the policy, not by RBAC")
    elsewhere.close()


# The policy itself


def test_the_api_server_reports_no_type_error_in_the_policy(rights: Rights, ns: NamespaceClient) -> None:
    def type_checking() -> V1TypeChecking | None:
        status = rights.policy().status
        return status.type_checking if status else None

    assert ns.wait(type_checking, "the types checked").expression_warnings is None


def test_the_widest_metadata_is_within_the_limits_of_cel(jane: User, admin: User, ns: NamespaceClient) -> None:
    """A request can have 3 MB. This is many times more than a user would write by hand."""
    other = {"apiVersion": "v1", "kind": "ConfigMap"}
    owners = [other | {"name": f"owner-{n}", "uid": f"uid-{n}"} for n in range(1000)]
    finalizers = [f"a.test/{n}" for n in range(1000)]
    wide = run(metadata__ownerReferences=owners, metadata__name="x" * 60)
    assert jane.try_create(wide) == ALLOWED
    assert admin.try_create(edited(wide, metadata__finalizers=finalizers)) == ALLOWED
    answer = jane.try_patch("there", {"metadata": {"finalizers": finalizers, "ownerReferences": owners}})
    assert "paimonruns/finalizers" in answer


def test_the_garbage_collector_can_remove_the_finalizer_of_a_foreground_deletion(ns: NamespaceClient) -> None:
    collector = account_user("kube-system", "generic-garbage-collector")
    assert is_allowed(ns.client, collector, "update", f"{RUNS}/finalizers", namespace=ns.namespace, group=GROUP)


def test_the_policy_does_not_apply_to_namespaces_that_the_operator_does_not_watch(
    api_server: ApiServer, rights: Rights
) -> None:
    elsewhere = NamespaceClient(api_server.kubeconfig, "who-may-unwatched")
    somebody = User.with_rights(api_server, elsewhere, "somebody", [Right(("create",))])
    elsewhere.wait(lambda: somebody.try_create(run()) == ALLOWED, "the run admitted without the verb")
    elsewhere.close()


def test_types_for_users_need_no_trigger_and_all_others_do(admin: User) -> None:
    """The policy reserves the trigger for the operator; the CRD reserves types for it."""
    for type_ in set(OPERATIONS.types) - set(OPERATIONS.on_demand):
        member = {"spec__write": {"name": "import"}} if type_ == "Write" else {}
        answer = admin.try_create(run(spec__type=type_, spec__compact=REMOVED, **member))
        assert "only the operator starts runs of this type" in answer, type_


def by_hand(type_: str) -> Manifest:
    """A run of this type that a user requests."""
    if type_ == "Compact":
        return run()
    own = {"removeOrphanFiles": {"mode": "Report"}} if type_ == "RemoveOrphanFiles" else {}
    return run(spec__type=type_, spec__compact=REMOVED, **{f"spec__{name}": block for name, block in own.items()})


def grant_create(ns: NamespaceClient, role: str, user_name: str) -> None:
    """Grants a user of any name the creation of runs."""
    grant(ns.client, ns.namespace, role, user(user_name), [Right(("create",)).rule()])


def _if_contains(answer: str, words: str) -> str | None:
    return answer if words in answer else None
