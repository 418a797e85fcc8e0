"""An ObjectStore in memory, which gives answers that a real API server does not give on demand: 409, 429, 500, none.

It implements what the operator's decisions read: UIDs, resourceVersions, generations, finalizers that delay a deletion,
name conflicts and UID preconditions. tests/apiserver/test_operator_objects shows the same on a real API server.
"""

from __future__ import annotations

import itertools
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from paimon_operator.core.naming import FINALIZER
from paimon_operator.core.ports import Clock, Kind, Manifest, whole
from paimon_operator.errors import AlreadyExistsError, KubernetesError, NotFoundError, StaleError

Verb = Literal["get", "list", "list_metadata", "create", "delete", "apply_status", "set_finalizers", "release"]
Json = dict[str, Any]
AnswerT = TypeVar("AnswerT")
_READS = frozenset({"get", "list", "list_metadata"})


class KilledError(KubernetesError):
    """Ends the code of a killed process at its next request."""

    def __init__(self) -> None:
        super().__init__("the process is dead")


@dataclass
class Fault:
    """An error for the next such request: instead of carrying it out, or afterwards (the answer was lost)."""

    verb: Verb
    kind: Kind
    error: KubernetesError
    carried_out: bool = False


@dataclass
class Request:
    """One received request."""

    verb: Verb
    kind: Kind
    name: str


