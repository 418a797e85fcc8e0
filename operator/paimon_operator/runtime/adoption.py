"""An existing object under the name of one that the operator creates: it is used only if the operator made it.

Everyone who may create an object of that kind can take its name, and can give it our owner reference.
"""

from __future__ import annotations

from http import HTTPStatus

from paimon_contract.job import files_digest
from paimon_operator.api.reasons import Reason
from paimon_operator.core import naming
from paimon_operator.core.decision import Action, Create
from paimon_operator.core.ports import Manifest
from paimon_operator.errors import KubernetesError


class RefusedError(KubernetesError):
    """The API server rejected `action`: missing rights, a quota, an admission policy, or the name is taken.

    A retry helps only after somebody has fixed the cause, which the message names. In a `terminating` namespace nothing
    can be created any more.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int,
        action: Action,
        terminating: bool = False,
        reason: Reason = Reason.NOT_PERMITTED,
    ) -> None:
        super().__init__(f"the namespace is going away: {message}" if terminating else message, status=status)
        self.action, self.terminating, self.reason = action, terminating, reason


def check(action: Create, found: Manifest | None) -> Manifest:
    """`found`, if an earlier try of ours created it. Raises RefusedError with NameTaken or JobChanged if not."""
    if found is None:
        raise _refused(action, Reason.JOB_CHANGED, "is gone, and the manifest was edited since it was written")
    if naming.controller_uid(found) != action.owner_uid:
        raise _refused(action, Reason.NAME_TAKEN, f"exists already and {_owner(found)}. Delete or rename it")
    if action.data_digest is not None and not _holds(found, action.data_digest):
        what = f"is not the one that the operator wrote; it was last written by {_writer(found)}"
        raise _refused(action, Reason.JOB_CHANGED, what)
    return found


def _holds(found: Manifest, digest: str) -> bool:
    """Whether the ConfigMap has the data of this digest, and for good."""
    same = files_digest(found.get("data") or {}) == digest
    return same and not found.get("binaryData") and bool(found.get("immutable"))


def _refused(action: Create, reason: Reason, what: str) -> RefusedError:
    message = f"{action.kind} {action.name} {what}"
    return RefusedError(message, status=HTTPStatus.CONFLICT, action=action, reason=reason)


def _owner(found: Manifest) -> str:
    owners = found["metadata"].get("ownerReferences") or ()
    owner = next((each for each in owners if each.get("controller")), None)
    who = "has no owner" if owner is None else f"belongs to {owner['kind']} {owner['name']}"
    return f"{who}; it was last written by {_writer(found)}"


def _writer(found: Manifest) -> str:
    """The field manager of the last write, `kubectl-create`. It is the client's own word."""
    entries = found["metadata"].get("managedFields") or ()
    last = max(entries, key=lambda each: each.get("time") or "", default=None)
    return "an unknown client" if last is None else f"{last.get('manager', 'an unknown client')}"
