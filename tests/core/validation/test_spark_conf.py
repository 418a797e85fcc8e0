"""The Spark settings of a catalog. Reconcile checks them again, because a CRD can be older than the operator."""

from __future__ import annotations

from typing import Any

import pytest

from paimon_operator.core.validation.spark_conf import spark_problems
from tests.support import builders


def problems(**spark: Any) -> list[str]:
    return [str(error) for error in spark_problems(builders.catalog(spark=spark))]


@pytest.mark.parametrize(
    ("spark", "told"),
    [
        ({"sparkConf": {"spark.master": "local"}}, "spark.master may not be set here. Remove it"),
        ({"sparkConf": {"spark.network.timout": "1"}}, "Did you mean spark.network.timeout?"),
        ({"sparkConf": {"spark.hadoop.fs.s3a.secret.key": "x"}}, "Name a Secret in spec.storage"),
        ({"podOverlay": {"labels": {"spark-role": "driver"}}}, "spec.spark.podOverlay.labels[spark-role]"),
        ({"podOverlay": {"annotations": {"paimon-operator.dev/x": "y"}}}, "Use a key of your own"),
        ({"podOverlay": {"priorityClassName": "system-node-critical"}}, "Use a priority class of your own"),
        ({"podOverlay": {"annotations": {"iam.amazonaws.com/role": "y"}}}, "iam.amazonaws.com/role may not be set"),
        (
            {"podOverlay": {"annotations": {"container.apparmor.security.beta.kubernetes.io/driver": "unconfined"}}},
            "container.apparmor.security.beta.kubernetes.io/driver may not be set",
        ),
    ],
)
def test_a_reserved_spark_setting_is_refused_with_a_remedy(spark: dict[str, Any], told: str) -> None:
    (problem,) = problems(**spark)
    assert told in problem


def test_settings_of_performance_timeouts_and_labels_are_accepted() -> None:
    assert not problems(sparkConf={"spark.speculation": "true"}, podOverlay={"labels": {"team": "shop"}})
    assert not problems(mode="Cluster")
    assert not list(spark_problems(builders.catalog()))
