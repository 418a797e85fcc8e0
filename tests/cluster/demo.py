"""`make demo`: the lifecycle of one table on a real node. `make demo STORAGE=hdfs` or `kerberos`: on HDFS.

Apply `examples/orders.yaml`, three batches of upserts over the same keys, a compaction and an expiry of snapshots; then
what `kubectl` answers and the merged rows as pypaimon, which is not our code, reads them. Nothing waits for a schedule:
each batch is a write with the trigger `Once`, and the maintenance is asked for by the examples of PaimonRun.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from tests.cluster import release
from tests.cluster.cache import CHECKOUT
from tests.cluster.demo_places import PLACES, Place
from tests.support.kubectl import Kubectl, Object, condition

EXAMPLES = CHECKOUT / "examples"
BATCHES = 3


def say(text: str) -> None:
    print(f"\n==> {text}", flush=True)


class Demo:
    """Walks one table through its life; every wait shows what the table says of itself."""

    def __init__(self, env: Mapping[str, str], place: Place, *, engine: str) -> None:
        self.kubectl, self.place, self.engine = Kubectl(namespace=place.namespace, env=env), place, engine
        self.started = time.monotonic()

    def show(self, *arguments: str) -> None:
        print(f"$ kubectl -n {self.place.namespace} {' '.join(arguments)}")
        print(self.kubectl.run(*arguments), flush=True)

    def status(self) -> Object:
        return (self.kubectl.get("paimontable", "orders") or {}).get("status") or {}

    def wait(self, what: str, holds: Callable[[Object], Any], seconds: float = 420) -> None:
        """Waits for the table's status, and prints each new thing that it says meanwhile."""
        shown = ""
        deadline = time.monotonic() + seconds
        while not holds(status := self.status()):
            active = (status.get("activeRun") or {}).get("name", "no active run")
            ready = condition({"status": status}, "Ready")
            now = f"{active}; Ready={ready.get('status', '?')} {ready.get('reason', '')} {ready.get('message', '')}"
            if now != shown:
                print(f"    {time.monotonic() - self.started:5.0f} s  {now}", flush=True)
                shown = now
            if time.monotonic() > deadline:
                look = f"kubectl -n {self.place.namespace} describe paimontable orders"
                raise SystemExit(f"{what}: not within {seconds:.0f} s; see: {look}")
            time.sleep(1)  # polling is what a person would do here too
        print(f"    {time.monotonic() - self.started:5.0f} s  {what}", flush=True)

    def load_batches(self) -> None:
        """Lands each batch and loads it by a write of its own."""
        for batch in range(BATCHES):
            path = self.land(batch)
            before = self.committed(self.status())
            self.load(path)
            self.wait(f"batch {batch + 1} committed", self.later_than(before))

    def later_than(self, before: int | None) -> Callable[[Object], bool]:
        """Returns a check: the write has committed a snapshot other than `before`."""
        return lambda status: self.committed(status) not in (None, before)

    def land(self, batch: int) -> str:
        """Puts one batch where tables load from. Returns its path in the landing location."""
        state = ("new", "paid", "shipped")[batch]
        path = f"demo/orders/{datetime.now(UTC):%Y%m%d%H%M%S}-{state}.json"
        rows = [
            {"order_id": n, "customer": f"customer {n % 3}", "amount": f"{10 * n + batch}.50", "state": state}
            for n in range(1, 6 + batch)
        ]
        uri = self.place.land(path, "".join(json.dumps(row) + "\n" for row in rows))
        print(f"    {uri}: {len(rows)} rows, state {state}")
        return path

    def load(self, path: str) -> None:
        """Edits the table's write: it loads `path` once, now. A write runs again when its `from` is edited."""
        files = {"location": "landing", "path": path, "format": "json", "select": "All"}
        write = {"name": "import", "from": {"files": files}, "mode": "Upsert", "trigger": {"type": "Once"}}
        self.show("patch", "paimontable", "orders", "--type=merge", "-p", json.dumps({"spec": {"writes": [write]}}))

    @staticmethod
    def committed(status: Object) -> int | None:
        """The last snapshot that the table's write committed."""
        writes = status.get("writes") or [{}]
        snapshot: int | None = writes[0].get("committedSnapshot")
        return snapshot

    def maintain(self, example: str) -> None:
        """Creates the run of an example and waits until it has succeeded."""
        print(f"$ kubectl -n {self.place.namespace} create -f examples/{example}")
        name = self.kubectl.run("create", "-o", "name", "-f", "-", stdin=self.example(example)).strip()
        print(name, flush=True)
        self.wait(f"{name} succeeded", lambda _: self.succeeded(name))

    def succeeded(self, run: str) -> bool:
        """Whether the run has; stops the demo when it has failed."""
        found = condition(self.kubectl.get(*run.split("/", 1)), "Succeeded")
        if found.get("status") == "False":
            raise SystemExit(f"{run} failed: {found.get('reason')}: {found.get('message')}")
        return found.get("status") == "True"

    def example(self, name: str) -> str:
        """The text of an example, in the demo's namespace."""
        text = (EXAMPLES / name).read_text()
        return text.replace(f"namespace: {release.SHOP}", f"namespace: {self.place.namespace}")

    def tell(self) -> None:
        say("1/5  The catalog, and what this cluster runs on")
        print(f"    engine {self.engine}: the newest whose jars could be had here")
        self.show("get", "paimoncatalogs")
        say("2/5  kubectl apply -f examples/orders.yaml")
        self.kubectl.run("apply", "--server-side", "--force-conflicts", "-f", "-", stdin=self.example("orders.yaml"))
        self.wait("orders is Ready", lambda s: condition({"status": s}, "Ready").get("status") == "True")
        self.show("get", "paimontables")
        say("3/5  Three batches of upserts over the same keys. The table's own schedule would load them in time")
        self.load_batches()
        say("4/5  Compaction and snapshot expiry, asked for. The table's schedules do both at night")
        self.maintain("compact-orders.yaml")
        self.maintain("expire-orders.yaml")
        say("5/5  What kubectl answers, and what is in the table")
        self.show("get", "paimontables", "-o", "wide")
        self.show("get", "paimonruns", "--sort-by=.metadata.creationTimestamp")
        self.show("events", "--for", "paimontable/orders")
        self.rows()

    def rows(self) -> None:
        print("    orders, merged, as pypaimon reads it:")
        for row in self.place.rows():
            print(f"    {row}")


TRY_NEXT = """
==> What to try next
    source build/cluster/env                          # kubectl, helm, KUBECONFIG and the S3 server for any tool
    kubectl -n {namespace} describe paimontable orders       # what happened, what is next, and why not now
    kubectl explain paimontable.spec.compaction       # every field
    kubectl -n {namespace} patch paimontable orders --type merge -p '{{"spec":{{"suspend":true}}}}'
    kubectl -n shop apply -f examples/aggregation.yaml
    make down                                         # leaves no process, mount, interface or namespace behind
"""


def main() -> None:
    env = release.ready_cluster()
    place = PLACES[sys.argv[1] if len(sys.argv) > 1 else "s3"](env)
    place.prepare()
    Demo(env, place, engine=release.newest_engine()).tell()
    print(TRY_NEXT.format(namespace=place.namespace))


if __name__ == "__main__":
    main()