@dataclass
class ObjectStore:
    """Objects by kind, namespace and name. Each fault is used once; `watch` is called with every change."""

    clock: Clock
    watch: Callable[[Kind, str, Json], None] = lambda *_: None
    faults: list[Fault] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)
    note: str | None = None
    """The annotation of the Lease."""
    dead: bool = False
    """The process that sends the requests was killed: no further request is carried out."""
    _death: tuple[int, bool] | None = None
    _objects: dict[tuple[Kind, str, str], Json] = field(default_factory=dict)
    _versions: Any = field(default_factory=lambda: itertools.count(1))

    @property
    def writes(self) -> Sequence[Request]:
        """All requests that are not reads."""
        return [request for request in self.requests if request.verb not in _READS]

    def kill_at(self, write: int, *, carried_out: bool) -> None:
        """Kills the process at its `write`-th write from now, counted from 0."""
        self._death = (len(self.writes) + write, carried_out)

    def revive(self) -> None:
        """Accepts requests again, from a new process."""
        self.dead, self._death = False, None

    def names(self, kind: Kind) -> Sequence[str]:
        """Names of all objects of a kind."""
        return sorted(name for each, _, name in self._objects if each is kind)

    def put(self, body: Manifest) -> Json:
        """Applies a manifest as a user does: creates the object or replaces its spec."""
        kind, meta = Kind(body["kind"]), body["metadata"]
        known = self._objects.get((kind, meta["namespace"], meta["name"]))
        if known is None:
            return self._new(kind, meta["namespace"], body)
        applied = {key: value for key, value in body.items() if key not in ("metadata", "status")}
        changed = {**known, **_copied(applied)}
        changed["metadata"] = {**known["metadata"], "generation": known["metadata"]["generation"] + 1}
        return self._stored(kind, changed)

    def restore(self, bodies: Sequence[Manifest]) -> None:
        """Replaces all objects by `bodies`, which are complete stored objects."""
        self._objects = {(Kind(b["kind"]), b["metadata"]["namespace"], b["metadata"]["name"]): dict(b) for b in bodies}
        newest = max(int(body["metadata"]["resourceVersion"]) for body in bodies)
        self._versions = itertools.count(newest + 1)

    def set_status(self, kind: Kind, namespace: str, name: str, status: Manifest) -> None:
        """Stores a status as another writer does, such as the kubelet."""
        self._stored(kind, {**self._objects[kind, namespace, name], "status": _copied(dict(status))})

    def delete_as_user(self, kind: Kind, namespace: str, name: str) -> None:
        """Deletes the object as `kubectl delete` does."""
        self._delete((kind, namespace, name))

    def peek(self, kind: Kind, namespace: str, name: str) -> Json | None:
        """The object, without a request."""
        return _copied(self._objects.get((kind, namespace, name)))

    async def get(self, kind: Kind, namespace: str, name: str) -> Manifest | None:
        self._before("get", kind, name)
        return self._after("get", kind, self.peek(kind, namespace, name))

    async def list(
        self,
        kind: Kind,
        namespace: str | None,
        labels: Mapping[str, str] | None = None,
        *,
        keep: Callable[[Manifest], Manifest] = whole,
    ) -> Sequence[Manifest]:
        self._before("list", kind, "")
        return self._after("list", kind, [keep(_copied(body)) for body in self._selected(kind, namespace, labels)])

    async def list_metadata(
        self, kind: Kind, namespace: str | None = None, labels: Mapping[str, str] | None = None
    ) -> Sequence[Manifest]:
        self._before("list_metadata", kind, "")
        kept = ("namespace", "name", "uid", "resourceVersion")
        selected = self._selected(kind, namespace, labels)
        found = [{"metadata": {name: body["metadata"][name] for name in kept}} for body in selected]
        return self._after("list_metadata", kind, found)

    def _selected(self, kind: Kind, namespace: str | None, labels: Mapping[str, str] | None) -> Iterator[Json]:
        wanted = (labels or {}).items()
        for (each, space, _), body in sorted(self._objects.items()):
            if each is kind and namespace in (None, space) and wanted <= body["metadata"].get("labels", {}).items():
                yield body

    async def create(self, kind: Kind, namespace: str, body: Manifest) -> Manifest:
        self._before("create", kind, body["metadata"]["name"])
        if (kind, namespace, body["metadata"]["name"]) in self._objects:
            raise AlreadyExistsError(f"{kind} {body['metadata']['name']} exists", status=409)
        return self._after("create", kind, self._new(kind, namespace, body))

    async def delete(
        self,
        kind: Kind,
        namespace: str,
        name: str,
        *,
        uid: str,
    ) -> None:
        self._before("delete", kind, name)
        known = self._objects.get((kind, namespace, name))
        if known is not None and known["metadata"]["uid"] == uid:
            self._delete((kind, namespace, name))
        self._after("delete", kind, None)

    async def apply_status(self, kind: Kind, obj: Manifest, status: Manifest) -> Manifest:
        known = self._as_read("apply_status", kind, obj)
        return self._after("apply_status", kind, self._stored(kind, {**known, "status": _copied(dict(status))}))

    async def set_finalizers(self, kind: Kind, obj: Manifest, finalizers: Sequence[str]) -> Manifest | None:
        try:
            known = self._as_read("set_finalizers", kind, obj)
        except NotFoundError:
            return None
        return self._after("set_finalizers", kind, self._with_finalizers(kind, known, finalizers))

    async def release(
        self, kind: Kind, namespace: str, name: str, *, uid: str, finalizers: Sequence[str]
    ) -> Manifest | None:
        self._before("release", kind, name)
        released: Manifest | None = None
        known = self._objects.get((kind, namespace, name))
        if known is not None:
            meta = known["metadata"]
            if (meta["uid"], list(meta.get("finalizers") or ())) != (uid, list(finalizers)):
                raise StaleError(f"{kind} {name} has changed", status=422)
            released = self._with_finalizers(kind, known, [each for each in finalizers if each != FINALIZER])
        return self._after("release", kind, released)

    def _with_finalizers(self, kind: Kind, known: Json, finalizers: Sequence[str]) -> Json:
        changed = {**known, "metadata": {**known["metadata"], "finalizers": list(finalizers)}}
        stored = self._stored(kind, changed)
        if not finalizers and "deletionTimestamp" in stored["metadata"]:
            self._drop((kind, stored["metadata"]["namespace"], stored["metadata"]["name"]))
        return stored

    def _as_read(self, verb: Verb, kind: Kind, obj: Manifest) -> Json:
        meta = obj["metadata"]
        self._before(verb, kind, meta["name"])
        known = self._objects.get((kind, meta["namespace"], meta["name"]))
        if known is None:
            raise NotFoundError(f"{kind} {meta['name']} does not exist", status=404)
        if known["metadata"]["resourceVersion"] != meta["resourceVersion"]:
            raise StaleError(f"{kind} {meta['name']} has changed", status=409)
        return known

    def new_uid(self, number: int) -> str:
        """The UID of a new object."""
        return f"uid-{number}"

    def _new(self, kind: Kind, namespace: str, body: Manifest) -> Json:
        new = _copied(dict(body))
        new["metadata"] = {
            **new["metadata"],
            "namespace": namespace,
            "uid": self.new_uid(next(self._versions)),
            "generation": 1,
            "creationTimestamp": self._now(),
        }
        return self._stored(kind, new)

    def _stored(self, kind: Kind, body: Json) -> Json:
        body["metadata"] = {**body["metadata"], "resourceVersion": str(next(self._versions))}
        place = (kind, body["metadata"]["namespace"], body["metadata"]["name"])
        event = "MODIFIED" if place in self._objects else "ADDED"
        self._objects[place] = body
        self.watch(kind, event, _copied(body))
        return _copied(body)

    def _delete(self, place: tuple[Kind, str, str]) -> None:
        body = self._objects[place]
        if body["metadata"].get("finalizers"):
            self._stored(place[0], {**body, "metadata": {**body["metadata"], "deletionTimestamp": self._now()}})
        else:
            self._drop(place)

    def _drop(self, place: tuple[Kind, str, str]) -> None:
        self.watch(place[0], "DELETED", self._objects.pop(place))

    def _before(self, verb: Verb, kind: Kind, name: str) -> None:
        if self.dead:
            raise KilledError
        self.requests.append(Request(verb, kind, name))
        if self._death == (len(self.writes) - 1, False):
            self.dead = True
            raise KilledError
        fault = next((each for each in self.faults if (each.verb, each.kind) == (verb, kind)), None)
        if fault is not None and not fault.carried_out:
            self.faults.remove(fault)
            raise fault.error

    def _after(self, verb: Verb, kind: Kind, answer: AnswerT) -> AnswerT:
        if self._death == (len(self.writes) - 1, True) and verb not in _READS:
            self.dead = True
            raise KilledError
        fault = next((each for each in self.faults if (each.verb, each.kind) == (verb, kind)), None)
        if fault is not None:
            self.faults.remove(fault)
            raise fault.error
        return answer

    def _now(self) -> str:
        return self.clock.now().strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass
class RecordedEvents:
    """An EventSink that records the events of each object."""

    by_object: dict[str, list[tuple[str, str, str]]] = field(default_factory=lambda: defaultdict(list))

    async def post(self, regarding: Manifest, *, type_: str, reason: str, note: str) -> None:
        self.by_object[regarding["metadata"]["name"]].append((type_, reason, note))

    def reasons(self, name: str) -> list[str]:
        """Reasons of the object's events in their order."""
        return [reason for _, reason, _ in self.by_object[name]]


def _copied(document: AnswerT) -> AnswerT:
    """A copy by JSON, which is several times faster than deepcopy."""
    copy: AnswerT = json.loads(json.dumps(document))
    return copy
