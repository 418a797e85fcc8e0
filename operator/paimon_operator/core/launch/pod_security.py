"""What a cluster demands of every Spark Pod: Pod Security `restricted`, a user, and CPU limits if quotas count them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

SPARK_UID: Final = 185
"""User and group of the Spark image."""


@dataclass(frozen=True, kw_only=True)
class PodRules:
    """Settings for all Pods that the operator creates, and for executors."""

    uid: int | None = SPARK_UID
    """User, group and fsGroup; None: the platform sets them, as OpenShift does."""
    cpu_limits: bool = False
    """Whether a container may use no more CPU than its cores. Needed only where a quota counts `limits.cpu`, because
    the start of a JVM is CPU bound."""

    def pod_security(self) -> dict[str, Any]:
        """The security context of a Pod."""
        ids = {} if self.uid is None else dict.fromkeys(("runAsUser", "runAsGroup", "fsGroup"), self.uid)
        return {"runAsNonRoot": True, **ids, "seccompProfile": {"type": "RuntimeDefault"}}

    def limits(self, memory: str, cpu_millis: int) -> dict[str, str]:
        """The limits of a container."""
        return {"memory": memory, **self.cpu_limit(cpu_millis)}

    def cpu_limit(self, cpu_millis: int) -> dict[str, str]:
        """The CPU limit alone, if there is one."""
        return {"cpu": cpu(cpu_millis)} if self.cpu_limits else {}


def container_security() -> dict[str, Any]:
    """The security context of a container."""
    return {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "readOnlyRootFilesystem": True,
    }


def cpu(millis: int) -> str:
    """As the API server writes it, so that what is stored equals what was sent."""
    return f"{millis}m" if millis % 1000 else str(millis // 1000)
