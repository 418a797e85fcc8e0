"""RunError: a failure as the operator needs it. Its class decides what happens next; its sentences are for users."""

from __future__ import annotations

import re
from typing import Final

from paimon_contract.exit_codes import EXIT_CODES, ErrorClass
from paimon_contract.result import Outcome, ResultError

MAX_MESSAGE: Final = 700
"""Characters of a message: the whole result must stay below 3 KB."""
MAX_REMEDY: Final = 3000
"""Characters of a remedy, which may name two files in full."""
INPUT_MALFORMED: Final = "InputMalformed"

_UNPRINTABLE: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")
"""Characters that take six bytes each in JSON, or that UTF-8 cannot hold. The content of a broken file is full of
them."""


class RunError(Exception):
    """A run that cannot succeed now. `kind` is one of the failure classes of the contract (EXIT_CODES).

    `outcome` is what it reports beside the error.
    """

    def __init__(
        self,
        kind: str,
        reason: str,
        message: str,
        remedy: str = "",
        *,
        field: str | None = None,
        outcome: Outcome | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.reason = reason
        self.remedy = remedy
        self.field = field
        self.outcome = outcome

    @property
    def exit_code(self) -> int:
        """The process's exit code for it."""
        return EXIT_CODES[self.kind]

    def as_result(self) -> ResultError:
        """The part of the result document that describes it."""
        message, remedy = _one_line(str(self), MAX_MESSAGE), _one_line(self.remedy, MAX_REMEDY)
        return ResultError(ErrorClass(self.kind), self.reason, message, remedy, self.field)


def spec_failure(
    reason: str, message: str, remedy: str, *, field: str | None = None, outcome: Outcome | None = None
) -> RunError:
    """A failure that only an edit of the manifest fixes; a retry would end the same."""
    return RunError("Spec", reason, message, remedy, field=field, outcome=outcome)


def input_failure(reason: str, message: str, remedy: str, *, field: str | None = None) -> RunError:
    """A failure of input files: nothing was loaded. Correcting the files is enough; the manifest needs no edit."""
    return RunError("Environment", reason, message, remedy, field=field)


def _one_line(text: str, limit: int) -> str:
    line = _UNPRINTABLE.sub(" ", text)
    return line if len(line) <= limit else line[: limit - 1] + "…"
