"""The steps of a driver before its operation."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from paimon_contract.result import Outcome, Seen
from paimon_operator.core.operations.registry import OPERATIONS
from spark_apps.catalog import foreign_commits
from spark_apps.driver import main as driver
from spark_apps.driver.dispatch import adopts, operation_of
from tests.spark_apps.jobs import job


@pytest.mark.parametrize(
    ("operation", "steps"),
    [
        ("Compact", ["release locks", "inspect commits", "run"]),
        ("ExpireSnapshots", ["release locks", "inspect commits", "run"]),
        ("Provision", ["release locks", "inspect commits", "run"]),
        ("Write", ["release locks", "inspect commits", "run"]),
        ("Observe", ["inspect commits", "run"]),
        ("Describe", ["run"]),
        ("Drop", ["run"]),
    ],
)
def test_only_an_operation_that_commits_waits_for_locks_and_one_that_looks_inspects_commits_too(
    monkeypatch: pytest.MonkeyPatch, operation: str, steps: list[str]
) -> None:
    done: list[str] = []

    def step(name: str, result: Any = None) -> Any:
        def take(*_: object, **__: object) -> Any:
            done.append(name)
            return result

        return take

    metastore = SimpleNamespace(release_stale_locks=step("release locks"))
    session = SimpleNamespace(metastore=metastore, storage=None, open=lambda: None, close=lambda: None)
    monkeypatch.setattr(driver, "new_session", lambda *_: session)
    monkeypatch.setattr(foreign_commits, "inspect_commits", step("inspect commits", Seen(seen_snapshot=3)))
    monkeypatch.setattr(operation_of(operation), "run", step("run", Outcome()))

    document, code = driver.perform(job(operation=operation))

    assert (code, done) == (0, steps)
    assert document.get("seenSnapshot") == (3 if "inspect commits" in steps else None)


def test_only_provision_may_take_over_a_table() -> None:
    """All other runs count nothing as inspected of a table that is not their owner's."""
    assert [type_ for type_ in OPERATIONS.types if adopts(operation_of(type_))] == ["Provision"]
