"""What one row of the list of attacks consists of: who tries what, what must come of it, and which test shows it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tests.apiserver.attacks.attacker import Answer, Attacker
    from tests.apiserver.attacks.bed import Bed


class Actor(StrEnum):
    """Who attacks. Each value is a name in the docs."""

    READER = "paimon-reader"
    MAINTAINER = "paimon-maintainer"
    OWNER = "paimon-table-owner"
    ADMINISTRATOR = "paimon-administrator"
    RUNS = "create, patch and delete on paimonruns"
    EDITOR = "paimon-table-owner with Kubernetes' edit"
    DRIVER = "a driver that was taken over"
    OPERATOR = "the operator's token"


CHART_ROLES: Final = (Actor.READER, Actor.MAINTAINER, Actor.OWNER, Actor.ADMINISTRATOR)
USERS: Final = (*CHART_ROLES, Actor.RUNS, Actor.EDITOR)
"""Everyone who tries every attack."""
MAKE_TABLES: Final = (Actor.OWNER, Actor.ADMINISTRATOR, Actor.EDITOR)
MAKE_RUNS: Final = (Actor.MAINTAINER, *MAKE_TABLES, Actor.RUNS)
PATCH_RUNS: Final = (Actor.ADMINISTRATOR, Actor.RUNS)


class Scope(StrEnum):
    """Where the attacker's role is bound."""

    RIVAL = "another namespace"
    SHOP = "the namespace itself"


class Outcome(StrEnum):
    """What comes of an attempt."""

    RBAC = "refused by RBAC"
    RULE = "refused by a rule of the CRD"
    POLICY = "refused by an admission policy"
    WITHOUT_EFFECT = "admitted, without effect on the victim"
    ADMITTED = "admitted: the role has this right"
    EFFECT = "the victim was changed"


Outcomes = Mapping[Actor, Outcome]


def each(actors: tuple[Actor, ...], outcome: Outcome) -> Outcomes:
    """The same outcome for each of these actors."""
    return dict.fromkeys(actors, outcome)


@dataclass(frozen=True, kw_only=True)
class Attack:
    """One row. Every actor tries it; whoever is not in `expected` is refused by RBAC."""

    id: str
    """A short name that no other row has."""
    title: str
    """What the attacker wants."""
    findings: tuple[str, ...] = ()
    """Findings of the security review that the row answers: S1 to S11."""
    scope: Scope = Scope.RIVAL
    who: str
    """The least right that the attack needs, for the docs."""
    how: str
    why: str
    """Why it fails."""
    without: str = ""
    """What holds without the admission policies. Empty: the same."""
    tests: tuple[str, ...]
    """Tests that show it in full, as `file::name`, or a file of which every test does."""
    actors: tuple[Actor, ...] = USERS
    expected: Outcomes = field(default_factory=dict)
    expected_without: Outcomes = field(default_factory=dict)
    """Outcomes that differ without the admission policies."""
    attempt: Callable[[Bed, Attacker], Answer]
    """Does it. Waits until the operator has dealt with what was admitted."""

    def outcome_for(self, actor: Actor, *, policies: bool) -> Outcome:
        """What must come of the attempt of `actor`."""
        given = self.expected if policies else {**self.expected, **self.expected_without}
        return given.get(actor, Outcome.RBAC)
