"""`make demo CLUSTER=current`: the demo on the cluster of the user's kubectl context, as an ordinary user.

It needs kubectl, helm, an image builder and the rights of `helm install`, and no root. REGISTRY names where the images
are pushed to, or LOAD a command that brings an image onto the nodes. Everything is in two namespaces of its own, which
it shows and has confirmed first (YES=1 confirms). It refuses a cluster in which another release owns the CRDs.
"""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

from tests.cluster import release
from tests.cluster.demo import Demo
from tests.cluster.forward_port import forwarded
from tests.cluster.images.digest import digest
from tests.cluster.s3 import REGION, S3Keys, create_buckets, s3_at
from tests.support import lake_reader
from tests.support.kubectl import Kubectl, Object
from tools.images.builder import CHECKOUT, NoBuilderError, image_builder
from tools.images.publish import Images, chosen_engines, loader, publish, pusher, version

SYSTEM: Final = "paimon-demo-system"
NAMESPACE: Final = "paimon-demo"
OURS: Final = {"paimon-operator.dev/demo": "true"}
"""Labels of the two namespaces."""
S3_PORT: Final = 7070
KEYS: Final = "lake-s3"
CRD: Final = "paimontables.paimon-operator.dev"


@dataclass(frozen=True)
class OnOwnCluster:
    """The demo's namespace, whose S3 server is reached through a forwarded port."""

    kubectl: Kubectl
    keys: S3Keys
    endpoint: str
    namespace: str = NAMESPACE

    def prepare(self) -> None:
        """Makes the buckets and the catalog."""
        create_buckets(self.endpoint, self.keys)
        self.kubectl.apply(self._catalog())

    def land(self, path: str, content: str) -> str:
        s3_at(self.endpoint, self.keys).put_object(Bucket="landing", Key=path, Body=content.encode())
        return f"s3://landing/{path}"

    def rows(self) -> list[dict[str, Any]]:
        env = {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_ACCESS_KEY_ID": self.keys.access_key_id,
            "AWS_SECRET_ACCESS_KEY": self.keys.secret_access_key,
            "AWS_REGION": REGION,
        }
        return lake_reader.read_rows(self._catalog()["spec"]["warehouse"], release.SHOP, "orders", env=env)

    def _catalog(self) -> Object:
        """The example's, with the server by its address: not every cluster has DNS."""
        catalog: Object = yaml.safe_load((CHECKOUT / "examples" / "catalog.yaml").read_text())
        catalog["metadata"]["namespace"] = self.namespace
        address = (self.kubectl.get("service", "s3") or {})["spec"]["clusterIP"]
        catalog["spec"]["storage"]["s3"]["endpoint"] = f"http://{address}:{S3_PORT}"
        catalog["spec"]["allowedDatabases"] = [release.SHOP]
        return catalog


