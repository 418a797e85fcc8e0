"""Two tenants of one operator: every role tries every attack, with the admission policies on and off."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.apiserver.attacks import ATTACKS
from tests.apiserver.attacks.attack import Actor, Attack, Outcome
from tests.apiserver.attacks.bed import NIGHTLY, VICTIM, Bed, VictimHarmedError
from tests.apiserver.conftest import serving
from tests.apiserver.namespace_client import RUNS, TABLES

TRIALS = [(attack, actor) for attack in ATTACKS for actor in attack.actors]


@pytest.fixture(scope="module")
def bed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bed]:
    """On a server of its own: the roles of the chart and its policies are cluster-scoped."""
    with serving(tmp_path_factory) as server:
        made = Bed(server, tmp_path_factory.mktemp("tenants"))
        try:
            made.start()
            yield made
        finally:
            made.close()


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(True, id="with-policies"),
        pytest.param(False, id="without-policies", marks=pytest.mark.long),
    ],
)
def policies(request: pytest.FixtureRequest, bed: Bed) -> bool:
    on = bool(request.param)
    bed.enforce(policies=on)
    return on


@pytest.mark.parametrize(
    ("attack", "actor"), TRIALS, ids=[f"{attack.id}-{actor.name.lower()}" for attack, actor in TRIALS]
)
def test_an_attack_comes_to_what_its_row_says(bed: Bed, policies: bool, attack: Attack, actor: Actor) -> None:
    outcome, said = attempted(bed, attack, actor)
    assert outcome == attack.outcome_for(actor, policies=policies), said


def attempted(bed: Bed, attack: Attack, actor: Actor) -> tuple[Outcome, str]:
    """Tries the attack. Returns what came of it, and the words of the API server or of the harm done."""
    me = bed.attackers[attack.scope, actor]
    try:
        answer = attack.attempt(bed, me)
        if answer.refused:
            return answer.outcome, answer.message
        before, bed.baseline = bed.baseline, bed.state(own=me)
    except VictimHarmedError as harm:
        return Outcome.EFFECT, str(harm)
    finally:
        bed.clean(me)
    changed = sorted(key for key in {*before, *bed.baseline} if before.get(key) != bed.baseline.get(key))
    return (Outcome.EFFECT, f"changed: {changed}") if changed else (answer.outcome, answer.message)


def test_after_all_attacks_the_victims_run_ends_as_before(bed: Bed) -> None:
    bed.shop.succeed(bed.nightly)
    bed.shop.wait_for_condition(RUNS, NIGHTLY, "Succeeded", "True")
    bed.shop.wait_for_condition(TABLES, VICTIM, "Ready", "True", "TableMatchesSpec")
    assert bed.operator.errors() == []
