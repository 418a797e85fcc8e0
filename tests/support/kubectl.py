"""kubectl, as a user would type it: the tests on the node speak to the cluster through nothing else."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

Object = dict[str, Any]


class RefusedError(Exception):
    """kubectl ended with an error; the text is what a user would have read."""


@dataclass(frozen=True, kw_only=True)
class Kubectl:
    """One namespace of one cluster. `env` is the environment of `build/cluster/env`."""

    namespace: str
    env: Mapping[str, str] = field(repr=False)

    def run(self, *args: str, stdin: str | None = None, timeout: float = 60) -> str:
        """Standard output. Raises RefusedError with kubectl's own words."""
        command = ["kubectl", "--namespace", self.namespace, *args]
        done = subprocess.run(
            command, input=stdin, env=dict(self.env), capture_output=True, text=True, timeout=timeout, check=False
        )
        if done.returncode:
            raise RefusedError(f"{' '.join(args)}: {done.stderr.strip()}")
        return done.stdout

    def apply(self, *objects: Object) -> None:
        """kubectl apply, strict about unknown fields."""
        text = yaml.safe_dump_all([dict(o) for o in objects])
        self.run("apply", "--server-side", "--force-conflicts", "--validate=strict", "-f", "-", stdin=text)

    def get(self, kind: str, name: str) -> Object | None:
        """The object, or None when there is none."""
        text = self.run("get", kind, name, "--ignore-not-found", "-o", "json")
        return json.loads(text) if text.strip() else None

    def list(self, kind: str, selector: str = "") -> list[Object]:
        """All objects of the namespace that carry the labels."""
        items: list[Object] = json.loads(self.run("get", kind, "-l", selector, "-o", "json"))["items"]
        return items

    def delete(self, kind: str, name: str, *, wait: bool = False, force: bool = False) -> None:
        """Asks for deletion; a missing object is fine."""
        flags = ["--grace-period=0", "--force"] if force else []
        self.run("delete", kind, name, "--ignore-not-found", f"--wait={str(wait).lower()}", *flags, timeout=300)

    def until(
        self, kind: str, name: str, holds: Callable[[Object | None], object], *, what: str, seconds: float = 180
    ) -> Object | None:
        """Looks again and again until `holds`; a failure shows the last state, which is what one needs to know then."""
        deadline = time.monotonic() + seconds
        while True:
            seen = self.get(kind, name)
            if holds(seen):
                return seen
            if time.monotonic() > deadline:
                shown = yaml.safe_dump((seen or {}).get("status", seen))
                raise AssertionError(f"{kind}/{name}: not {what} after {seconds:.0f} s; last seen:\n{shown}")
            time.sleep(0.5)  # polling a live server: there is no event to wait for through kubectl get

    def until_condition(
        self, name: str, type_: str, status: str, *, kind: str = "paimontable", reason: str = "", seconds: float = 180
    ) -> Object:
        """Waits for a condition that is up to date with the object's generation, and returns the condition."""

        def holds(obj: Object | None) -> bool:
            found = condition(obj, type_)
            current = obj is not None and found.get("observedGeneration") == obj["metadata"]["generation"]
            return current and found.get("status") == status and reason in ("", found.get("reason"))

        seen = self.until(kind, name, holds, what=f"{type_}={status} {reason}".strip(), seconds=seconds)
        return condition(seen, type_)


def condition(obj: Object | None, type_: str) -> Object:
    """The condition of that type, or an empty one."""
    conditions = ((obj or {}).get("status") or {}).get("conditions") or []
    return next((dict(c) for c in conditions if c["type"] == type_), {})
