"""Names, labels and owner references of everything the operator creates.

A name follows from the object's purpose. An operator that was killed and starts over therefore requests the same name
and finds its own object (409) instead of creating a second one. Source of the rule: the API page, "Names".
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from paimon_operator.api.base import API_VERSION, GROUP
from paimon_operator.core.ports import Kind, Manifest

ObjectKey = tuple[str, str]
"""Namespace and name."""
PLURALS: Final = {Kind.TABLE: "paimontables", Kind.CATALOG: "paimoncatalogs", Kind.RUN: "paimonruns"}
"""The kinds that users see and the operator watches, as they are named in paths of the API, in roles and in CRDs."""
EXECUTOR_RIGHTS_PLURAL: Final = "paimonexecutorrights"
FINALIZER: Final = f"{GROUP}/finalizer"
FIELD_MANAGER: Final = "paimon-operator"

MANAGED_BY_LABEL: Final = "app.kubernetes.io/managed-by"
TABLE_LABEL: Final = f"{GROUP}/table"
RUN_LABEL: Final = f"{GROUP}/run"
ATTEMPT_LABEL: Final = f"{GROUP}/attempt"

ROLE_LABEL: Final = f"{GROUP}/role"
EXECUTOR: Final = "executor"
OBSERVER: Final = "observer"
BATCH: Final = "batch"
CATALOG_LABEL: Final = f"{GROUP}/catalog"

LABEL_LENGTH: Final = 63
"""The longest DNS label and the longest label value, in characters."""
OBJECT_LENGTH: Final = 253
"""The longest name of a ConfigMap and of a PaimonRun."""
USER_PREFIX: Final = "paimon-run-"
"""What the names of a user's run's objects begin with."""
OBSERVER_PREFIX: Final = "paimon-observer-"
"""What the names of observers' Pods begin with."""
BATCH_PREFIX: Final = "paimon-batch-"
"""What the names of Pods begin with that several runs share."""
TABLE_PART, ACTION_PART, HASH_PART = 30, 20, 8
RUN_LENGTH: Final = TABLE_PART + ACTION_PART + HASH_PART + 2
"""60: what is left of 63 for a run, so that its Pod has room for `-<attempt>`."""

_DNS_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_NOT_DNS = re.compile(r"[^a-z0-9]+")


def run_name(*, table: str, table_uid: str, action: str, subject: str = "", trigger: str) -> str:
    """The PaimonRun's name: `<table, cut to 30>-<action, at most 20>-<8 hex>`, a DNS label of at most 60 characters.

    `action` is the run's type, `subject` the write's name or the compaction's strategy, `trigger` the due time or the
    spec's hash (with `#n` for the n-th repetition by the table) and what the run starts from: the generation and the
    run before it. The hash takes all four, so two runs share a name only when they are the same run.
    """
    action = action.lower()
    digest = _digest(table_uid, action, subject, trigger)
    return f"{run_prefix(table)}{_slug(action, ACTION_PART)}-{digest}"


def run_prefix(table: str) -> str:
    """What the names of the operator's runs of one table begin with: `<table, cut to 30>-`."""
    return f"{_slug(table, TABLE_PART)}-"


def commit_user(run: str, uid: str) -> str:
    """The commit user of a run, the same for all its attempts. Paimon adds `_<UUID>` for each writer."""
    return f"{run}-{uid}"


def config_map_name(run: str, *, by_user: bool) -> str:
    """The ConfigMap with the run's job; its Pods' names begin with it. `by_user`: a user chose the run's name.

    The operator's own runs have names with a hash. Those of users have a prefix, so that a run named like the ConfigMap
    or the StatefulSet of an application takes nothing from it.
    """
    name = f"{USER_PREFIX}{run}" if by_user else run
    if len(name) <= OBJECT_LENGTH:
        return name
    return f"{name[: OBJECT_LENGTH - HASH_PART - 1].rstrip('-.')}-{_digest(run)}"


def pod_name(config_map: str, attempt: int) -> str:
    """`<the run's ConfigMap>-<attempt>`: a DNS label of at most 63 characters, for long and dotted names too."""
    name = f"{config_map}-{attempt}"
    if len(name) <= LABEL_LENGTH and _DNS_LABEL.fullmatch(name):
        return name
    tail = f"-{_digest(config_map)}-{attempt}"
    return _slug(config_map, LABEL_LENGTH - len(tail)) + tail


def host_name(owner: str) -> str:
    """The host name of all Pods of one table, a DNS label: metastores record it. `owner` is the job's owner."""
    tail = f"-{_digest(owner)}"
    return _slug(owner.rpartition("/")[2], LABEL_LENGTH - len(tail)) + tail


def label_value(name: str) -> str:
    """`name` if it fits into a label value; a longer name is cut and made unique by a hash."""
    if len(name) <= LABEL_LENGTH:
        return name
    digest = _digest(name)
    return f"{name[: LABEL_LENGTH - len(digest) - 1].rstrip('-._')}-{digest}"


