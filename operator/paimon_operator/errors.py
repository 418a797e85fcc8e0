"""The error tree. Every error that a user can see names the field, the problem and the remedy.

OperatorError
├── SpecError             the manifest must be edited; no retry before that
├── RunEnvironmentError   a Secret, bucket, permission or input is missing or wrong; retried without an edit
├── ContractError         a job or result document does not fit this version's contract
└── KubernetesError       the API server refused or did not answer
    ├── NotFoundError, AlreadyExistsError, StaleError, InvalidObjectError
    ├── ForbiddenError    and NamespaceTerminatingError, its one harmless form
    ├── LeaseLostError    another process may lead already; this one must end
    └── RetryableError    429, 5xx, time-outs: carries `retry_after` in seconds
"""

from __future__ import annotations


class OperatorError(Exception):
    """Base of all errors raised by this package."""


class SpecError(OperatorError):
    """A field of a manifest is wrong.

    `field` is the path from the object's root (`spec.bucket.fixed.count`), `problem` one clause without a full stop,
    `remedy` one imperative sentence.
    """

    def __init__(self, field: str, problem: str, remedy: str, *, reason: str = "InvalidSpec") -> None:
        super().__init__(f"{field}: {problem}. {remedy}")
        self.field, self.problem, self.remedy, self.reason = field, problem, remedy, reason


class RunEnvironmentError(OperatorError):
    """Something outside the manifest is missing or wrong. The operator retries without an edit."""

    def __init__(self, problem: str, remedy: str, *, reason: str) -> None:
        super().__init__(f"{problem}. {remedy}")
        self.problem, self.remedy, self.reason = problem, remedy, reason


class ContractError(OperatorError):
    """A job or result document cannot be read."""


class KubernetesError(OperatorError):
    """The API server answered with an error, or not at all. `status` is the HTTP status, 0 when there was none."""

    def __init__(self, message: str, *, status: int = 0) -> None:
        super().__init__(message)
        self.status = status


class NotFoundError(KubernetesError):
    """404."""


class AlreadyExistsError(KubernetesError):
    """409 on create."""


class StaleError(KubernetesError):
    """409 or a failed test on update: the object changed since it was read."""


class ForbiddenError(KubernetesError):
    """401 and 403: the operator's own rights do not suffice."""


class NamespaceTerminatingError(ForbiddenError):
    """403 because the namespace is going away: nothing can be created in it any more."""


class LeaseLostError(KubernetesError):
    """The leader's Lease could not be renewed in time; another process may lead already."""


class InvalidObjectError(KubernetesError):
    """400 and 422: the API server's validation refused the object."""


class RetryableError(KubernetesError):
    """429, 5xx and time-outs. `retry_after` is in seconds, None when the server named none."""

    def __init__(self, message: str, *, status: int = 0, retry_after: float | None = None) -> None:
        super().__init__(message, status=status)
        self.retry_after = retry_after
