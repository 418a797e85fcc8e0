"""`make bench`: from a manifest to a table, side by side in one run.

Four ways to the same table, interleaved so that a busy moment of the machine hits all alike:

* `operator`: `kubectl apply` of a PaimonTable until its Ready condition is True, on the node;
* `spark-sql`: a bare `spark-sql` of the same pyspark and jars on this machine, the same DDL on the same S3 server;
* `pod, no archive`: the operator's own driver Pod for a table, once more with the class-data archive switched off;
* `pod, archive`: the same Pod as it is. Both are timed from their containers' start to exit.
"""

from __future__ import annotations

import argparse
import copy
import json
import os
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from paimon_engines.loader import supported_engines
from tests.cluster import release
from tests.e2e.lab import Lab
from tests.support.kubectl import Kubectl
from tools.engines.fetch import fetch

NAMESPACE = "bench"
COLUMNS = {"id": "BIGINT", "state": "STRING", "amount": "DECIMAL(12,2)"}


class Bench:
    """One namespace, fresh table names for every round."""

    def __init__(self, env: Mapping[str, str]) -> None:
        engine = release.newest_engine()
        self.lab = Lab(kubectl=Kubectl(namespace=NAMESPACE, env=env), env=env, engine=engine)
        self.lab.kubectl.apply(release.restricted_namespace(NAMESPACE))
        self.lab.kubectl.apply(self.lab.secret(), self.lab.catalog())
        self.stamp = f"{int(time.time()):x}"

    def operator(self, number: int) -> float:
        name = f"op-{self.stamp}-{number}"
        table = self.lab.table(name, COLUMNS, keys=["id"], bucket={"type": "Fixed", "fixed": {"count": 2}})
        start = time.monotonic()
        self.lab.kubectl.apply(table)
        self.lab.kubectl.run("wait", f"paimontable/{name}", "--for=condition=Ready", "--timeout=5m", timeout=310)
        return time.monotonic() - start

    def spark_sql(self, number: int) -> float:
        ddl = (
            f"CREATE DATABASE IF NOT EXISTS p.{NAMESPACE}; CREATE TABLE p.{NAMESPACE}.sql_{self.stamp}_{number} "
            "(id BIGINT NOT NULL, state STRING, amount DECIMAL(12,2)) TBLPROPERTIES ('primary-key'='id', 'bucket'='2')"
        )
        command = [str(_spark_home() / "bin" / "spark-sql"), "--master", "local[1]", *self._conf(), "-e", ddl]
        start = time.monotonic()
        done = subprocess.run(command, env=self._spark_env(), capture_output=True, text=True, check=False, cwd="/tmp")  # noqa: S108
        if done.returncode:
            raise SystemExit(f"bare spark-sql failed:\n{done.stderr[-3000:]}")
        return time.monotonic() - start

    def pod(self, number: int, *, archive: bool) -> float:
        """Creates a driver Pod from the last Provision's, for a table of its own."""
        name = f"{'with' if archive else 'without'}-{self.stamp}-{number}"
        model = next(pod for pod in self.lab.pods() if f"op-{self.stamp}" in pod["metadata"]["labels"][LABEL])
        config = self.lab.kubectl.get("configmap", model["metadata"]["labels"]["paimon-operator.dev/run"]) or {}
        job = json.loads(config["data"]["job.json"])
        job["table"]["name"] = name.replace("-", "_")
        meta = {"name": name, "namespace": NAMESPACE}
        self.lab.kubectl.apply(
            {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"job.json": json.dumps(job)}},
            {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": _renamed(model["spec"], name, archive)},
        )
        ended = self.lab.kubectl.until(
            "pod", name, lambda o: o and o["status"]["phase"] in ("Succeeded", "Failed"), what="ended"
        )
        state = (ended or {})["status"]["containerStatuses"][0]["state"]["terminated"]
        if state["exitCode"]:
            raise SystemExit(f"{name}: {state.get('message')}")
        return (_time(state["finishedAt"]) - _time(state["startedAt"])).total_seconds()

    def _conf(self) -> list[str]:
        engine = supported_engines()[self.lab.engine]
        jars = fetch(engine).directory
        options = {
            "warehouse": f"s3://lake/{NAMESPACE}",
            "s3.endpoint": self.lab.env["AWS_ENDPOINT_URL"],
            "s3.endpoint.region": self.lab.env["AWS_REGION"],
            "s3.path.style.access": "true",
            "s3.access-key": self.lab.env["AWS_ACCESS_KEY_ID"],
            "s3.secret-key": self.lab.env["AWS_SECRET_ACCESS_KEY"],
            "s3.directory.marker.retention": "keep",
        }
        conf = {
            "spark.driver.extraClassPath": f"{jars}/*",
            "spark.ui.enabled": "false",
            "spark.sql.catalog.p": "org.apache.paimon.spark.SparkCatalog",
            "spark.sql.extensions": "org.apache.paimon.spark.extensions.PaimonSparkSessionExtensions",
            "spark.sql.catalogImplementation": "in-memory",
            **{f"spark.sql.catalog.p.{key}": value for key, value in options.items()},
        }
        return [part for key, value in conf.items() for part in ("--conf", f"{key}={value}")]

    def _spark_env(self) -> dict[str, str]:
        return {**os.environ, "SPARK_HOME": str(_spark_home())}


LABEL = "paimon-operator.dev/table"


def _spark_home() -> Path:
    import pyspark  # noqa: PLC0415 - only where it is installed

    return Path(pyspark.__file__).parent


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _renamed(spec: Mapping[str, Any], name: str, archive: bool) -> dict[str, Any]:
    copied = copy.deepcopy(dict(spec))
    copied.pop("nodeName", None)
    for volume in copied["volumes"]:
        if "configMap" in volume:
            volume["configMap"]["name"] = name
    if not archive:
        copied["containers"][0]["env"].append({"name": "JDK_JAVA_OPTIONS", "value": "-Xshare:off"})
    return copied


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    bench = Bench(release.ready_cluster())
    ways: dict[str, Callable[[int], float]] = {
        "operator, apply to Ready": bench.operator,
        "bare spark-sql, same DDL": bench.spark_sql,
        "driver Pod with archive": lambda n: bench.pod(n, archive=True),
        "driver Pod without archive": lambda n: bench.pod(n, archive=False),
    }
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    for number in range(rounds):
        for way, measure in ways.items():
            seconds[way].append(measure(number))
            print(f"round {number + 1}: {way}: {seconds[way][-1]:.1f} s", flush=True)
    print(f"\nengine {bench.lab.engine}, {rounds} rounds, seconds: median (min-max)")
    for way, values in seconds.items():
        print(f"  {way:28} {statistics.median(values):6.1f} ({min(values):.1f}-{max(values):.1f})")
    ratio = statistics.median(seconds["operator, apply to Ready"]) / statistics.median(
        seconds["bare spark-sql, same DDL"]
    )
    print(f"  operator / spark-sql: {ratio:.2f} (goal: at most 0.70)")


if __name__ == "__main__":
    main()
