"""A second node, on which operator and servers may be killed, or the release come and go: no other test is on it."""

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
    """A cluster that belongs to an empty directory, beside the checkout's own; it leaves nothing behind."""
    cluster = Cluster(Layout(directory))
    try:
        cluster.up()
        yield cluster
    finally:
        cluster.down(purge=True)


@contextmanager
def searched(cluster: Cluster) -> Iterator[OwnNode]:
    """The node inside the block; afterwards no Secret's value may be found on it."""
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
        """Of a cluster that is up."""
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
        """Chart and images of the earlier commit, and the first catalog."""
        before = earlier.deliver(self.lab.layout, self.lab.engine)
        spark = {"images": {"paimon-0.9": None, **before["spark"]}, "defaultEngine": self.lab.engine, "cpuShare": 0.25}
        release.install(self.lab.env, before, chart=earlier.chart(), spark=spark)  # no value that is newer
        self._apply_catalog()

    def install(self, **more: Any) -> None:
        """Installs or upgrades to what is in the checkout."""
        release.install(self.lab.env, self.now, **more)
        self._apply_catalog()

    def _apply_catalog(self) -> None:
        self.lab.kubectl.apply(self.lab.secret(), self.lab.catalog())

    def helm(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = ["helm", *arguments, "--namespace", release.NAMESPACE]
        return subprocess.run(command, env=dict(self.lab.env), text=True, capture_output=True, check=False)

    def helm_test(self) -> tuple[bool, list[str]]:
        """Whether `helm test` passed, and what its Pod found."""
        done = self.helm("test", release.RELEASE, "--logs", "--timeout", "3m")
        words = ("kinds: ", "rights: ", "leader: ", "health: ")
        found = [line for line in done.stdout.splitlines() if line.startswith(words)]
        assert found, done.stdout + done.stderr
        return done.returncode == 0, found

    def fill(self, name: str, file: str, rows: range) -> Object:
        """The manifest of a table that loads one file, which is put there."""
        self.lab.land(file, [{"id": n, "v": "x"} for n in rows])
        return self.lab.table(
            name, {"id": "BIGINT", "v": "STRING"}, writes=[once(Path(file).stem, file, mode="Append")]
        )

    def work(self, table: str) -> dict[str, list[str]]:
        """Every run and every driver Pod that the table has had and that is still there, by their UIDs."""
        found = {kind: self.lab.kubectl.list(kind, f"{TABLE_LABEL}={table}") for kind in ("paimonrun", "pod")}
        return {kind: sorted(item["metadata"]["uid"] for item in items) for kind, items in found.items()}

    def driver_at_work(self, table: str) -> str:
        """Name of the Write run of the table whose driver's container runs."""

        def running(pods: list[Object]) -> bool:
            return any(pod["status"]["phase"] == "Running" for pod in write_pods(pods))

        self.lab.kubectl.until_list("pod", f"{TABLE_LABEL}={table}", running, what="written")
        return str(self.lab.runs(table, "Write")[-1]["metadata"]["name"])

    def written_once(self, table: str) -> bool:
        """One run, one attempt, one Pod."""
        (run,) = self.lab.runs(table, "Write")
        return len(run["status"]["attempts"]) == len(write_pods(self.lab.pods(f"{TABLE_LABEL}={table}"))) == 1

    def ids(self, table: str) -> list[int]:
        return sorted(row["id"] for row in self.lab.rows(table))

    def lease(self) -> Object:
        found = self.system.get("lease", release.RELEASE)
        assert found is not None
        spec: Object = found["spec"]
        return spec
