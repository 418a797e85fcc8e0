"""Renamed words of release 0.1, which stored objects and results of older images still contain."""

from __future__ import annotations

import pytest

from paimon_operator.api.reasons import Reason, known_reason
from paimon_operator.api.run.status import FailureClass, RunStatus


@pytest.mark.parametrize(
    ("stored", "reason"),
    [
        ("AsExpected", Reason.NO_ACTION_NEEDED),
        ("StorageNotTried", Reason.STORAGE_UNVERIFIED),
        ("WithinThresholds", Reason.RUNS_SUCCEEDING),
    ],
)
def test_a_stored_reason_is_read_under_its_new_name(stored: str, reason: Reason) -> None:
    assert Reason(stored) is reason


def test_an_unknown_reason_is_refused() -> None:
    with pytest.raises(ValueError, match="Whatever"):
        Reason("Whatever")
    assert known_reason("Whatever", Reason.DRIVER_FAILED) is Reason.DRIVER_FAILED


def test_the_stored_failure_class_surroundings_is_read_as_environment() -> None:
    status = RunStatus.model_validate({"phase": "Failed", "failureClass": "Surroundings"})
    assert status.failure_class is FailureClass.ENVIRONMENT
    assert status.model_dump(mode="json", by_alias=True, exclude_none=True)["failureClass"] == "Environment"


def test_an_unknown_failure_class_is_refused() -> None:
    with pytest.raises(ValueError, match="Whatever"):
        FailureClass("Whatever")
