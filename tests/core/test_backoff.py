"""Delays of retries: they double within bounds, differ between objects and are constant for one object."""

from __future__ import annotations

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from paimon_operator.api.run.status import FailureClass
from paimon_operator.core.backoff import CONFLICT, ENVIRONMENT, INFRASTRUCTURE, Backoff
from paimon_operator.core.operations.retries import NEXT_ATTEMPT, retry_delay

backoffs = st.sampled_from([CONFLICT, INFRASTRUCTURE, ENVIRONMENT])


@given(backoff=backoffs, failures=st.integers(1, 10_000), key=st.text())
def test_a_delay_stays_between_first_and_last(backoff: Backoff, failures: int, key: str) -> None:
    assert backoff.first <= backoff.delay(failures, key) <= backoff.last


@given(backoff=backoffs, failures=st.integers(1, 50), key=st.text())
def test_the_same_failure_always_has_the_same_delay(backoff: Backoff, failures: int, key: str) -> None:
    assert backoff.delay(failures, key) == backoff.delay(failures, key)


def test_delays_double_until_the_bound() -> None:
    waits = [ENVIRONMENT.delay(n, "uid").total_seconds() for n in range(1, 8)]
    assert all(60 * 2**n <= wait <= 60 * 2**n * 1.25 for n, wait in enumerate(waits[:4]))
    assert all(12 * 60 <= wait <= 15 * 60 for wait in waits[4:])


def test_tables_that_failed_together_do_not_retry_together() -> None:
    waits = {ENVIRONMENT.delay(5, f"uid-{n}") for n in range(200)}
    assert len(waits) > 100
    assert max(waits) - min(waits) > timedelta(minutes=2)


def test_there_is_no_delay_without_a_failure() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        CONFLICT.delay(0, "uid")


def test_a_class_outside_the_table_of_retries_has_no_delay() -> None:
    retried = {each for each in FailureClass if retry_delay(NEXT_ATTEMPT, each, 1, "uid") is not None}
    assert retried == {FailureClass.CONFLICT, FailureClass.INFRASTRUCTURE, FailureClass.OUT_OF_MEMORY}
    assert retry_delay(NEXT_ATTEMPT, FailureClass.CONFLICT, 3, "uid") == CONFLICT.delay(3, "uid")
