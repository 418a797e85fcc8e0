"""What a platform demands of every Spark Pod: ids of its own choice, and CPU limits."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from paimon_operator.core.catalog.observer import wanted_pod
from paimon_operator.core.launch.batch_pod import _shared_part
from paimon_operator.core.launch.driver_pod import config_map
from paimon_operator.core.launch.pod_security import PodRules
from tests.core.catalog import test_observer as observers
from tests.core.launch.test_driver_pod import CLUSTER, COMPACT, LAUNCH, a_pod
from tests.support import builders

IDS = ("runAsUser", "runAsGroup", "fsGroup")
KINDS = ("driver", "shared driver", "executor", "observer")


def pod(kind: str, rules: PodRules) -> dict[str, Any]:
    match kind:
        case "driver":
            return a_pod(replace(LAUNCH, cores=3, rules=rules))
        case "shared driver":
            return _shared_part(replace(LAUNCH, cores=3, rules=rules))
        case "executor":
            made = config_map(COMPACT, replace(CLUSTER, rules=rules), deadline_s=4500)
            return dict(json.loads(made["data"]["executor.json"]))
        case _:
            launches = replace(observers.launches(), rules=rules)
            return wanted_pod(builders.catalog(), observers.REACHED, launches) or {}


@pytest.mark.parametrize("uid", [None, 1000680000])
@pytest.mark.parametrize("kind", KINDS)
def test_every_pod_has_the_ids_that_are_given_or_none(kind: str, uid: int | None) -> None:
    security = pod(kind, PodRules(uid=uid))["spec"]["securityContext"]
    assert [security.get(name) for name in IDS] == [uid] * 3
    assert security["runAsNonRoot"] is True


LIMITS = {"driver": "3", "shared driver": "3", "executor": "2", "observer": "1"}


@pytest.mark.parametrize("kind", KINDS)
def test_every_pod_has_a_limit_of_its_cores_where_a_quota_demands_it(kind: str) -> None:
    def limit(*, wanted: bool) -> Any:
        (container,) = pod(kind, PodRules(cpu_limits=wanted))["spec"]["containers"]
        return container.get("resources", {}).get("limits", {}).get("cpu")

    assert (limit(wanted=True), limit(wanted=False)) == (LIMITS[kind], None)
