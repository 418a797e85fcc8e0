"""What the pure side hands back: the whole desired status, and at most one thing to do about it.

The runtime carries a decision out in a fixed order: finalizer, status, actions, events. An action is only
carried out once the status that names it is stored, so a process killed in between repeats it under the same name.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Generic, Literal, TypeVar

from paimon_operator.api.reasons import Reason
from paimon_operator.core.ports import Kind, Manifest

StatusT = TypeVar("StatusT")

FinalizerStep = Literal["keep", "add", "remove"]


@dataclass(frozen=True, kw_only=True)
class Create:
    """Create `body`. A name that is taken is ours if its controller owner is `owner_uid`, and an error otherwise."""

    kind: Kind
    body: Manifest
    owner_uid: str

    @property
    def name(self) -> str:
        """Of the object."""
        return str(self.body["metadata"]["name"])


@dataclass(frozen=True, kw_only=True)
class Delete:
    """Delete the object of this UID, with the object's own grace period."""

    kind: Kind
    name: str
    uid: str


@dataclass(frozen=True, kw_only=True)
class Release:
    """Take our finalizer off the object of this UID, which carries `finalizers` now."""

    kind: Kind
    name: str
    uid: str
    finalizers: tuple[str, ...]


Action = Create | Delete | Release


@dataclass(frozen=True, kw_only=True)
class EventNote:
    """An Event worth telling: the transition of a condition, a run started or ended."""

    type_: Literal["Normal", "Warning"]
    reason: str
    note: str


@dataclass(frozen=True, kw_only=True)
class Decision(Generic[StatusT]):
    """The outcome of one look at one object."""

    status: StatusT | None
    """The whole status to store; None leaves the stored one (the object is going away)."""
    finalizer: FinalizerStep = "keep"
    actions: tuple[Action, ...] = ()
    """In order; every create has a deterministic name, so repeating the list is harmless."""
    events: tuple[EventNote, ...] = ()
    requeue_after: timedelta | None = None
    """When to look again without being told; None: only when something changes or at the resync."""
    log: tuple[str, ...] = field(default=())
    """Sentences for the operator's own log, for what no status can hold (a namespace that is going away)."""


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """What the API server said when something was to be created, deleted or let go; it is tried again anyway."""

    reason: Reason
    message: str
