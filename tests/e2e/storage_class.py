"""A default StorageClass on the node: the one of kind and K3s, whose volumes are directories of the node."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.cluster.layout import Layout
from tests.cluster.processes import Daemon
from tests.cluster.programs import LOCAL_PATH_PROVISIONER
from tests.support.kubectl import Kubectl, Object

NAMESPACE: Final = "local-path-storage"
CLASS: Final = "local-path"
PROVISIONER: Final = f"rancher.io/{CLASS}"
_MAKE: Final = '#!/bin/sh\nset -eu\nmkdir -m 0777 -p "$VOL_DIR"\n'
_REMOVE: Final = '#!/bin/sh\nset -eu\nrm -rf "$VOL_DIR"\n'
"""The provisioner's own scripts: its volumes belong to root, and everybody may write."""


@contextmanager
def default_storage_class(env: Mapping[str, str], image: str) -> Iterator[None]:
    """Provides volumes in the block. Pods of `image`, which has a shell, make and remove their directories.

    Claims have to be deleted before the end.
    """
    layout, kubectl = Layout(), Kubectl(namespace=NAMESPACE, env=env)
    directory = layout.state / "provisioned"
    kubectl.apply(*_objects(directory, image))
    daemon = Daemon("provisioner", layout.state / "provisioner.pid", layout.state / "provisioner.log")
    flags = (f"--namespace={NAMESPACE}", f"--provisioner-name={PROVISIONER}", f"--kubeconfig={env['KUBECONFIG']}")
    accounts = (f"--helper-image={image}", "--service-account-name=default")
    daemon.start(["setpriv", "--pdeathsig", "KILL", str(LOCAL_PATH_PROVISIONER.path), "start", *flags, *accounts])
    try:
        yield
    finally:
        daemon.stop()
        kubectl.run("delete", "storageclass", CLASS)
        kubectl.run("delete", "namespace", NAMESPACE, timeout=300)
        shutil.rmtree(directory, ignore_errors=True)  # empty, unless the test has failed


def _objects(directory: Path, image: str) -> list[Object]:
    config = {"nodePathMap": [{"node": "DEFAULT_PATH_FOR_NON_LISTED_NODES", "paths": [str(directory)]}]}
    scripts = {"setup": _MAKE, "teardown": _REMOVE, "config.json": json.dumps(config)}
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}},
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "local-path-config", "namespace": NAMESPACE},
            "data": {**scripts, "helperPod.yaml": json.dumps(_helper_pod(image))},
        },
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": {"name": CLASS, "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}},
            "provisioner": PROVISIONER,
            "volumeBindingMode": "WaitForFirstConsumer",
            "reclaimPolicy": "Delete",
        },
    ]


def _helper_pod(image: str) -> Object:
    container = {
        "name": "helper-pod",
        "image": image,
        "imagePullPolicy": "IfNotPresent",
        "securityContext": {"runAsUser": 0},  # (our images have another user, and the directory belongs to root)
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "helper-pod"}, "spec": {"containers": [container]}}
