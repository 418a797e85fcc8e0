"""A second node for tests that kill the operator or servers, or install releases. No other test uses it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.cluster import earlier, release
from tests.cluster.images.deliver import deliver, recipes
from tests.cluster.layout import Layout
from tests.cluster.node import Cluster
from tests.e2e.lab import Lab, once, write_pods
from tests.support import secret_search
from tests.support.kubectl import Kubectl, Object

TABLE_LABEL = "paimon-operator.dev/table"


@contextmanager
def cluster_in(directory: Path) -> Iterator[Cluster]:
    """Yields a cluster of an empty directory, beside the checkout's, and removes it completely."""
    cluster = Cluster(Layout(directory))
    try:
        cluster.up()
        yield cluster
    finally:
        cluster.down(purge=True)


@contextmanager
def searched(cluster: Cluster) -> Iterator[OwnNode]:
    """Yields the node; afterwards searches it for the values of Secrets."""
    yield OwnNode.on(cluster)
    assert secret_search.of_cluster(cluster.layout)[1] == []


@dataclass(frozen=True)
class OwnNode:
    """The node with the images of this checkout, and a catalog in namespace `shop`."""

    lab: Lab
    system: Kubectl
    now: Mapping[str, Any]

    @classmethod
    def on(cls, cluster: Cluster) -> OwnNode:
        """Returns the node of a running cluster."""
        operator, *spark = recipes()
        newest = spark[-1]
        now = {
            "operator": deliver(operator, cluster.layout),
            "spark": {newest.variant: deliver(newest, cluster.layout)},
        }
        env = release.read_env(cluster.layout)
        shop = Kubectl(namespace=release.SHOP, env=env)
        lab = Lab(kubectl=shop, env=env, engine=newest.variant, layout=cluster.layout)
        lab.kubectl.apply(*(release.restricted_namespace(name) for name in (release.NAMESPACE, release.SHOP)))
        return cls(lab, Kubectl(namespace=release.NAMESPACE, env=env), now)

    def install_earlier(self) -> None:
        """Installs chart and images of the earlier commit, and creates the first catalog."""
        before = earlier.deliver(self.lab.layout, self.lab.engine)
        spark = {"images": {"paimon-0.9": None, **before["spark"]}, "defaultEngine": self.lab.engine, "cpuShare": 0.25}
        release.install(self.lab.env, before, chart=earlier.chart(), spark=spark)  # without newer values
        self._apply_catalog()

    def install(self, **more: Any) -> None:
        """Installs the release of the checkout or upgrades to it."""
        release.install(self.lab.env, self.now, **more)
        self._apply_catalog()

    def _apply_catalog(self) -> None:
        self.lab.kubectl.apply(self.lab.secret(), self.lab.catalog())

    def helm(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = ["helm", *arguments, "--namespace", release.NAMESPACE]
        return subprocess.run(command, env=dict(self.lab.env), text=True, capture_output=True, check=False)

    def helm_test(self) -> tuple[bool, list[str]]:
        """Runs `helm test` and returns whether it passed, and the findings of its Pod."""
        done = self.helm("test", release.RELEASE, "--logs", "--timeout", "3m")
        words = ("kinds: ", "rights: ", "leader: ", "health: ")
        found = [line for line in done.stdout.splitlines() if line.startswith(words)]
        assert found, done.stdout + done.stderr
        return done.returncode == 0, found

    def fill(self, name: str, file: str, rows: range) -> Object:
        """Lands one file and returns the manifest of a table that loads it."""
        self.lab.land(file, [{"id": n, "v": "x"} for n in rows])
        return self.lab.table(
            name, {"id": "BIGINT", "v": "STRING"}, writes=[once(Path(file).stem, file, mode="Append")]
        )

    def work(self, table: str) -> dict[str, list[str]]:
        """Returns the UIDs of the table's runs and driver Pods."""
        found = {kind: self.lab.kubectl.list(kind, f"{TABLE_LABEL}={table}") for kind in ("paimonrun", "pod")}
        return {kind: sorted(item["metadata"]["uid"] for item in items) for kind, items in found.items()}

    def wait_for_running_driver(self, table: str) -> str:
        """Returns the name of the table's Write run once its driver runs."""

        def running(pods: list[Object]) -> bool:
            return any(pod["status"]["phase"] == "Running" for pod in write_pods(pods))

        self.lab.kubectl.until_list("pod", f"{TABLE_LABEL}={table}", running, what="written")
        return str(self.lab.runs(table, "Write")[-1]["metadata"]["name"])

    def is_written_once(self, table: str) -> bool:
        """Returns whether the write had one run, one attempt and one Pod."""
        (run,) = self.lab.runs(table, "Write")
        return len(run["status"]["attempts"]) == len(write_pods(self.lab.pods(f"{TABLE_LABEL}={table}"))) == 1

    def ids(self, table: str) -> list[int]:
        return sorted(row["id"] for row in self.lab.rows(table))

    def lease(self) -> Object:
        found = self.system.get("lease", release.RELEASE)
        assert found is not None
        spec: Object = found["spec"]
        return spec
