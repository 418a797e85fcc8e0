"""The observer of a catalog: whether there is one, and its Pod.

It has the catalog's access to its storage, and no right in Kubernetes: the API server does not accept its one token.

The name follows from the content of the Pod, so a Pod that is to be another one has another name.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from paimon_contract import environment
from paimon_contract.job import JobCatalog
from paimon_contract.looks import ObserverConfig, config_text
from paimon_operator.api.catalog.spec import PaimonCatalog
from paimon_operator.core import naming, storage
from paimon_operator.core.catalog.plan import CatalogObserved
from paimon_operator.core.config import ObserverFacts, OperatorFacts
from paimon_operator.core.decision import Create, Delete
from paimon_operator.core.launch import operator_token, pod_storage
from paimon_operator.core.launch.builder import LaunchBuilder
from paimon_operator.core.launch.driver_pod import ENTRYPOINT
from paimon_operator.core.launch.pod_overlay import overlaid
from paimon_operator.core.launch.pod_security import PodRules, container_security
from paimon_operator.core.ports import Kind, Manifest
from paimon_operator.core.spec.desired_table import digest
from paimon_operator.core.storage.access import Access
from paimon_operator.core.validation.catalog import blocking_problems

CONTAINER: Final = "observer"
GRACE_S: Final = 5
CPU_REQUEST: Final = "20m"
CPU_LIMIT_MILLIS: Final = 1000
MEMORY_REQUEST: Final = "96Mi"
MEMORY_LIMIT: Final = "256Mi"
_ENDED: Final = ("Succeeded", "Failed")


@dataclass(frozen=True, kw_only=True)
class ObserverPlan:
    """What to do about the Pods of a catalog's observer."""

    delete: tuple[Delete, ...] = ()
    create: Create | None = None
    expected: tuple[Manifest, ...] = ()
    """Those that exist and are as they should be."""


def plan_observer(catalog: PaimonCatalog, wanted: Manifest | None, existing: Sequence[Manifest]) -> ObserverPlan:
    """Exactly the wanted Pod shall exist. `existing` are the Pods with the labels, also those that others have made."""
    own = [each for each in existing if naming.controller_uid(each) == catalog.metadata.uid]
    name = None if wanted is None else wanted["metadata"]["name"]
    right = [each for each in own if each["metadata"]["name"] == name]
    alive = tuple(each for each in right if not _is_over(each))
    gone = (each for each in own if each not in alive and "deletionTimestamp" not in each["metadata"])
    create = None
    if wanted is not None and not right:  # (one that ends has the name until it is gone)
        create = Create(kind=Kind.POD, body=wanted, owner_uid=catalog.metadata.uid)
    return ObserverPlan(delete=tuple(_delete(each) for each in gone), create=create, expected=alive)


def _is_over(pod: Manifest) -> bool:
    is_deleted = "deletionTimestamp" in pod["metadata"]
    return is_deleted or (pod.get("status") or {}).get("phase") in _ENDED


def _delete(pod: Manifest) -> Delete:
    return Delete(kind=Kind.POD, name=pod["metadata"]["name"], uid=pod["metadata"]["uid"])


def wanted_pod(catalog: PaimonCatalog, observed: CatalogObserved, launches: LaunchBuilder) -> dict[str, Any] | None:
    """The Pod that the catalog shall have; None: no observer."""
    operator = launches.operator
    image = launches.observer_image(operator.engine_of(catalog))
    if operator.observer is None or image is None or not _is_observed(catalog, observed, operator):
        return None
    engine = operator.engines[operator.engine_of(catalog)]
    access = storage.storage_of(catalog).access(engine)
    config = _config(catalog, engine.id, access, operator.observer)
    spec = _spec(catalog, _container(image, launches, config, access), access, launches.rules)
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": _metadata(catalog), "spec": spec}
    whole = overlaid(pod, catalog.spec.spark.pod_overlay if catalog.spec.spark else None)
    name = naming.observer_name(catalog.metadata.name, catalog.metadata.uid, digest(json.loads(json.dumps(whole))))
    return whole | {"metadata": {"name": name, **whole["metadata"]}}


def _is_observed(catalog: PaimonCatalog, observed: CatalogObserved, operator: OperatorFacts) -> bool:
    """Only a storage that a run has reached, and that a second Pod can reach as well."""
    is_valid = not blocking_problems(catalog, operator) and observed.overlap is None
    is_active = catalog.metadata.deletion_timestamp is None and not catalog.spec.suspend
    return is_valid and is_active and bool(observed.warehouses) and storage.storage_of(catalog).can_be_observed


def _config(catalog: PaimonCatalog, engine: str, access: Access, facts: ObserverFacts) -> str:
    metastore = storage.metastore_of(catalog).paimon_name
    known = JobCatalog(
        warehouse=catalog.spec.warehouse, metastore=metastore, options=dict(sorted(access.catalog_options.items()))
    )
    return config_text(
        ObserverConfig(
            engine=engine,
            catalog=known,
            hadoop=_hadoop(catalog, access),
            url=facts.url,
            token_file=operator_token.path(),
            interval_seconds=facts.interval_s,
        )
    )


def _hadoop(catalog: PaimonCatalog, access: Access) -> dict[str, str] | None:
    """Only for HDFS: the image of an older release refuses a key that it does not know."""
    return None if catalog.spec.storage.hdfs is None else dict(sorted(access.hadoop_options.items()))


def _metadata(catalog: PaimonCatalog) -> dict[str, Any]:
    owner = naming.owner_reference(Kind.CATALOG.value, catalog.metadata.name, catalog.metadata.uid)
    return {
        "namespace": catalog.metadata.namespace,
        "labels": naming.observer_labels(catalog.metadata.name),
        # A catalog's deletion does not wait for it: the operator has no right to let it.
        "ownerReferences": [owner | {"blockOwnerDeletion": False}],
    }


def _spec(catalog: PaimonCatalog, container: dict[str, Any], access: Access, rules: PodRules) -> dict[str, Any]:
    spec: dict[str, Any] = {
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": GRACE_S,
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "securityContext": rules.pod_security(),
        "containers": [container],
        "volumes": [
            operator_token.volume(),
            *[pod_storage.volume(each) for each in access.mounts],
        ],
    }
    if catalog.spec.spark is not None and catalog.spec.spark.service_account_name:
        spec["serviceAccountName"] = catalog.spec.spark.service_account_name
    return spec


def _container(image: str, launches: LaunchBuilder, config: str, access: Access) -> dict[str, Any]:
    return {
        "name": CONTAINER,
        "image": image,
        "imagePullPolicy": launches.pull_policy,
        "command": [ENTRYPOINT],
        "args": ["observer"],
        "env": [
            {"name": environment.OBSERVER_CONFIG, "value": config},
            *[pod_storage.variable(each) for each in access.variables],
        ],
        "resources": {
            "requests": {"cpu": CPU_REQUEST, "memory": MEMORY_REQUEST},
            "limits": launches.rules.limits(MEMORY_LIMIT, CPU_LIMIT_MILLIS),
        },
        "securityContext": container_security(),
        "terminationMessagePolicy": "FallbackToLogsOnError",
        "volumeMounts": [
            operator_token.mount(),
            *[pod_storage.volume_mount(each) for each in access.mounts],
        ],
    }
