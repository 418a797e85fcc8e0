"""Fields that a catalog may add to its Spark Pods: scheduling and labels, but no rights, volumes or users."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Final

from pydantic import Field

from paimon_operator.api.base import ApiModel, ResourceName, cel_list, rule, with_rules

_LABEL_VALUE: Final = r"^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$"
RESERVED_WORDS: Final = (
    "paimon-operator.dev/",
    "app.kubernetes.io/managed-by",
    "spark-",
    "container.apparmor.security.beta.kubernetes.io/",
    "iam.amazonaws.com/",
)
"""Prefixes of keys by which the operator and Spark find their Pods, or that give a Pod a profile or a cloud role."""
_RESERVED: Final = f"{cel_list(RESERVED_WORDS)}.exists(p, k.startsWith(p))"
_KEYS: Final = rule("self.all(k, k.size() <= 316)", "a key must have at most 316 characters")
_FREE_KEYS: Final = rule(
    f"self.all(k, !{_RESERVED})",
    "keys that begin with paimon-operator.dev/, app.kubernetes.io/managed-by or spark- are the operator's and Spark's, "
    "and container.apparmor.security.beta.kubernetes.io/ or iam.amazonaws.com/ give a Pod rights",
    reason="FieldValueForbidden",
)
OF_THE_SYSTEM: Final = "system-"
"""Prefix of Kubernetes' own priority classes. Their Pods evict the Pods of every namespace."""
_NOT_OF_THE_SYSTEM: Final = rule(
    f"!self.startsWith('{OF_THE_SYSTEM}')",
    "a priority class of the system would let Spark's Pods evict those of other namespaces; name another class",
    reason="FieldValueForbidden",
)
_OPEN: Final = {"x-kubernetes-preserve-unknown-fields": True}
"""Schema of a Kubernetes type. The API server checks it when the Pod is created; an error shows as NotPermitted."""

LabelValue = Annotated[str, Field(pattern=_LABEL_VALUE, max_length=63)]
Labels = Annotated[dict[str, LabelValue], Field(max_length=20, json_schema_extra=with_rules(_KEYS, _FREE_KEYS))]
Annotations = Annotated[
    dict[str, Annotated[str, Field(max_length=1024)]],
    Field(max_length=20, json_schema_extra=with_rules(_KEYS, _FREE_KEYS)),
]
NodeSelector = Annotated[dict[str, LabelValue], Field(max_length=20, json_schema_extra=with_rules(_KEYS))]
PriorityClassName = Annotated[ResourceName, Field(json_schema_extra=with_rules(_NOT_OF_THE_SYSTEM))]
Open = Annotated[dict[str, Any], Field(json_schema_extra=_OPEN)]


class TolerationOperator(StrEnum):
    """How a toleration matches a taint."""

    EXISTS = "Exists"
    EQUAL = "Equal"


class TaintEffect(StrEnum):
    """Effect of a taint on Pods that do not tolerate it."""

    NO_SCHEDULE = "NoSchedule"
    PREFER_NO_SCHEDULE = "PreferNoSchedule"
    NO_EXECUTE = "NoExecute"


class Toleration(ApiModel):
    """A toleration, as in Kubernetes."""

    key: Annotated[str, Field(max_length=316)] | None = None
    """Key of the taint. Absent: every taint."""
    operator: TolerationOperator | None = None
    """Exists or Equal. Absent: Equal."""
    value: LabelValue | None = None
    """Value of the taint."""
    effect: TaintEffect | None = None
    """Effect of the taint. Absent: all effects."""
    toleration_seconds: Annotated[int, Field(ge=0, json_schema_extra={"format": "int64"})] | None = None
    """Seconds for which a NoExecute taint is tolerated."""


class PodOverlay(ApiModel):
    """Fields of the driver Pod and of the executor Pods. An edit applies to the next run."""

    labels: Labels = Field(default_factory=dict)
    """Labels in addition to the operator's, for example for queues, costs or network policies."""
    annotations: Annotations = Field(default_factory=dict)
    """Annotations in addition to the operator's."""
    node_selector: NodeSelector = Field(default_factory=dict)
    """Labels that a node must have."""
    tolerations: Annotated[tuple[Toleration, ...], Field(max_length=20)] = ()
    """Tolerations of the Pods."""
    affinity: Open = Field(default_factory=dict)
    """Affinity as in Kubernetes: nodeAffinity, podAffinity, podAntiAffinity."""
    topology_spread_constraints: Annotated[tuple[Open, ...], Field(max_length=10)] = ()
    """Topology spread constraints, as in Kubernetes."""
    priority_class_name: PriorityClassName | None = None
    """PriorityClass of the Pods. `system-...` is refused: it would evict Pods of other namespaces."""
    scheduler_name: ResourceName | None = None
    """Scheduler of the Pods."""
    runtime_class_name: ResourceName | None = None
    """RuntimeClass of the Pods, for example a sandbox."""