@contextmanager
def pinned(env: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """The variables with a kubeconfig of the current context alone.

    The build takes minutes, and a person may change the context meanwhile: all goes where the confirmed one led to.
    """
    config = _kubectl(env, "config", "view", "--minify", "--flatten", "--raw")
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "kubeconfig"
        path.touch(mode=0o600)
        path.write_text(config, encoding="utf-8")
        yield {**env, "KUBECONFIG": str(path)}


def confirm(env: Mapping[str, str]) -> None:
    """Shows the context and what will be made there. Ends the program unless a person or YES=1 confirms it."""
    context = _kubectl(env, "config", "current-context")
    server = _kubectl(env, "config", "view", "--minify", "--output=jsonpath={.clusters[0].cluster.server}")
    print(
        f"context {context} at {server}: the demo makes the CRDs of this operator, cluster roles, admission policies,"
    )
    print(f"and the namespaces {SYSTEM} and {NAMESPACE}.", flush=True)
    if env.get("YES") == "1":
        return
    if not sys.stdin.isatty() or input("Go on? [y/N] ").strip().lower() not in ("y", "yes"):
        raise SystemExit("nothing was changed. To go on without a question: YES=1")


def refuse_others(kubectl: Kubectl) -> None:
    """Ends the program where the namespaces or the CRDs belong to somebody else."""
    for name in (SYSTEM, NAMESPACE):
        found = kubectl.get("namespace", name)
        if found is not None and not OURS.items() <= (found["metadata"].get("labels") or {}).items():
            raise SystemExit(f"namespace {name} exists and is not the demo's: nothing was changed")
    owner = ((kubectl.get("customresourcedefinition", CRD) or {}).get("metadata") or {}).get("annotations") or {}
    namespace = owner.get("meta.helm.sh/release-namespace", SYSTEM)
    if namespace != SYSTEM:
        raise SystemExit(f"an operator is installed here already (namespace {namespace}): nothing was changed")


def images(env: Mapping[str, str]) -> Images:
    """Builds the images and brings them where the nodes find them."""
    registry, load = env.get("REGISTRY", ""), env.get("LOAD", "")
    if bool(registry) == bool(load):
        raise SystemExit('name one: REGISTRY=registry.example.com/me or LOAD="kind load docker-image"')
    try:
        builder, engines = image_builder(env), chosen_engines(env.get("ENGINES", "newest"))
    except (NoBuilderError, ValueError) as error:
        raise SystemExit(f"error: {error}") from error
    sources = [CHECKOUT / name for name in ("Dockerfile", "Dockerfile.spark", "operator", "spark_apps", "tools/images")]
    tag = f"{version()}-{digest(files=sources)}"  # of its own, so that no node takes an older image for it
    return publish(builder, engines, loader(load) if load else pusher(builder), prefix=registry, tag=tag)


def install(env: Mapping[str, str], built: Images) -> None:
    """The operator of this clone, for the demo's namespace alone."""
    values = release.image_values({"operator": built.operator, "spark": dict(built.spark)})
    values |= {"watchNamespaces": [NAMESPACE], "workloads": {"namespaces": [NAMESPACE]}}
    chart = str(CHECKOUT / "charts" / "paimon-operator")
    command = ["helm", "upgrade", "--install", release.RELEASE, chart, "--namespace", SYSTEM, "--values", "-"]
    text = yaml.safe_dump(values)
    subprocess.run([*command, "--wait", "--timeout", "5m"], input=text, env=dict(env), text=True, check=True)


def start_s3(kubectl: Kubectl, env: Mapping[str, str]) -> S3Keys:
    """Applies the manifest of the server and waits for it. Its keys are made once."""
    if kubectl.get("secret", KEYS) is None:
        made = (f"AK{secrets.token_hex(9).upper()}", secrets.token_urlsafe(30))
        data = dict(zip(("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"), made, strict=True))
        metadata = {"name": KEYS, "namespace": NAMESPACE}
        kubectl.apply({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": data})
    objects: list[Object] = list(yaml.safe_load_all((CHECKOUT / "examples" / "demo" / "s3-server.yaml").read_text()))
    if "S3_IMAGE" in env:
        objects[0]["spec"]["template"]["spec"]["containers"][0]["image"] = env["S3_IMAGE"]
    kubectl.apply(*objects)
    kubectl.run("rollout", "status", "deployment/s3", "--timeout=5m", timeout=330)
    decoded = "{{range .data}}{{base64decode .}} {{end}}"
    return S3Keys(*kubectl.run("get", "secret", KEYS, f"--output=go-template={decoded}").split())


def _namespace(name: str) -> Object:
    namespace = release.restricted_namespace(name)
    namespace["metadata"]["labels"] |= OURS
    return namespace


def _kubectl(env: Mapping[str, str], *arguments: str) -> str:
    done = subprocess.run(["kubectl", *arguments], env=dict(env), capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"kubectl {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout.strip()


TRY_NEXT = f"""
==> What to try next
    kubectl -n {NAMESPACE} describe paimontable orders       # what happened, what is next, and why not now
    kubectl explain paimontable.spec.compaction       # every field
    kubectl -n {NAMESPACE} delete paimontables,paimonruns,paimoncatalogs --all   # first, else the next is refused
    kubectl delete namespace {NAMESPACE}              # the data; wait for it, then:
    helm uninstall {release.RELEASE} --namespace {SYSTEM} && kubectl delete namespace {SYSTEM}
"""


def main(arguments: Sequence[str]) -> None:
    """`python -m tests.cluster.current`: REGISTRY, LOAD, ENGINES, BUILDER, S3_IMAGE and YES are variables."""
    if arguments:
        raise SystemExit("what the demo needs is in variables: see docs/demo.md")
    with pinned(os.environ) as env:
        confirm(env)
        _tell(env)
    print(TRY_NEXT)


def _tell(env: Mapping[str, str]) -> None:
    """The demo where the kubeconfig of `env` leads."""
    kubectl = Kubectl(namespace=NAMESPACE, env=env)
    refuse_others(kubectl)
    built = images(env)
    kubectl.apply(_namespace(SYSTEM), _namespace(NAMESPACE))
    install(env, built)
    keys = start_s3(kubectl, env)
    with forwarded(kubectl, "service/s3", S3_PORT) as port:
        place = OnOwnCluster(kubectl, keys, f"http://127.0.0.1:{port}")
        place.prepare()
        Demo(env, place, engine=list(built.spark)[-1]).tell()


if __name__ == "__main__":
    main(sys.argv[1:])
