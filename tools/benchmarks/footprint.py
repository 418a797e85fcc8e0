"""How large the images are, and what a run costs the operator: `python -m tools.benchmarks.footprint [RUNS]`.

Image sizes are those of the layers: as a registry keeps and sends them (gzip), and unpacked, as on a node.
The submit cost is the operator's own CPU time and requests per run, over so many ExpireSnapshots runs of one table that
users make; beside it stands the CPU time of one `spark-submit --version`, the least that an operator pays per run which
submits by a JVM of its own.
"""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
import urllib.request
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.cluster import release
from tests.e2e.lab import GROUP, Lab
from tests.support.kubectl import Kubectl, Object

NAMESPACE = "bench-footprint"
MIB = 1024 * 1024
CHUNK = 4 * MIB
_ACCEPT = "application/vnd.oci.image.manifest.v1+json, application/vnd.docker.distribution.manifest.v2+json"


class Registry:
    """The node's registry."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._unpacked: dict[str, int] = {}

    def size(self, reference: str) -> tuple[float, float]:
        """The layers of an image in MiB: unpacked, and as the registry has them."""
        repository, _, tag = reference.partition("/")[2].rpartition(":")
        request = urllib.request.Request(  # noqa: S310 - a registry on this machine's loopback
            self._url(repository, "manifests", tag), headers={"Accept": _ACCEPT}
        )
        with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
            layers = json.load(answer)["layers"]
        unpacked = sum(self._unpack(repository, layer) for layer in layers)
        return unpacked / MIB, sum(layer["size"] for layer in layers) / MIB

    def _unpack(self, repository: str, layer: Object) -> int:
        digest = layer["digest"]
        if not layer["mediaType"].endswith("gzip"):
            return int(layer["size"])
        if digest not in self._unpacked:
            unpacker, unpacked = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16), 0
            with urllib.request.urlopen(self._url(repository, "blobs", digest), timeout=60) as blob:  # noqa: S310
                while chunk := blob.read(CHUNK):
                    unpacked += len(unpacker.decompress(chunk))
            self._unpacked[digest] = unpacked
        return self._unpacked[digest]

    def _url(self, repository: str, kind: str, name: str) -> str:
        return f"http://{self._address}/v2/{repository}/{kind}/{name}"


@dataclass(frozen=True)
class Spent:
    """What the operator's process has used since it began."""

    cpu_seconds: float
    requests: float

    def __sub__(self, earlier: Spent) -> Spent:
        return Spent(self.cpu_seconds - earlier.cpu_seconds, self.requests - earlier.requests)


def spent(system: Kubectl) -> Spent:
    """From the metrics of the operator that leads."""
    text = system.run(
        "get", "--raw", f"/api/v1/namespaces/{system.namespace}/pods/{_leader(system)}:9090/proxy/metrics"
    )
    cpu = re.search(r"^process_cpu_seconds_total (\S+)", text, re.MULTILINE)
    assert cpu, text
    requests = re.findall(r"^paimon_operator_api_request_seconds_count\{.*\} (\S+)", text, re.MULTILINE)
    return Spent(float(cpu[1]), sum(map(float, requests)))


def _leader(system: Kubectl) -> str:
    lease = system.get("lease", release.RELEASE)
    assert lease is not None
    return str(lease["spec"]["holderIdentity"]).partition("_")[0]


def per_run(env: Mapping[str, str], runs: int) -> Spent:
    """Average of runs that users make, from their creation until their result is in the table's status."""
    lab = Lab(kubectl=Kubectl(namespace=NAMESPACE, env=env), env=env, engine=release.newest_engine())
    lab.kubectl.apply(release.restricted_namespace(NAMESPACE))
    lab.kubectl.apply(lab.secret(), lab.catalog(), lab.table("t", {"id": "BIGINT"}, keys=["id"]))
    lab.ready("t")
    system = Kubectl(namespace=release.NAMESPACE, env=env)
    before = spent(system)
    for _ in range(runs):
        made = lab.kubectl.run("create", "-o", "name", "-f", "-", stdin=json.dumps(_run()))
        lab.kubectl.until_condition(made.strip().partition("/")[2], "Succeeded", "True", kind="paimonrun", seconds=300)
    used = spent(system) - before
    lab.kubectl.run("delete", "namespace", NAMESPACE, "--wait=false")
    return Spent(used.cpu_seconds / runs, used.requests / runs)


def _run() -> Object:
    return {
        "apiVersion": GROUP,
        "kind": "PaimonRun",
        "metadata": {"generateName": "bench-", "namespace": NAMESPACE},
        "spec": {"tableRef": {"name": "t"}, "type": "ExpireSnapshots"},
    }


def submit_by_jvm() -> float:
    """CPU seconds of `spark-submit --version`."""
    import pyspark  # noqa: PLC0415  # only its place on the disk is of interest

    home = Path(str(pyspark.__file__)).parent
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1"}
    subprocess.run([str(home / "bin" / "spark-submit"), "--version"], env=environment, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Prints both tables as docs/benchmarks.md has them."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    env, found = release.ready_cluster(), release.images()
    registry = Registry(env["REGISTRY"])
    print("| image | on a node | in a registry (gzip) |\n|---|---|---|")
    for name, reference in {"operator": found["operator"], **found["spark"]}.items():
        unpacked, packed = registry.size(reference)
        print(f"| {name} | {unpacked:.0f} MiB | {packed:.0f} MiB |", flush=True)
    cost, jvm = per_run(env, runs), submit_by_jvm()
    print(f"\n| per run, mean of {runs} | CPU of the operator | requests |\n|---|---|---|")
    print(
        f"| ExpireSnapshots, from its creation to the table's status | {cost.cpu_seconds:.2f} s | {cost.requests:.0f} |"
    )
    print(f"| `spark-submit --version`, for comparison | {jvm:.2f} s | |")


if __name__ == "__main__":
    main()
