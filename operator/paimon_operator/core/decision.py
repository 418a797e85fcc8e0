"""The result of the pure core: the whole desired status, and the actions to take.

The runtime applies a decision in a fixed order: finalizer, status, actions, events. An action is taken only after the
status that names it is stored, so a process that was killed in between repeats it under the same name.
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
    """Creates `body`. An existing object of that name is ours if `owner_uid` controls it; otherwise it is an error."""

    kind: Kind
    body: Manifest
    owner_uid: str
    data_digest: str | None = None
    """Digest that the data of an existing ConfigMap must have; None: its data is not compared."""
    must_exist: bool = False
    """Nothing is written: `body` differs from what the object was made from, because the manifest was edited since."""

    @property
    def name(self) -> str:
        """metadata.name of the object."""
        return str(self.body["metadata"]["name"])


@dataclass(frozen=True, kw_only=True)
class Delete:
    """Deletes the object of this UID, with the object's own grace period."""

    kind: Kind
    name: str
    uid: str


@dataclass(frozen=True, kw_only=True)
class Release:
    """Removes our finalizer from the object of this UID, whose finalizers are `finalizers` now."""

    kind: Kind
    name: str
    uid: str
    finalizers: tuple[str, ...]


Action = Create | Delete | Release


@dataclass(frozen=True, kw_only=True)
class EventNote:
    """An Event to post: the transition of a condition, a run that started or ended."""

    type_: Literal["Normal", "Warning"]
    reason: str
    note: str


@dataclass(frozen=True, kw_only=True)
class Decision(Generic[StatusT]):
    """The outcome of one reconcile of one object."""

    status: StatusT | None
    """The whole status to store; None keeps the stored one (the object is being deleted)."""
    defers_status: bool = False
    """The status tells nothing new: the runtime remembers it, and stores it with the next change (`repeated_skips`)."""
    finalizer: FinalizerStep = "keep"
    actions: tuple[Action, ...] = ()
    """In order; every create has a deterministic name, so repeating the list is harmless."""
    events: tuple[EventNote, ...] = ()
    requeue_after: timedelta | None = None
    """When to reconcile again without a change; None: only on a change or at the resync."""
    log: tuple[str, ...] = field(default=())
    """Sentences for the operator's log, where no status can hold them (the namespace is being deleted)."""


@dataclass(frozen=True, kw_only=True)
class Refusal:
    """The API server's answer to a create, delete or release that it refused. The action is tried again."""

    reason: Reason
    message: str
