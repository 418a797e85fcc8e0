"""The operator on the node: installed by its Helm chart, with the namespace `shop` ready for a first table.

`python -m tests.cluster.release` brings the cluster up, installs or upgrades the release, and says what to try.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from tests.cluster.cache import CHECKOUT
from tests.cluster.control_plane import OPERATOR_ADDRESS
from tests.cluster.layout import Layout
from tests.cluster.node import Cluster
from tests.support.kubectl import Kubectl

Object = dict[str, Any]

RELEASE, NAMESPACE, SHOP = "paimon-operator", "paimon-system", "shop"
CHART = CHECKOUT / "charts" / "paimon-operator"
_WORKLOAD_ACCOUNT = "paimon-spark"


def read_env(layout: Layout) -> dict[str, str]:
    """This process's environment with what `source build/cluster/env` would add."""
    shell = f'set -a; . "{layout.env_file}"; env -0'
    done = subprocess.run(["bash", "-c", shell], capture_output=True, check=True)
    pairs = (item.split("=", 1) for item in done.stdout.decode().split("\0") if "=" in item)
    return {**os.environ, **dict(pairs)}


def images(layout: Layout | None = None) -> dict[str, Any]:
    """What `up` put onto the node: `operator`, and `spark` by engine."""
    file = (layout or Layout()).state / "images.json"
    found: dict[str, Any] = json.loads(file.read_text())
    return found


def engines() -> list[str]:
    """Engines whose jars could be had when the images were made, oldest first."""
    return sorted(images()["spark"])


def newest_engine() -> str:
    """The one that demo and tests take unless they run on each."""
    return engines()[-1]


def values(found: Mapping[str, Any]) -> Object:
    """The chart's values for this node."""
    of_images = image_values(found)
    # two cores serve several tables at once
    spark = of_images["spark"] | {"cpuShare": 0.25, "allowClaims": True, "executorTimeout": "150s"}
    return of_images | {
        "spark": spark,
        "workloads": {"namespaces": [SHOP]},
        "service": {"clusterIP": OPERATOR_ADDRESS},  # the node has no DNS
        "resources": {"requests": {"cpu": "200m", "memory": "128Mi"}},
    }


def image_values(found: Mapping[str, Any]) -> Object:
    """Those that name the images: `operator`, and `spark` by engine."""
    named_by = "digest" if "@" in found["operator"] else "tag"
    repository, _, version = found["operator"].rpartition("@" if named_by == "digest" else ":")
    # null removes an engine of the chart's defaults that this machine cannot have
    return {
        "image": {"repository": repository, named_by: version, "pullPolicy": "IfNotPresent"},
        "spark": {"images": {"paimon-0.9": None, **found["spark"]}, "defaultEngine": sorted(found["spark"])[-1]},
    }


def restricted_namespace(name: str) -> Object:
    """A namespace that admits no Pod weaker than Pod Security `restricted`."""
    labels = {"pod-security.kubernetes.io/enforce": "restricted", "pod-security.kubernetes.io/warn": "restricted"}
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def install(env: Mapping[str, str], found: Mapping[str, Any], *, chart: Path = CHART, **more: Any) -> None:
    """helm upgrade --install, and waits until the operator is ready. `more` are values beside those of this node.

    The operator watches all namespaces, which an earlier chart does by default, unless `more` names some.
    """
    scope: dict[str, Any] = {} if chart != CHART or "watchNamespaces" in more else {"allNamespaces": True}
    given = values(found)
    if chart != CHART:
        del given["service"]  # unknown to an earlier chart
    command = ["helm", "upgrade", "--install", RELEASE, str(chart), "--namespace", NAMESPACE]
    flags = ["--values", "-", "--wait", "--timeout", "3m"]
    text = yaml.safe_dump(given | scope | more)
    subprocess.run([*command, *flags], input=text, env=dict(env), text=True, check=True)


def shop_objects(env: Mapping[str, str]) -> list[Object]:
    """The Secret and the catalog that an administrator would make once."""
    keys = {key: env[key] for key in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")}
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "lake-s3", "namespace": SHOP},
        "stringData": keys,
    }
    catalog: Object = yaml.safe_load((CHECKOUT / "examples" / "catalog.yaml").read_text())
    catalog["spec"]["storage"]["s3"]["endpoint"] = env["CLUSTER_S3_ENDPOINT_IN_CLUSTER"]
    return [secret, catalog]


def running_cluster() -> dict[str, str]:
    """Node, S3 and images: made when missing. Returns the environment to work with."""
    cluster = Cluster()
    if not cluster.is_ready() or not cluster.layout.images_file.exists():
        subprocess.run([sys.executable, "-m", "tests.cluster", "up"], cwd=CHECKOUT, check=True)
    return read_env(cluster.layout)


def ready_cluster() -> dict[str, str]:
    """The same with the operator and namespace `shop`."""
    env = running_cluster()
    if Kubectl(namespace=NAMESPACE, env=env).get("deployment", RELEASE) is None:
        deploy(env)
    return env


def deploy(env: Mapping[str, str]) -> None:
    """Namespaces first (the chart makes the workload account in `shop`), then the release, then catalog and Secret."""
    Kubectl(namespace="default", env=env).apply(restricted_namespace(NAMESPACE), restricted_namespace(SHOP))
    install(env, images())
    Kubectl(namespace=SHOP, env=env).apply(*shop_objects(env))


def main() -> None:
    """Always deploys again, so that a changed operator reaches the node."""
    deploy(running_cluster())
    print(f"engines on this node: {', '.join(engines())}; newest: {newest_engine()}")
    print("now: source build/cluster/env && kubectl -n shop get pcat,pt,prun")


if __name__ == "__main__":
    main()
