"""A node for one file of tests, on which the release itself may come and go while other tests' operator stays."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.cluster import earlier, release
from tests.cluster.images.deliver import deliver, recipes
from tests.cluster.node import Cluster
from tests.e2e.lab import Lab, once
from tests.support.kubectl import Kubectl, Object

TABLE_LABEL = "paimon-operator.dev/table"


@dataclass(frozen=True)
class OwnNode:
    """The node with a catalog in namespace `shop`, the images of this checkout and those of the earlier commit."""

    lab: Lab
    system: Kubectl
    now: Mapping[str, Any]
    before: Mapping[str, Any]

    @classmethod
    def on(cls, cluster: Cluster) -> OwnNode:
        """Of a cluster that is up."""
        operator, *spark = recipes()
        newest = spark[-1]
        now = {
            "operator": deliver(operator, cluster.layout),
            "spark": {newest.variant: deliver(newest, cluster.layout)},
        }
        before = earlier.deliver(cluster.layout, newest.variant)
        env = release.read_env(cluster.layout)
        lab = Lab(kubectl=Kubectl(namespace=release.SHOP, env=env), env=env, engine=newest.variant)
        lab.kubectl.apply(*(release.restricted_namespace(name) for name in (release.NAMESPACE, release.SHOP)))
        return cls(lab, Kubectl(namespace=release.NAMESPACE, env=env), now, before)

    def install_earlier(self) -> None:
        """Chart and images of the earlier commit, and the first catalog."""
        images = self.before["spark"]
        spark = {"images": {"paimon-0.9": None, **images}, "defaultEngine": self.lab.engine, "cpuShare": 0.25}
        release.install(self.lab.env, self.before, chart=earlier.chart(), spark=spark)  # no value that is newer
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

        def running(_: Object | None) -> bool:
            return any(pod["status"]["phase"] == "Running" for pod in self._write_pods(table))

        self.lab.kubectl.until("paimontable", table, running, what="being written")
        return str(self.lab.runs(table, "Write")[-1]["metadata"]["name"])

    def _write_pods(self, table: str) -> list[Object]:
        return [p for p in self.lab.pods(f"{TABLE_LABEL}={table}") if "-write-" in p["metadata"]["name"]]

    def written_once(self, table: str) -> bool:
        """One run, one attempt, one Pod."""
        (run,) = self.lab.runs(table, "Write")
        return len(run["status"]["attempts"]) == len(self._write_pods(table)) == 1

    def ids(self, table: str) -> list[int]:
        return sorted(row["id"] for row in self.lab.rows(table))

    def lease(self) -> Object:
        found = self.system.get("lease", release.RELEASE)
        assert found is not None
        spec: Object = found["spec"]
        return spec
