"""What a catalog may add to its Spark pods: where they run and what they are labelled with, never what they may do."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any, Final

from pydantic import Field

from paimon_operator.api.base import ApiModel, ResourceName, rule

_LABEL_VALUE: Final = r"^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$"
RESERVED_WORDS: Final = (
    "paimon-operator.dev/",
    "app.kubernetes.io/managed-by",
    "spark-",
    "container.apparmor.security.beta.kubernetes.io/",
    "iam.amazonaws.com/",
)
"""How keys begin by which operator and Spark find their Pods, and those that give a Pod a profile or a cloud's role."""
_RESERVED: Final = "[" + ", ".join(f"'{word}'" for word in RESERVED_WORDS) + "].exists(p, k.startsWith(p))"
_KEYS: Final = rule("self.all(k, k.size() <= 316)", "a key must have at most 316 characters")
_FREE_KEYS: Final = rule(
    f"self.all(k, !{_RESERVED})",
    "keys that begin with paimon-operator.dev/, app.kubernetes.io/managed-by or spark- are the operator's and Spark's, "
    "and container.apparmor.security.beta.kubernetes.io/ or iam.amazonaws.com/ say what a Pod may do",
    reason="FieldValueForbidden",
)
_OPEN: Final = {"x-kubernetes-preserve-unknown-fields": True}
"""Kubernetes' own shapes, which the API server checks when the Pod is made; a mistake shows as NotPermitted."""

LabelValue = Annotated[str, Field(pattern=_LABEL_VALUE, max_length=63)]
Labels = Annotated[
    dict[str, LabelValue], Field(max_length=20, json_schema_extra={"x-kubernetes-validations": [_KEYS, _FREE_KEYS]})
]
Annotations = Annotated[
    dict[str, Annotated[str, Field(max_length=1024)]],
    Field(max_length=20, json_schema_extra={"x-kubernetes-validations": [_KEYS, _FREE_KEYS]}),
]
NodeSelector = Annotated[
    dict[str, LabelValue], Field(max_length=20, json_schema_extra={"x-kubernetes-validations": [_KEYS]})
]
Open = Annotated[dict[str, Any], Field(json_schema_extra=_OPEN)]


class TolerationOperator(StrEnum):
    """How a toleration is compared with a taint."""

    EXISTS = "Exists"
    EQUAL = "Equal"


class TaintEffect(StrEnum):
    """What a taint does to pods that do not tolerate it."""

    NO_SCHEDULE = "NoSchedule"
    PREFER_NO_SCHEDULE = "PreferNoSchedule"
    NO_EXECUTE = "NoExecute"


class Toleration(ApiModel):
    """A taint that the pods tolerate, as in Kubernetes."""

    key: Annotated[str, Field(max_length=316)] | None = None
    """Key of the taint; absent: every taint."""
    operator: TolerationOperator | None = None
    """Exists or Equal (the default)."""
    value: LabelValue | None = None
    """Value of the taint."""
    effect: TaintEffect | None = None
    """Absent: all effects."""
    toleration_seconds: Annotated[int, Field(ge=0, json_schema_extra={"format": "int64"})] | None = None
    """How long a NoExecute taint is tolerated."""


class PodOverlay(ApiModel):
    """Fields of Kubernetes' Pod, for driver and executors alike. An edit applies to the next run."""

    labels: Labels = Field(default_factory=dict)
    """Labels besides the operator's: for queues, costs, network policies."""
    annotations: Annotations = Field(default_factory=dict)
    """Annotations besides the operator's."""
    node_selector: NodeSelector = Field(default_factory=dict)
    """Labels that a node must have."""
    tolerations: Annotated[tuple[Toleration, ...], Field(max_length=20)] = ()
    """Taints that the pods tolerate."""
    affinity: Open = Field(default_factory=dict)
    """Affinity as in Kubernetes: nodeAffinity, podAffinity, podAntiAffinity."""
    topology_spread_constraints: Annotated[tuple[Open, ...], Field(max_length=10)] = ()
    """Spread over zones and nodes, as in Kubernetes."""
    priority_class_name: ResourceName | None = None
    """PriorityClass of the pods."""
    scheduler_name: ResourceName | None = None
    """Scheduler that places the pods."""
    runtime_class_name: ResourceName | None = None
    """RuntimeClass of the pods: a sandbox, for instance."""
