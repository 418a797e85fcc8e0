"""Runs that share driver Pods, beside one Pod each: `python -m tools.benchmarks.batching [EXPIRIES] [TABLES]`.

* EXPIRIES tables (100) have their expiry of snapshots due at the same minute. Compared are the seconds of all driver
  containers with a Pod for each and with shared Pods: once with as many at a time as the node takes, and once with as
  many as its two cores can serve. These are two Pods of one run, or one shared Pod, whose turns use both cores.
* TABLES tables (50) are applied at once, with shared Pods, until all are Ready. As many bare `spark-sql` run in turn
  with the same DDL. Compared is the wall time.

Both need the operator with `batching`, which is switched off again at the end. It fails where a goal is missed.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from paimon_contract.turns import MAX_JOBS
from tests.cluster import release
from tests.e2e.lab import OF_RUNS, Lab
from tests.support.kubectl import Kubectl, Object, condition
from tools.benchmarks.apply_to_ready import COLUMNS, Bench
from tools.benchmarks.due_expiries import DUE, RETENTION, make_tables

LEAD = timedelta(minutes=2)
"""From the edit of all schedules to their tick."""
PATIENCE_S = 3600
EXPIRY_GOAL, APPLY_GOAL = 1 / 20, 1 / 10
LIMITS: Mapping[str, tuple[Mapping[str, int], Mapping[str, int]]] = {
    "as many as the node takes": ({}, {}),
    "as many as the cores serve": ({"maxConcurrentRuns": 2}, {"maxConcurrentRuns": MAX_JOBS}),
}
"""Pods at a time -> the limits of the catalog with a Pod for each run, and with shared Pods."""
SHARED = "shared Pods"
BUCKET = {"type": "Fixed", "fixed": {"count": 1}}


def switch_batching(env: Mapping[str, str], *, on: bool) -> None:
    """Deploys the operator of this checkout with or without shared Pods."""
    release.install(env, release.images(), batching={"enabled": on})


class Fleet:
    """Tables of a namespace that pypaimon has made, with several snapshots each. The operator adopts them."""

    def __init__(self, env: Mapping[str, str], namespace: str, count: int) -> None:
        self.lab = Lab(kubectl=Kubectl(namespace=namespace, env=env), env=env, engine=release.newest_engine())
        self.names = [f"t{number}" for number in range(count)]
        self.lab.kubectl.apply(release.restricted_namespace(namespace))
        self.lab.kubectl.apply(self.lab.secret(), self.lab.catalog())

    def adopt(self) -> None:
        """Makes the tables and waits until the operator manages them."""
        warehouse, database = f"s3://lake/{self.lab.namespace}", self.lab.database
        make_tables(warehouse, database, {name: {} for name in self.names}, env=self.lab.env)
        self.lab.kubectl.apply(*self._manifests(None))
        all_ready(self.lab, len(self.names))

    def limit(self, **limits: Any) -> None:
        """Sets the limits of the catalog."""
        self.lab.kubectl.apply(self.lab.catalog(limits=limits))

    def expire(self) -> float:
        """Seconds of all driver containers for an expiry of each table that is due at the same minute."""
        begin, tick = datetime.now(UTC), datetime.now(UTC) + LEAD
        self.lab.kubectl.apply(*self._manifests(f"{tick.minute} {tick.hour} * * *"))
        runs = self.lab.kubectl.until_list("paimonrun", "", self._all_ended, what="all expired", seconds=PATIENCE_S)
        expiries = [run for run in runs if run["spec"]["type"] == "ExpireSnapshots"]
        wrong = [run for run in expiries if run["status"].get("expired") != DUE]
        assert not wrong, f"not as many snapshots expired as were due: {wrong[:1]}"
        wait_for_drivers(self.lab)
        return container_seconds(self.lab.pods(OF_RUNS), begin)

    def _all_ended(self, runs: Sequence[Object]) -> bool:
        expiries = [run for run in runs if run["spec"]["type"] == "ExpireSnapshots"]
        phases = [str(run.get("status", {}).get("phase")) for run in expiries]
        assert "Failed" not in phases, "an expiry has failed"
        return all(phase == "Succeeded" for phase in phases) and len(phases) == len(self.names)

    def _manifests(self, schedule: str | None) -> list[Object]:
        retention: Object = RETENTION | ({} if schedule is None else {"schedule": schedule})
        spec = {"adoptionPolicy": "Adopt", "bucket": BUCKET, "retention": {"snapshots": retention}}
        columns = {"id": "BIGINT", "v": "STRING"}
        return [self.lab.table(name, columns, keys=["id"], **spec) for name in self.names]


def container_seconds(pods: Sequence[Object], since: datetime) -> float:
    """Seconds of the drivers' containers that have started after `since`. All of them must have ended."""
    total = 0.0
    for pod in pods:
        for status in pod["status"].get("containerStatuses") or ():
            ended = status["state"]["terminated"]
            started = datetime.fromisoformat(ended["startedAt"])
            total += (datetime.fromisoformat(ended["finishedAt"]) - started).total_seconds() if started >= since else 0
    return total


