"""`make demo`: one table's life on a real node, told as it happens.

Apply `examples/orders.yaml`, three batches of upserts over the same keys, a scheduled compaction, snapshot expiry; then
what `kubectl` answers and the merged rows as pypaimon, which is not our code, reads them.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from tests.cluster import release
from tests.cluster.cache import CHECKOUT
from tests.e2e.lab import s3_client
from tests.support import lake_reader
from tests.support.kubectl import Kubectl, Object, condition

ORDERS = CHECKOUT / "examples" / "orders.yaml"
BATCHES = 3


def say(text: str) -> None:
    print(f"\n==> {text}", flush=True)


class Demo:
    """Walks one table through its life; every wait shows what the table says of itself."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self.env = env
        self.kubectl = Kubectl(namespace=release.SHOP, env=env)
        self.started = time.monotonic()

    def show(self, *arguments: str) -> None:
        print(f"$ kubectl -n {release.SHOP} {' '.join(arguments)}")
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
                raise SystemExit(
                    f"{what}: not within {seconds:.0f} s; see: kubectl -n shop describe paimontable orders"
                )
            time.sleep(1)  # polling is what a person would do here too
        print(f"    {time.monotonic() - self.started:5.0f} s  {what}", flush=True)

    def land(self, batch: int) -> None:
        stamp = f"{datetime.now(UTC):%Y%m%d%H%M%S}"
        state = ("new", "paid", "shipped")[batch]
        rows = [
            {"order_id": n, "customer": f"customer {n % 3}", "amount": f"{10 * n + batch}.50", "state": state}
            for n in range(1, 6 + batch)
        ]
        body = "".join(json.dumps(row) + "\n" for row in rows).encode()
        key = f"orders/{stamp}-{state}.json"
        s3_client(self.env).put_object(Bucket="landing", Key=key, Body=body)
        print(f"    s3://landing/{key}: {len(rows)} rows, state {state}")

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
        self.kubectl.run("apply", "--server-side", "--force-conflicts", "-f", str(ORDERS))
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
        warehouse = (self.kubectl.get("paimoncatalog", "lake") or {})["spec"]["warehouse"]
        print("    orders, merged, as pypaimon reads it:")
        for row in lake_reader.read_rows(warehouse, release.SHOP, "orders", env=self.env):
            print(f"    {row}")


TRY_NEXT = """
==> What to try next
    source build/cluster/env                          # kubectl, helm, KUBECONFIG and the S3 server for any tool
    kubectl -n shop describe paimontable orders       # what happened, what is next, and why not now
    kubectl explain paimontable.spec.compaction       # every field
    kubectl -n shop patch paimontable orders --type merge -p '{"spec":{"suspend":true}}'
    kubectl -n shop apply -f examples/aggregation.yaml
    make down                                         # leaves no process, mount, interface or namespace behind
"""


def main() -> None:
    demo = Demo(release.ready_cluster())
    demo.tell()
    print(TRY_NEXT)


if __name__ == "__main__":
    main()
