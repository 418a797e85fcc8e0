"""Names of objects: a function of their purpose, and valid for the API server."""

from __future__ import annotations

import hashlib
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paimon_operator.core import naming

DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
LABEL_VALUE = re.compile(r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?")

object_names = st.from_regex(
    r"[a-z0-9]([-a-z0-9]{0,30}[a-z0-9])?(\.[a-z0-9]([-a-z0-9]{0,14}[a-z0-9])?)?", fullmatch=True
)
actions = st.sampled_from(["Provision", "Write", "Compact", "ExpireSnapshots", "Drop", "RemoveOrphanFiles"])


def a_run(
    table: str = "orders", uid: str = "u-1", action: str = "Write", subject: str = "import", trigger: str = "t1"
) -> str:
    return naming.run_name(table=table, table_uid=uid, action=action, subject=subject, trigger=trigger)


def test_the_name_of_a_run_has_the_table_the_action_and_the_hash_of_its_cause() -> None:
    digest = hashlib.sha256(b"u-1\0write\0import\x00t1").hexdigest()[:8]
    assert a_run() == f"orders-write-{digest}"


def test_the_same_run_has_the_same_name_again() -> None:
    assert a_run() == a_run()


@pytest.mark.parametrize(
    "other",
    [
        a_run(uid="u-2"),
        a_run(action="Compact"),
        a_run(subject="export"),
        a_run(trigger="t2"),
        a_run(trigger="t1#2"),
        a_run(subject="importt", trigger="1"),
    ],
    ids=[
        "another table object",
        "another action",
        "another subject",
        "another trigger",
        "a repetition",
        "shifted border",
    ],
)
def test_another_run_has_another_name(other: str) -> None:
    assert other != a_run()


@pytest.mark.parametrize(
    ("table", "start"),
    [
        ("a" * 48, "a" * 30 + "-write-"),
        ("a" * 29 + "-" + "b" * 18, "a" * 29 + "-write-"),
        ("shop.orders", "shop-orders-write-"),
        ("a" * 28 + "..b", "a" * 28 + "-b-write-"),
    ],
    ids=["cut to 30", "no dash before the dash", "dots become dashes", "a run of dots becomes one dash"],
)
def test_the_table_in_the_name_of_a_run_is_truncated_and_cleaned(table: str, start: str) -> None:
    assert a_run(table=table).startswith(start)


@given(
    table=object_names,
    action=actions,
    subject=st.text(max_size=128),
    trigger=st.text(max_size=64),
    attempt=st.integers(1, 99),
)
def test_every_run_and_its_pods_are_dns_labels(
    table: str, action: str, subject: str, trigger: str, attempt: int
) -> None:
    run = a_run(table=table, action=action, subject=subject, trigger=trigger)
    assert DNS_LABEL.fullmatch(run)
    assert len(run) <= naming.RUN_LENGTH
    assert naming.config_map_name(run, by_user=False) == run
    assert naming.pod_name(run, attempt) == f"{run}-{attempt}"
    assert DNS_LABEL.fullmatch(naming.pod_name(run, attempt))


object_name = st.from_regex(r"[a-z0-9]([-.a-z0-9]{0,250}[a-z0-9])?", fullmatch=True)
"""What the API server takes as the name of a PaimonRun."""


@given(run=object_name, attempt=st.integers(1, 1000))
def test_the_pod_of_a_users_run_has_a_dns_label_as_name(run: str, attempt: int) -> None:
    config_map = naming.config_map_name(run, by_user=True)
    assert len(config_map) <= naming.OBJECT_LENGTH
    assert DNS_LABEL.fullmatch(naming.pod_name(config_map, attempt))
    assert LABEL_VALUE.fullmatch(naming.label_value(run))


@given(run=object_name)
def test_objects_of_a_users_run_have_a_prefix_of_their_own(run: str) -> None:
    """S3: a run called web took web-1 from the StatefulSet web, and one called hadoop-conf that ConfigMap."""
    config_map = naming.config_map_name(run, by_user=True)
    assert config_map.startswith("paimon-run-")
    assert naming.pod_name(config_map, 1).startswith("paimon-run-")


def test_two_runs_with_the_same_cleaned_name_have_different_pods() -> None:
    assert user_pod("a.b") != user_pod("a-b")
    assert user_pod("x" * 100 + "1") != user_pod("x" * 100 + "2")
    assert user_pod("x" * 252 + "1") != user_pod("x" * 252 + "2")
    assert naming.label_value("x" * 100 + "1") != naming.label_value("x" * 100 + "2")


def user_pod(run: str) -> str:
    """The first Pod of a run that a user has named."""
    return naming.pod_name(naming.config_map_name(run, by_user=True), 1)


@pytest.mark.parametrize("table", ["orders", "Größe.Ä", "o" * 253, "a.b-c", "-"])
def test_the_host_name_of_a_table_is_a_dns_label_and_unique(table: str) -> None:
    name = naming.host_name(f"cluster-uid/shop/{table}")
    assert DNS_LABEL.fullmatch(name)
    assert name != naming.host_name(f"cluster-uid/sales/{table}")


def test_the_labels_of_a_pod_name_its_run_and_table() -> None:
    assert naming.pod_labels("orders", "orders-write-00000000", 2) == {
        "app.kubernetes.io/managed-by": "paimon-operator",
        "paimon-operator.dev/table": "orders",
        "paimon-operator.dev/run": "orders-write-00000000",
        "paimon-operator.dev/attempt": "2",
    }


def test_the_controller_of_an_object_is_the_owner_marked_as_controller() -> None:
    own = naming.owner_reference("PaimonRun", "r", "u-run")
    other = {**own, "uid": "u-other", "controller": False}
    assert naming.controller_uid({"metadata": {"ownerReferences": [other, own]}}) == "u-run"
    assert naming.controller_uid({"metadata": {"ownerReferences": [other]}}) is None
    assert naming.controller_uid({"metadata": {}}) is None