def run_labels(table: str) -> dict[str, str]:
    """Labels of a PaimonRun. The table lists its runs by `TABLE_LABEL`."""
    return {MANAGED_BY_LABEL: FIELD_MANAGER, TABLE_LABEL: label_value(table)}


def child_labels(table: str, run: str) -> dict[str, str]:
    """Labels of a run's ConfigMap, and of the rights of its executors."""
    return {**run_labels(table), RUN_LABEL: label_value(run)}


def pod_labels(table: str, run: str, attempt: int) -> dict[str, str]:
    """Labels of the driver Pod of one attempt."""
    return {**child_labels(table, run), ATTEMPT_LABEL: str(attempt)}


def executor_labels(table: str, run: str) -> dict[str, str]:
    """Labels of the executors of all attempts. They select executors and distinguish them from drivers."""
    return {**child_labels(table, run), ROLE_LABEL: EXECUTOR}


def observer_name(catalog: str, uid: str, template: str) -> str:
    """The Pod's name: `paimon-observer-<catalog, cut to 30>-<8 hex>`. Another template has another name."""
    return f"{OBSERVER_PREFIX}{_slug(catalog, TABLE_PART)}-{_digest(uid, template)}"


def observer_labels(catalog: str) -> dict[str, str]:
    """Labels of a catalog's observer. The catalog lists its observers by them."""
    return {MANAGED_BY_LABEL: FIELD_MANAGER, ROLE_LABEL: OBSERVER, CATALOG_LABEL: label_value(catalog)}


def batch_name(catalog: str, *parts: str) -> str:
    """The name of a Pod that several runs share: `paimon-batch-<catalog, cut to 30>-<8 hex over the parts>`."""
    return f"{BATCH_PREFIX}{_slug(catalog, TABLE_PART)}-{_digest(*parts)}"


def batch_labels(catalog: str) -> dict[str, str]:
    """Labels of a Pod that several runs of a catalog share."""
    return {**all_batches(), CATALOG_LABEL: label_value(catalog)}


def all_batches() -> dict[str, str]:
    """The labels that all such Pods have in common."""
    return {MANAGED_BY_LABEL: FIELD_MANAGER, ROLE_LABEL: BATCH}


def is_batch(body: Manifest) -> bool:
    """Whether several runs share the Pod, by its label and its owner."""
    return _catalog_of_role(body, BATCH) is not None


def observed_catalog(body: Manifest) -> str | None:
    """Name of the catalog whose observer a Pod is, by its label and its owner; None for any other Pod."""
    return _catalog_of_role(body, OBSERVER)


def _catalog_of_role(body: Manifest, role: str) -> str | None:
    owner = _controller(body)
    labels: Mapping[str, str] = body["metadata"].get("labels") or {}
    is_catalog = owner is not None and (owner["kind"], owner["apiVersion"]) == (Kind.CATALOG, API_VERSION)
    return str(owner["name"]) if owner is not None and is_catalog and labels.get(ROLE_LABEL) == role else None


def is_executor(body: Manifest) -> bool:
    """Whether a Pod is an executor, by its label."""
    labels: Mapping[str, str] = body["metadata"].get("labels") or {}
    return labels.get(ROLE_LABEL) == EXECUTOR


def owner_reference(kind: str, name: str, uid: str) -> dict[str, Any]:
    """The controller reference from a child to its owner; garbage collection follows it."""
    return {
        "apiVersion": API_VERSION,
        "kind": kind,
        "name": name,
        "uid": uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }


def controller_uid(body: Manifest) -> str | None:
    """UID of the object that controls `body`, None without one. After a 409 it shows whether the object is ours."""
    owner = _controller(body)
    return None if owner is None else str(owner["uid"])


def controlling_run(body: Manifest) -> str | None:
    """Name of the run that controls a Pod; None without one. A label is too short for every run's name."""
    owner = _controller(body)
    is_run = owner is not None and (owner["kind"], owner["apiVersion"]) == (Kind.RUN, API_VERSION)
    return str(owner["name"]) if owner is not None and is_run else None


def _controller(body: Manifest) -> Mapping[str, Any] | None:
    references: Iterable[Mapping[str, Any]] = body.get("metadata", {}).get("ownerReferences") or ()
    return next((reference for reference in references if reference.get("controller")), None)


def _slug(text: str, length: int) -> str:
    """`text` as the inside of a DNS label: lower case, runs of anything else become one '-', none at either end."""
    return _NOT_DNS.sub("-", text.lower()).strip("-")[:length].rstrip("-") or "x"


def _digest(*parts: str) -> str:
    """8 hex digits over `parts`. NUL cannot occur in any part, so ("ab", "c") and ("a", "bc") differ."""
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:HASH_PART]
