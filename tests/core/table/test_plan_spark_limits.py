"""A catalog limits the Spark Pods of its tables: a table that requests more is told by the field and is not started."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest

from paimon_operator.api.policies import DeletionPolicy
from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import FailureClass
from paimon_operator.core.launch.builder import LaunchBuilder
from paimon_operator.core.launch.driver_memory import next_memory
from paimon_operator.core.launch.driver_pod import Launch, config_map, driver_pod
from paimon_operator.core.launch.executor_pod import TEMPLATE_FILE
from paimon_operator.core.spec.effective import effective_settings
from paimon_operator.core.validation.catalog import catalog_problems
from tests.support import builders
from tests.support.run_story import running_story
from tests.support.table_world import TableWorld

LIMITS: dict[str, Any] = {
    "spark": {
        "modes": ["Local"],
        "driver": {"cores": 4, "memory": "8Gi", "scratch": "50Gi"},
        "executor": {"instances": 8, "cores": 4, "memory": "16Gi", "scratch": "50Gi"},
    }
}
ONLY_CLUSTER: dict[str, Any] = {"spark": {"modes": ["Cluster"]}}
LARGEST: dict[str, Any] = {"cores": 64, "memory": "512Gi"}
BEYOND: list[tuple[str, dict[str, Any], str]] = [
    ("spec.spark.mode", {"mode": "Cluster"}, "Cluster is not allowed by limits.spark.modes of PaimonCatalog lake"),
    ("spec.spark.driver.cores", {"driver": {"cores": 5}}, "5 is more than limits.spark.driver.cores"),
    ("spec.spark.driver.memory", {"driver": {"memory": "8193Mi"}}, "8193Mi is more than limits.spark.driver.memory"),
    ("spec.spark.executor.instances", {"executor": {"instances": 100}}, "100 is more than limits.spark"),
    ("spec.spark.executor.cores", {"executor": LARGEST}, "64 is more than limits.spark.executor.cores"),
    ("spec.spark.executor.memory", {"executor": {"memory": "17Gi"}}, "17Gi is more than limits.spark.executor.memory"),
    ("spec.spark.driver.scratch", {"driver": {"scratch": "51Gi"}}, "51Gi is more than limits.spark.driver.scratch"),
    ("spec.spark.executor.scratch", {"executor": {"scratch": "1025Gi"}}, "1025Gi is more than limits.spark.executor"),
]  # fmt: skip
BUILDER = LaunchBuilder(
    operator=builders.operator_facts(),
    images={"paimon-1.4": "paimon-spark:1.4"},
    pull_policy="IfNotPresent",
    pending_timeout=timedelta(minutes=10),
    cpu_share=1.0,
)


def limited(limits: dict[str, Any] | None = None, **spark: Any) -> TableWorld:
    """A table with this `spec.spark` in a catalog with limits, before its first reconcile."""
    table = builders.table(spark=spark) if spark else builders.table()
    return TableWorld(table=table, catalog=builders.catalog(limits=limits or LIMITS))


def launch(world: TableWorld, **run: Any) -> Launch:
    return BUILDER.launch_of(builders.run("by-hand", table=world.table, **run), world.table, world.catalog)


@pytest.mark.parametrize(("field", "spark", "words"), BEYOND, ids=[field for field, _, _ in BEYOND])
def test_a_table_that_requests_more_is_stalled_by_the_field_and_the_limit(
    field: str, spark: dict[str, Any], words: str
) -> None:
    """S8: a table author had 100 executors of 64 CPUs and 512Gi and a driver with a token, of any catalog."""
    seen = limited(**spark)
    seen.settle()
    assert seen.started == []
    assert seen.says("Stalled") == ("True", Reason.LIMIT_EXCEEDED)
    assert f"{field}: {words}" in seen.condition("Stalled").message


@pytest.mark.parametrize(
    "spark",
    [
        {},
        {"mode": "Local"},
        {"mode": "Auto"},
        {"driver": {"cores": 4, "memory": "8Gi"}},
        {"executor": {"instances": 8}},
    ],
    ids=str,
)
def test_a_table_within_the_limits_starts(spark: dict[str, Any]) -> None:
    seen = limited(**spark)
    seen.settle()
    assert seen.started == [("Provision", "")]


def test_a_table_that_a_new_limit_excludes_finishes_its_run_and_starts_no_other() -> None:
    seen = limited({"maxConcurrentRuns": 4}, mode="Cluster")
    seen.settle()
    seen.catalog = builders.catalog(limits=LIMITS, generation=2)
    seen.finish("Provision", created=True)
    seen.settle()
    assert seen.started == [("Provision", "")]
    assert seen.says("Stalled") == ("True", Reason.LIMIT_EXCEEDED)


@pytest.mark.parametrize(
    ("asked", "limits", "mode"),
    [
        ("Auto", LIMITS, "Local"),
        ("Auto", ONLY_CLUSTER, "Cluster"),
        (None, ONLY_CLUSTER, "Cluster"),
        ("Auto", {"spark": {"modes": ["Local", "Cluster"]}}, "Auto"),
        ("Cluster", {"spark": {}}, "Cluster"),
        ("Cluster", {"maxConcurrentRuns": 4}, "Cluster"),
    ],
)
def test_auto_and_the_default_choose_among_the_allowed_modes(
    asked: str | None, limits: dict[str, Any], mode: str
) -> None:
    world = limited(limits, **({"mode": asked} if asked else {}))
    assert world.catalog is not None
    facts = builders.operator_facts()
    found = effective_settings(world.table, world.catalog, facts.engines["paimon-1.4"], facts.defaults)
    assert found.mode is not None
    assert found.mode.mode == mode


def test_the_defaults_of_the_operator_are_reduced_to_the_limits() -> None:
    small = {"spark": {"driver": {"cores": 1, "memory": "1Gi"}}}
    made = launch(limited(small))
    assert (made.cores, made.memory_mib, made.most_memory_mib) == (1, 1024, 1024)


def test_a_driver_that_ran_out_of_memory_grows_up_to_the_limit() -> None:
    story = running_story()
    full = story.attempt.model_copy(update={"failure_class": FailureClass.OUT_OF_MEMORY, "memory": "2Gi"})
    assert [next_memory([full], 2048, most) for most in (None, 4096, 2560, 2048)] == [3072, 3072, 2560, 2048]


def test_a_table_beyond_the_limits_can_be_dropped_within_them() -> None:
    """Its sizes are those of the Drop, so an error alone would let a deletion have any size."""
    world = limited(driver=LARGEST, mode="Cluster")
    deleted = world.table.metadata.model_copy(update={"deletion_timestamp": builders.NOW})
    spec = world.table.spec.model_copy(update={"deletion_policy": DeletionPolicy.DELETE})
    world.table = world.table.model_copy(update={"metadata": deleted, "spec": spec})
    made = launch(world, type="Drop", compact=None, trigger={"type": "Deletion"})
    assert (made.cores, made.memory_mib, made.executors) == (4, 8192, None)


@pytest.mark.parametrize(("field", "spark", "words"), BEYOND, ids=[field for field, _, _ in BEYOND])
def test_the_catalogs_own_defaults_must_be_within_its_limits(field: str, spark: dict[str, Any], words: str) -> None:
    found = list(catalog_problems(builders.catalog(limits=LIMITS, spark=spark), builders.operator_facts()))
    assert f"{field}: {words}" in str(found[0])


def test_a_limit_that_no_jvm_fits_into_is_an_error_of_the_catalog() -> None:
    small = builders.catalog(limits={"spark": {"executor": {"memory": "512Mi"}}})
    (found,) = catalog_problems(small, builders.operator_facts())
    assert found.field == "spec.limits.spark.executor.memory"


def test_the_scratch_volumes_of_driver_and_executors_have_the_declared_sizes() -> None:
    sizes = {"driver": {"scratch": "20Gi"}, "executor": {"scratch": "30Gi"}}
    world = limited({"maxConcurrentRuns": 4}, mode="Cluster", **sizes)
    made, run = launch(world), builders.run("by-hand", table=world.table)
    pod = driver_pod(run, made, attempt=1, memory_mib=2048, deadline_s=60, own_deadline_s=50)
    executor = json.loads(config_map(run, made, deadline_s=60)["data"][TEMPLATE_FILE])
    assert [scratch_of(each) for each in (pod, executor)] == ["20Gi", "30Gi"]


def scratch_of(pod: dict[str, Any]) -> str:
    """Size limit of the Pod's only emptyDir with one."""
    directories = [each["emptyDir"] for each in pod["spec"]["volumes"] if "emptyDir" in each]
    (size,) = [each["sizeLimit"] for each in directories if "sizeLimit" in each]
    return str(size)
