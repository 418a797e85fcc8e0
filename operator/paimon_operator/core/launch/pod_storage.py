"""Environment variables, volumes and volume mounts by which a Spark Pod reaches its storage."""

from __future__ import annotations

from typing import Any

from paimon_operator.core.storage.access import Mount, ValueSource, Variable


def variable(given: Variable) -> dict[str, Any]:
    """Returns the container's environment variable. Its value may come from a Secret."""
    if given.secret_key is None:
        return {"name": given.name, "value": given.value or ""}
    reference: dict[str, Any] = {"name": given.secret_key.secret, "key": given.secret_key.key}
    if given.secret_key.optional:
        reference["optional"] = True
    return {"name": given.name, "valueFrom": {"secretKeyRef": reference}}


def volume(mount: Mount) -> dict[str, Any]:
    """Returns the Pod's volume."""
    items: dict[str, Any] = {"optional": True} if mount.optional else {}
    if mount.items:
        items["items"] = [{"key": key, "path": file} for key, file in mount.items.items()]
    match mount.source:
        case ValueSource.SECRET:
            # Readable by the group of the Pod (fsGroup) and nobody else.
            return {"name": mount.volume, "secret": {"secretName": mount.name, "defaultMode": 0o440, **items}}
        case ValueSource.CONFIG_MAP:
            return {"name": mount.volume, "configMap": {"name": mount.name, **items}}
        case ValueSource.CLAIM:
            return {"name": mount.volume, "persistentVolumeClaim": {"claimName": mount.name}}


def volume_mount(mount: Mount) -> dict[str, Any]:
    """Returns the container's volume mount. Only a volume claim is writable."""
    read_only = {} if mount.source is ValueSource.CLAIM else {"readOnly": True}
    return {"name": mount.volume, "mountPath": mount.path, **read_only}
