"""The time of a partition: read from its keys as Paimon does, or that of its last file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from paimon_contract.parameters.expire_partitions import UPDATE_TIME, ExpirePartitionsParameters
from paimon_schema.plain_times import text_of_time
from spark_apps.catalog.partitions import Partition, text_of
from spark_apps.catalog.session import Session
from spark_apps.failures.causes import is_caused_by, root_message
from spark_apps.failures.errors import spec_failure
from spark_apps.sql.partition_values import PartitionKey

FORMATTER_FIELD: Final = "spec.retention.partitions.timestampFormatter"

PartitionTime = Callable[[Partition], int | None]
"""The time of a partition in ms since 1970; None if there is none that can be read."""


def partition_time(session: Session, expire: ExpirePartitionsParameters) -> PartitionTime:
    """The time that the strategy compares. Raises RunError (Spec) for a formatter that Java does not accept."""
    if expire.strategy == UPDATE_TIME:
        return lambda partition: partition.updated
    return values_time(
        session, TimeFormat(expire.timestamp_pattern, expire.timestamp_formatter, expire.time_zone, FORMATTER_FIELD)
    )


@dataclass(frozen=True)
class TimeFormat:
    """How a time is read: `formatter` (of Java) reads the text that `pattern` makes of the keys, in the time zone."""

    pattern: str | None
    formatter: str | None
    time_zone: str
    formatter_field: str
    """Field of the formatter in the manifest, for the error of one that Java does not accept."""


def values_time(session: Session, how: TimeFormat) -> PartitionTime:
    """The time in the keys. Raises RunError (Spec) for a formatter that Java does not accept."""
    values = ValuesTime(session, how)
    return lambda partition: values.time_of(partition.keys)


class ValuesTime:
    """Reads times from the keys of partitions.

    The text is read by Paimon's own class, so that all its notations count. Made here are the text, since Paimon's
    replacement of `$key` breaks at values with `$` and at keys that begin alike, and the moment, since Paimon compares
    in the time zone of the JVM.
    """

    def __init__(self, session: Session, how: TimeFormat) -> None:
        jvm = session.jvm
        _check_formatter(jvm, how)
        self._session, self._pattern = session, how.pattern
        self._zone = jvm.java.time.ZoneId.of(how.time_zone)
        self._extractor = jvm.org.apache.paimon.partition.PartitionTimeExtractor(None, how.formatter)
        self._known: dict[str, int | None] = {}

    def time_of(self, keys: tuple[PartitionKey, ...]) -> int | None:
        """The moment in ms. Of a time that occurs twice, at the end of daylight-saving time, the later one."""
        text = time_text(keys, self._pattern)
        if text is None:
            return None
        if text not in self._known:
            self._known[text] = self._moment_of(text)
        return self._known[text]

    def _moment_of(self, text: str) -> int | None:
        only = self._session.java_list([text])
        try:
            local = self._extractor.extract(only, only)
            return int(local.atZone(self._zone).withLaterOffsetAtOverlap().toInstant().toEpochMilli())
        except Exception as error:
            if is_caused_by(error, "DateTimeParseException", "DateTimeException", "ArithmeticException"):
                return None
            raise


def time_text(keys: tuple[PartitionKey, ...], pattern: str | None) -> str | None:
    """The text with the time: the pattern with the values of the keys, by default the first key. None with a NULL."""
    return text_of_time({key.name: text_of(key) for key in keys}, pattern)


def _check_formatter(jvm: Any, how: TimeFormat) -> None:
    if how.formatter is None:
        return
    try:
        jvm.java.time.format.DateTimeFormatter.ofPattern(how.formatter)
    except Exception as error:
        said = f"Java refuses the formatter {how.formatter!r}: {root_message(error)}"
        raise spec_failure("InvalidSpec", said, "write it like yyyyMMdd", field=how.formatter_field) from error
