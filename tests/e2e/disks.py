"""A disk of the node for claims: what a storage class would make."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.cluster.layout import Layout
from tests.support.kubectl import Kubectl, Object


@contextmanager
def disk(kubectl: Kubectl, claim: str) -> Iterator[Path]:
    """A volume that only the namespace's `claim` can have, as a directory of this machine; gone at the end."""
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
    """The claim as a user writes it."""
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
