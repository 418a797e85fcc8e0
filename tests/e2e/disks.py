"""A volume on the node for PersistentVolumeClaims, like a storage class would create it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.cluster.layout import Layout
from tests.support.kubectl import Kubectl, Object


@contextmanager
def disk(kubectl: Kubectl, claim: str) -> Iterator[Path]:
    """Creates a volume for the namespace's `claim` and yields its directory on this machine; deletes it at the end."""
    layout = Layout()
    name = f"{kubectl.namespace}-{claim}"
    directory = layout.state / "disks" / name
    directory.mkdir(parents=True)
    kubectl.apply(_volume(name, directory, kubectl.namespace, claim, node=layout.name))
    try:
        yield directory
    finally:
        kubectl.run("delete", "persistentvolume", name, "--wait=false")
        shutil.rmtree(directory)


def claim_of(namespace: str, name: str) -> Object:
    """Returns the volume claim of a user."""
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }


def _volume(name: str, directory: Path, namespace: str, claim: str, *, node: str) -> Object:
    # A local volume, because Kubernetes gives it to the Pod's group (fsGroup); a hostPath it leaves to root.
    term = {"key": "kubernetes.io/hostname", "operator": "In", "values": [node]}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": name},
        "spec": {
            "capacity": {"storage": "5Gi"},
            "accessModes": ["ReadWriteOnce"],
            "persistentVolumeReclaimPolicy": "Retain",
            "claimRef": {"namespace": namespace, "name": claim},
            "local": {"path": str(directory)},
            "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [term]}]}},
        },
    }
