"""Classification of exceptions: the patterns of the job's metastore and storage first, then the common ones."""

from __future__ import annotations

import re
from typing import Final, Protocol

from spark_apps.failures.causes import causes_of, first_line
from spark_apps.failures.common_patterns import COMMON_PATTERNS
from spark_apps.failures.errors import RunError
from spark_apps.failures.patterns import FailurePattern

_UNINFORMATIVE: Final = re.compile(r"Identifier doesn't match expected value")
"""Java's Kerberos puts this cause below the one with the KDC's answer."""


class FailingMetastore(Protocol):
    """What a kind of metastore knows about its own failures."""

    @property
    def failure_patterns(self) -> tuple[FailurePattern, ...]:
        """Patterns of its failures. They come before the storage's: they share some words, and have SQL states."""


class FailingStorage(Protocol):
    """What a kind of storage knows about its own failures."""

    @property
    def failure_patterns(self) -> tuple[FailurePattern, ...]:
        """Patterns of its failures, tried before the common ones."""

    @property
    def where(self) -> str:
        """The address that a message names."""

    def field_of(self, reason: str, message: str) -> str | None:
        """The field of the catalog that the failure is about; None for another storage's failure."""


def classify(
    error: BaseException, *, metastore: FailingMetastore | None = None, storage: FailingStorage | None = None
) -> RunError:
    """The RunError behind any exception. An unknown one counts as Infrastructure: it is retried, within limits."""
    if isinstance(error, RunError):
        return error
    chain = list(causes_of(error))
    text = "\n".join(chain)
    for each in _patterns(metastore, storage):
        if each.pattern.search(text):
            field = each.field or (storage.field_of(each.reason, text) if storage and each.of_storage else None)
            where = f" ({storage.where})" if storage and each.of_storage and field else ""
            return RunError(
                each.kind, each.reason, f"{each.sentence}{where}: {_detail(chain)}", each.remedy, field=field
            )
    return RunError("Infrastructure", "DriverFailed", _unknown(chain), "read the run's log")


def _unknown(chain: list[str]) -> str:
    """The innermost cause, after the next one outside of it that has a message, if it has none itself."""
    innermost = first_line(chain[-1])
    outside = next((line for line in reversed(chain) if ": " in line), innermost)
    return innermost if outside == chain[-1] or ": " in innermost else f"{first_line(outside)}: {innermost}"


def _patterns(metastore: FailingMetastore | None, storage: FailingStorage | None) -> tuple[FailurePattern, ...]:
    of_metastore = metastore.failure_patterns if metastore else ()
    of_storage = storage.failure_patterns if storage else ()
    return (*of_metastore, *of_storage, *COMMON_PATTERNS)


def _detail(chain: list[str]) -> str:
    """The first URI in the chain, and the innermost message without Java classes and request numbers."""
    uris = [uri for line in chain for uri in re.findall(r"\b(?:s3a?|file|hdfs)://[^\s`'\",;]+", line)]
    informative = [line for line in chain if not _UNINFORMATIVE.search(line)]
    innermost = first_line((informative or chain)[-1])
    message = re.sub(r"^(?:[\w.$]+(?:Exception|Error):\s*)+", "", innermost)
    message = re.sub(r"\s*\(Service: .*", "", message)
    message = message.removeprefix(f"{uris[0]}: ") if uris else message
    return f"{uris[0].rstrip(':')}: {message}" if uris and uris[0] not in message else message
