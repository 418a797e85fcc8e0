"""`make demo`: one table's life on a real node, told as it happens. `make demo STORAGE=hdfs` or `kerberos`: on HDFS.

Apply `examples/orders.yaml`, three batches of upserts over the same keys, a scheduled compaction, snapshot expiry; then
what `kubectl` answers and the merged rows as pypaimon, which is not our code, reads them.
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

ORDERS = CHECKOUT / "examples" / "orders.yaml"
BATCHES = 3


def say(text: str) -> None:
    print(f"\n==> {text}", flush=True)


class Demo:
    """Walks one table through its life; every wait shows what the table says of itself."""

    def __init__(self, env: Mapping[str, str], place: Place) -> None:
        self.kubectl, self.place = Kubectl(namespace=place.namespace, env=env), place
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
            active = (status.get("activeRun") or {}).get("name", "no run under way")
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

    def land(self, batch: int) -> None:
        stamp = f"{datetime.now(UTC):%Y%m%d%H%M%S}"
        state = ("new", "paid", "shipped")[batch]
        rows = [
            {"order_id": n, "customer": f"customer {n % 3}", "amount": f"{10 * n + batch}.50", "state": state}
            for n in range(1, 6 + batch)
        ]
        uri = self.place.land(f"orders/{stamp}-{state}.json", "".join(json.dumps(row) + "\n" for row in rows))
        print(f"    {uri}: {len(rows)} rows, state {state}")

    def batches(self) -> None:
        for batch in range(BATCHES):
            committed_anew = self.later_than(self.committed())
            self.land(batch)
            self.wait(f"batch {batch + 1} committed", committed_anew)

    def later_than(self, before: int | None) -> Callable[[Object], bool]:
        return lambda status: self.committed(status) not in (None, before)

    def committed(self, status: Object | None = None) -> int | None:
        writes = (status if status is not None else self.status()).get("writes") or [{}]
        snapshot: int | None = writes[0].get("committedSnapshot")
        return snapshot

    def after_the_batches(self, block: str) -> Callable[[Object], bool]:
        since = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
        return lambda status: ((status.get(block) or {}).get("lastTime") or "") > since

    def tell(self) -> None:
        say("1/5  The catalog, and what this cluster runs on")
        print(f"    engine {release.newest_engine()}: the newest whose jars could be had here")
        self.show("get", "paimoncatalogs")
        say("2/5  kubectl apply -f examples/orders.yaml")
        orders = ORDERS.read_text().replace(f"namespace: {release.SHOP}", f"namespace: {self.place.namespace}")
        self.kubectl.run("apply", "--server-side", "--force-conflicts", "-f", "-", stdin=orders)
        self.wait("orders is Ready", lambda s: condition({"status": s}, "Ready").get("status") == "True")
        self.show("get", "paimontables")
        say("3/5  Three batches of upserts over the same keys, loaded by the table's own schedule (every minute)")
        self.batches()
        say("4/5  Compaction and snapshot expiry, by their schedules")
        compacted, expired = self.after_the_batches("compaction"), self.after_the_batches("retention")
        self.wait("compacted", compacted)
        self.wait("expired", expired)
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
    Demo(env, place).tell()
    print(TRY_NEXT.format(namespace=place.namespace))


if __name__ == "__main__":
    main()
