"""A run that ran out of memory gives later runs of its kind more from their first attempt on."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from paimon_operator.api.reasons import Reason
from paimon_operator.api.run.status import Attempt, FailureClass, RunStatus
from paimon_operator.core.launch.driver_memory import learned_mib, next_memory
from paimon_operator.core.table.usage import LEARNED_FOR
from tests.core.table.windowed import EXPIRY, at, go_to, world
from tests.support import builders
from tests.support.table_world import TableWorld

OOM = FailureClass.OUT_OF_MEMORY


def attempts(*ends: tuple[str, FailureClass | None]) -> list[dict[str, Any]]:
    """Attempts with this memory that ended so."""
    return [
        {
            "number": number,
            "state": "Ended",
            "pod": f"p-{number}",
            "memory": memory,
            "launched": "2026-11-21T09:00:00Z",
            "failureClass": None if failure is None else failure.value,
        }
        for number, (memory, failure) in enumerate(ends, 1)
    ]


def after(*ends: tuple[str, FailureClass | None], failed: bool = False) -> TableWorld:
    """The table after an expiry with these attempts."""
    seen = world(retention=EXPIRY, writes=[builders.write(schedule="30 9 * * *")])
    go_to(seen, "2026-11-21 09:00")
    if failed:
        seen.fail(OOM, Reason.OUT_OF_MEMORY, attempts=attempts(*ends))
    else:
        seen.finish("ExpireSnapshots", attempts=attempts(*ends))
    seen.settle()
    return seen


def shared(first: dict[str, Any], *others: dict[str, Any]) -> list[dict[str, Any]]:
    """The attempts, of which the first was in a Pod with other runs."""
    return [{**first, "shared": True}, *others]


def learned(seen: TableWorld) -> list[tuple[str, str]]:
    return [(each.type, each.memory) for each in seen.table.status.learned_sizes]


@pytest.mark.parametrize(
    ("sentence", "ends", "failed", "memory"),
    [
        ("no attempt ran out of memory", [("2048Mi", None)], False, None),
        ("the second attempt was large enough", [("2048Mi", OOM), ("3072Mi", None)], False, "3072Mi"),
        ("the last attempt was too small as well", [("2048Mi", OOM), ("3072Mi", OOM)], True, "4608Mi"),
        ("another failure", [("2048Mi", FailureClass.INFRASTRUCTURE), ("2048Mi", None)], False, None),
    ],
)
def test_what_a_run_teaches(sentence: str, ends: list[Any], failed: bool, memory: str | None) -> None:
    seen = after(*ends, failed=failed)
    assert learned(seen) == ([] if memory is None else [("ExpireSnapshots", memory)]), sentence


@pytest.mark.parametrize(
    ("ends", "memory"),
    [([("2048Mi", OOM), ("2048Mi", None)], None), ([("2048Mi", OOM), ("2048Mi", OOM), ("3072Mi", None)], "3072Mi")],
    ids=["alone it was large enough", "alone it was too small as well"],
)
def test_a_pod_with_other_runs_that_ran_out_of_memory_teaches_nothing_of_one_of_them(
    ends: list[Any], memory: str | None
) -> None:
    seen = world(retention=EXPIRY)
    go_to(seen, "2026-11-21 09:00")
    seen.finish("ExpireSnapshots", attempts=shared(*attempts(*ends)))
    seen.settle()
    assert learned(seen) == ([] if memory is None else [("ExpireSnapshots", memory)])


def test_only_runs_of_the_same_kind_begin_with_it() -> None:
    seen = after(("2048Mi", OOM), ("3072Mi", None))
    go_to(seen, "2026-11-21 09:30")
    assert (seen.active.spec.type, learned_mib(seen.active, seen.table)) == ("Write", 0)
    seen.finish()
    go_to(seen, "2026-11-21 10:00")
    assert (seen.active.spec.type, learned_mib(seen.active, seen.table)) == ("ExpireSnapshots", 3072)


def test_after_a_pod_with_other_runs_that_ran_out_of_memory_the_attempt_alone_has_the_configured_memory() -> None:
    (first,) = (Attempt.model_validate(each) for each in shared(*attempts(("2048Mi", OOM))))
    assert next_memory([first], 2048) == 2048


@pytest.mark.parametrize(
    ("sentence", "configured", "most", "learned", "memory"),
    [
        ("as configured", 2048, None, 0, 2048),
        ("as learned", 2048, None, 3072, 3072),
        ("the manifest asks for more", 4096, None, 3072, 4096),
        ("at most four times the configured memory", 1024, None, 9999, 4096),
        ("at most the catalog's limit", 2048, 2560, 3072, 2560),
    ],
)
def test_the_memory_of_a_first_attempt(
    sentence: str, configured: int, most: int | None, learned: int, memory: int
) -> None:
    assert next_memory((), configured, most, learned) == memory, sentence


def test_it_grows_again_when_the_learned_size_is_too_small() -> None:
    run = RunStatus.model_validate({"attempts": attempts(("3072Mi", OOM))})
    assert next_memory(run.attempts, 2048, None, 3072) == 4608


def test_it_ends_after_thirty_days_without_another_case() -> None:
    seen = after(("2048Mi", OOM), ("3072Mi", None))
    (size,) = seen.table.status.learned_sizes
    go_to(seen, "2026-11-21 10:00")
    seen.finish("Write")
    seen.settle()
    seen.finish("ExpireSnapshots", attempts=attempts(("3072Mi", None)))
    seen.settle()
    assert learned(seen) == [("ExpireSnapshots", "3072Mi")]
    seen.now = size.time + LEARNED_FOR + timedelta(hours=1)
    seen.run_due()
    assert learned(seen) == []


def test_it_ends_before_a_kind_starts_that_has_not_run_for_longer() -> None:
    seen = after(("2048Mi", OOM), ("3072Mi", None))
    seen.now += LEARNED_FOR + timedelta(hours=1)
    seen.settle()
    assert seen.table.status.active_run is not None
    assert learned(seen) == []


def test_a_second_case_replaces_the_first() -> None:
    seen = after(("2048Mi", OOM), ("3072Mi", None))
    go_to(seen, "2026-11-21 10:00")
    seen.finish("Write")
    seen.settle()
    seen.finish("ExpireSnapshots", attempts=attempts(("3072Mi", OOM), ("4608Mi", None)))
    seen.settle()
    (size,) = seen.table.status.learned_sizes
    assert (size.memory, size.time) == ("4608Mi", at("2026-11-21 10:00"))