def all_ready(lab: Lab, count: int) -> None:
    """Waits until that many tables of the namespace are Ready."""

    def ready(tables: Sequence[Object]) -> bool:
        return [condition(table, "Ready").get("status") for table in tables].count("True") == count

    lab.kubectl.until_list("paimontable", "", ready, what=f"{count} Ready", seconds=PATIENCE_S)


def wait_for_drivers(lab: Lab) -> None:
    """Waits until no driver of the namespace is active."""
    ended = ("Succeeded", "Failed")
    lab.kubectl.until_list(
        "pod",
        OF_RUNS,
        lambda pods: all(each["status"].get("phase") in ended for each in pods),
        what="ended",
        seconds=600,
    )


def expiries(env: Mapping[str, str], count: int) -> Mapping[str, float]:
    """Pods at a time -> the seconds with shared Pods as a share of those with a Pod for each run."""
    return {at_a_time: shared_seconds(env, at_a_time, count) for at_a_time in LIMITS}


def shared_seconds(env: Mapping[str, str], at_a_time: str, count: int) -> float:
    """The seconds with shared Pods as a share of those with a Pod for each run."""
    switch_batching(env, on=True)
    fleets = [Fleet(env, f"bench-{way}-{int(time.time()):x}", count) for way in ("alone", "shared")]
    for fleet in fleets:
        fleet.adopt()
        wait_for_drivers(fleet.lab)
    alone, shared = LIMITS[at_a_time]
    seconds = {}
    for way, fleet, limits in zip(("a Pod each", SHARED), fleets, (alone, shared), strict=True):
        switch_batching(env, on=way == SHARED)
        if limits:
            fleet.limit(**limits)
        seconds[way] = fleet.expire()
        print(f"  {count} expiries, {way}, {at_a_time}: {seconds[way]:.0f} seconds of drivers", flush=True)
        fleet.lab.kubectl.run("delete", "namespace", fleet.lab.namespace, "--wait=false")
    return seconds[SHARED] / seconds["a Pod each"]


def applies(env: Mapping[str, str], count: int) -> float:
    """The time until all tables are Ready as a share of the time of bare spark-sql in turn."""
    switch_batching(env, on=True)
    bench = Bench(env)
    lab = Lab(kubectl=Kubectl(namespace="bench-applied", env=env), env=env, engine=bench.lab.engine)
    lab.kubectl.apply(release.restricted_namespace(lab.namespace))
    lab.kubectl.apply(lab.secret(), lab.catalog())
    bucket = {"type": "Fixed", "fixed": {"count": 2}}
    tables = [lab.table(f"t{number}", COLUMNS, keys=["id"], bucket=bucket) for number in range(count)]
    start = time.monotonic()
    lab.kubectl.apply(*tables)
    all_ready(lab, count)
    ours = time.monotonic() - start
    theirs = sum(bench.spark_sql(number) for number in range(count))
    print(f"  {count} tables: {ours:.0f} s from apply to Ready, {theirs:.0f} s with bare spark-sql in turn", flush=True)
    wait_for_drivers(lab)
    lab.kubectl.run("delete", "namespace", lab.namespace, "--wait=false")
    return ours / theirs


def missed(ratios: Mapping[str, float], applied: float) -> list[str]:
    """The goals that `ratios` of expiries and that of applied tables miss."""
    found = [f"expiries, {at_a_time}: {ratio:.3f}" for at_a_time, ratio in ratios.items() if ratio > EXPIRY_GOAL]
    return found + ([f"applied tables: {applied:.3f}"] if applied > APPLY_GOAL else [])


def main(expiring: int, applied: int) -> None:
    """Prints all ratios. Exits with an error if one is beyond its goal."""
    env = release.ready_cluster()
    try:
        ratios, of_applied = expiries(env, expiring), applies(env, applied)
    finally:
        switch_batching(env, on=False)
    for at_a_time, ratio in ratios.items():
        print(f"  expiries, shared / alone, {at_a_time}: {ratio:.3f} (goal: at most {EXPIRY_GOAL:.2f})")
    print(f"  applied tables, shared / alone: {of_applied:.3f} (goal: at most {APPLY_GOAL:.2f})")
    if found := missed(ratios, of_applied):
        raise SystemExit("\n".join(["a goal was missed", *found]))


if __name__ == "__main__":
    main(*(int(each) for each in (sys.argv[1:] + ["100", "50"][len(sys.argv) - 1 :])))
