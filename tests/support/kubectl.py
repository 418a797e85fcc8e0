"""kubectl commands: the only way in which tests on the node access the cluster."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from tests.support.watching import EventStream, applied

Object = dict[str, Any]
Objects = list[Object]
PATIENCE_S = 900.0
"""Default timeout of a wait. Other tests may keep the two cores of the node busy."""
RESYNC_S = 10.0
"""Seconds without an event after which the objects are listed and the predicate is evaluated again."""


class RefusedError(Exception):
    """kubectl ended with an error. The text is its standard error."""


@dataclass(frozen=True, kw_only=True)
class Kubectl:
    """One namespace of one cluster. `env` is the environment of `build/cluster/env`."""

    namespace: str
    env: Mapping[str, str] = field(repr=False)

    def run(self, *args: str, stdin: str | None = None, timeout: float = 60) -> str:
        """Returns standard output. Raises RefusedError with standard error."""
        command = ["kubectl", "--namespace", self.namespace, *args]
        done = subprocess.run(
            command, input=stdin, env=dict(self.env), capture_output=True, text=True, timeout=timeout, check=False
        )
        if done.returncode:
            raise RefusedError(f"{' '.join(args)}: {done.stderr.strip()}")
        return done.stdout

    def apply(self, *objects: Object) -> None:
        """Applies the objects; unknown fields are refused."""
        text = yaml.safe_dump_all([dict(o) for o in objects])
        self.run("apply", "--server-side", "--force-conflicts", "--validate=strict", "-f", "-", stdin=text)

    def get(self, kind: str, name: str) -> Object | None:
        """The object, or None when there is none."""
        text = self.run("get", kind, name, "--ignore-not-found", "-o", "json")
        return json.loads(text) if text.strip() else None

    def list(self, kind: str, selector: str = "") -> Objects:
        """All objects of the namespace that match `selector`."""
        items: Objects = json.loads(self.run("get", kind, "-l", selector, "-o", "json"))["items"]
        return items

    def delete(self, kind: str, name: str, *, wait: bool = False, force: bool = False) -> None:
        """Deletes the object if it exists."""
        flags = ["--grace-period=0", "--force"] if force else []
        self.run("delete", kind, name, "--ignore-not-found", f"--wait={str(wait).lower()}", *flags, timeout=300)

    def until(
        self, kind: str, name: str, holds: Callable[[Object | None], object], *, what: str, seconds: float = PATIENCE_S
    ) -> Object | None:
        """Waits by a watch until `holds`. A timeout raises AssertionError with the last state."""

        def one(objects: Objects) -> object:
            return holds(next(iter(objects), None))

        selection = ("--field-selector", f"metadata.name={name}")
        return next(iter(self._until(kind, selection, one, f"{kind}/{name}: not {what}", seconds)), None)

    def until_list(
        self,
        kind: str,
        selector: str,
        holds: Callable[[Objects], object],
        *,
        what: str,
        seconds: float = PATIENCE_S,
    ) -> Objects:
        """Waits by a watch until `holds` for all objects of the namespace that match `selector`."""
        return self._until(kind, ("-l", selector), holds, f"{kind} {selector}: not {what}", seconds)

    def _until(
        self, kind: str, selection: tuple[str, str], holds: Callable[[Objects], object], what: str, seconds: float
    ) -> Objects:
        deadline = time.monotonic() + seconds
        seen = self._selected(kind, selection)
        if holds(list(seen.values())):
            return list(seen.values())
        with EventStream(["--namespace", self.namespace, "get", kind, *selection], self.env) as events:
            while (left := deadline - time.monotonic()) > 0:
                event = events.next(min(left, RESYNC_S))
                seen = applied(seen, event) if event else self._selected(kind, selection)
                if holds(list(seen.values())):
                    return list(seen.values())
        state = "\n".join(shown(each) for each in seen.values()) or shown(None)
        raise AssertionError(f"{what} after {seconds:.0f} s; {state}")

    def _selected(self, kind: str, selection: tuple[str, str]) -> dict[str, Object]:
        items = json.loads(self.run("get", kind, *selection, "-o", "json"))["items"]
        return {item["metadata"]["name"]: item for item in items}

    def until_condition(
        self,
        name: str,
        type_: str,
        status: str,
        *,
        kind: str = "paimontable",
        reason: str = "",
        seconds: float = PATIENCE_S,
    ) -> Object:
        """Waits for a condition of the object's current generation and returns it."""

        def holds(obj: Object | None) -> bool:
            found = condition(obj, type_)
            current = obj is not None and found.get("observedGeneration") == obj["metadata"]["generation"]
            return current and found.get("status") == status and reason in ("", found.get("reason"))

        seen = self.until(kind, name, holds, what=f"{type_}={status} {reason}".strip(), seconds=seconds)
        return condition(seen, type_)


def shown(obj: Object | None) -> str:
    """The state of an object: a summary in the first line, then its status."""
    status = (obj or {}).get("status") or {}
    active = (status.get("activeRun") or {}).get("name", "none")
    words = [f"{c['type']}={c['status']} {c.get('reason')}" for c in status.get("conditions") or []]
    return f"active run: {active}, {', '.join(words) or 'no condition'}; last seen:\n{yaml.safe_dump(status or obj)}"


def condition(obj: Mapping[str, Any] | None, type_: str) -> Object:
    """The condition of that type, or an empty one."""
    conditions = ((obj or {}).get("status") or {}).get("conditions") or []
    return next((dict(c) for c in conditions if c["type"] == type_), {})
