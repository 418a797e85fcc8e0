"""Why work does not run: the closed list. docs/maintenance.md has each cause with the test that produces it."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import Enum
from typing import Final

from paimon_operator.api.reasons import Reason
from paimon_operator.api.table.schedule_state import Check, DecisionResult, LastDecision
from paimon_operator.errors import SpecError

_SKIPPED: Final = DecisionResult.SKIPPED
_WAITING: Final = DecisionResult.WAITING


class Cause(Enum):
    """Result and reason of the decision, and when it is made, in the words of the page.

    Every decision not to run is made by a cause. So a new one appears on the page, or the test of the page fails.
    """

    NO_THRESHOLD = (_SKIPPED, Reason.NOT_NEEDED, "no threshold is reached")
    NOTHING_COMMITTED = (_SKIPPED, Reason.NOT_NEEDED, "nothing was committed since the last compaction")
    NOTHING_TO_MERGE = (_SKIPPED, Reason.NOT_NEEDED, "nothing can be merged")
    NOTHING_COMPACTED = (_SKIPPED, Reason.NOT_NEEDED, "the run has found no partition that reaches a threshold")
    EVERY_FILE_SORTED = (_SKIPPED, Reason.NOT_NEEDED, "every file is sorted")
    OTHER_WRITER = (_SKIPPED, Reason.OUTSIDE_COMMIT, "sort does not run beside another writer")
    NO_SNAPSHOT = (_SKIPPED, Reason.NOT_NEEDED, "no snapshot may expire")
    NO_PARTITION = (_SKIPPED, Reason.NOT_NEEDED, "no partition is older than expirationTime")
    EVERY_PARTITION_MARKED = (_SKIPPED, Reason.NOT_NEEDED, "every partition has its mark")
    NOTHING_WRITTEN = (_SKIPPED, Reason.NOT_NEEDED, "nothing was written to the table yet")
    ALREADY_LOADED = (_SKIPPED, Reason.NOT_NEEDED, "the table has the files of the write")
    DONE = (_SKIPPED, Reason.RUN_SUCCEEDED, "the last run succeeded, and no tick follows")
    FAILED_FOR_GOOD = (
        _SKIPPED,
        Reason.RUN_FAILING,
        "the last run failed, and only an edit or the next tick repeats it",
    )
    FOR_A_HUMAN = (_SKIPPED, Reason.RUN_FAILING, "the last search for orphan files leaves it to a human to go on")
    FAILED_FOR_NOW = (_WAITING, Reason.RUN_FAILING, "the last run failed, and is repeated at the time in the message")
    SUCCEEDED = (_WAITING, Reason.RUN_SUCCEEDED, "the last run succeeded, and the next tick has not come")
    ANOTHER_RUN = (_WAITING, Reason.ANOTHER_RUN_IS_ACTIVE, "another run of the table is active")
    RUN_LIMIT = (_WAITING, Reason.RUN_LIMIT_REACHED, "as many runs are active as a limit allows")
    EARLIER_WRITE = (_WAITING, Reason.WAITING_FOR_EARLIER_WRITE, "an earlier write of the list is retried")
    OUTSIDE_WINDOWS = (_WAITING, Reason.WAITING_FOR_WINDOW, "no maintenance window of the catalog is open")
    SPENT_BUDGET = (_WAITING, Reason.BUDGET_SPENT, "maintenance has used up its budget of today")
    CHANGED_ROWS = (_WAITING, Reason.VERIFICATION_FAILED, "a compaction has changed rows")
    SUSPENDED = (_WAITING, Reason.SUSPENDED, "the table or its catalog is suspended")
    NOT_VERIFIED = (_WAITING, Reason.TABLE_NOT_READY, "the table has to be verified first")
    DIFFERENT_TABLE = (_WAITING, Reason.TABLE_DIFFERS, "a write waits until the table is as in the manifest")
    UNAPPROVED_EDIT = (_WAITING, Reason.AWAITING_APPROVAL, "a write waits until the edit is approved")
    UNSAFE_COMMITS = (_WAITING, Reason.COMMIT_UNSAFE, "commits could get lost")
    RESCALING = (_WAITING, Reason.RESCALING, "the table is being rescaled")
    RESCALE_BESIDE_WRITER = (_WAITING, Reason.OUTSIDE_COMMIT, "another writer has stopped an unfinished rescale")
    RESCALE_FAILED = (_WAITING, Reason.RESCALE_FAILED, "a rescale has failed and is unfinished")
    RESCALE_REFUSED = (_WAITING, Reason.RESCALE_REFUSED, "a write waits, because the rescale was refused")
    BROKEN_BLOCK = (_WAITING, Reason.INVALID_SPEC, "an error in the manifest stops the block")
    BROKEN_WINDOWS = (_WAITING, Reason.INVALID_SPEC, "an error in the catalog's windows stops maintenance")
    UNSUPPORTED_BLOCK = (_WAITING, Reason.UNSUPPORTED_BY_ENGINE, "the engine cannot do what the block asks for")
    UNKNOWN_LOCATION = (_WAITING, Reason.LOCATION_NOT_FOUND, "the catalog lacks the location of the write")
    INVALID_MANIFEST = (_WAITING, Reason.INVALID_SPEC, "an error in the manifest stops the whole table")
    NO_CATALOG = (_WAITING, Reason.CATALOG_NOT_FOUND, "the catalog does not exist")
    INVALID_CATALOG = (_WAITING, Reason.CATALOG_INVALID, "the catalog is invalid")
    OVERLAPPING_WAREHOUSE = (_WAITING, Reason.WAREHOUSE_OVERLAPS, "another catalog has a part of the warehouse")
    CLAIMED = (_WAITING, Reason.TABLE_CLAIMED, "another PaimonTable manages the table")
    UNKNOWN_RESULT = (_WAITING, Reason.RESULT_UNKNOWN, "nobody knows how the last run has ended")
    TAKEN_NAME = (_WAITING, Reason.NAME_TAKEN, "another PaimonRun has the name of the next run")

    @property
    def reason(self) -> Reason:
        """The reason of the decision."""
        return self.value[1]

    def decision(
        self, message: str, checks: tuple[Check, ...] = (), observed_at: datetime | None = None
    ) -> LastDecision:
        """The decision, with the numbers from which it follows."""
        result, reason, _ = self.value
        return LastDecision(result=result, reason=reason, message=message, checks=checks, observed_at=observed_at)


_OF_ERRORS: Final[Mapping[str, Cause]] = {
    Reason.UNSUPPORTED_BY_ENGINE: Cause.UNSUPPORTED_BLOCK,
    Reason.LOCATION_NOT_FOUND: Cause.UNKNOWN_LOCATION,
}
_OF_HOLDS: Final[Mapping[str, Cause]] = {
    each.reason: each
    for each in (
        Cause.RESCALING,
        Cause.RESCALE_BESIDE_WRITER,
        Cause.RESCALE_REFUSED,
        Cause.DIFFERENT_TABLE,
        Cause.UNAPPROVED_EDIT,
    )
}

_OF_OBSTACLES: Final[Mapping[str, Cause]] = {
    each.reason: each for each in (Cause.NO_CATALOG, Cause.INVALID_CATALOG, Cause.OVERLAPPING_WAREHOUSE, Cause.CLAIMED)
}


def cause_of_obstacle(reason: Reason) -> Cause:
    """The cause of work of a table that starts no run at all. Anything but these is an error in the manifest."""
    return _OF_OBSTACLES.get(reason, Cause.INVALID_MANIFEST)


def cause_of_error(error: SpecError) -> Cause:
    """The cause of a block with this error."""
    return _OF_ERRORS.get(error.reason, Cause.BROKEN_BLOCK)


def cause_of_hold(reason: Reason) -> Cause:
    """The cause of work that an operation keeps from starting. Any other failure is that of a rescale."""
    return _OF_HOLDS.get(reason, Cause.RESCALE_FAILED)
