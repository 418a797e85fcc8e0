"""Rules about the marks of partitions that are done."""

# ruff: noqa: E501  (a table: one rule in few lines)

from __future__ import annotations

from typing import Any

from tests.support.manifests import Manifest, append_table, keyed_table
from tests.support.table_rules.rule import TableRule
from tests.support.wrong_manifest import WrongManifest, later

_FIELD = "spec.markPartitionsDone"
_DONE = "tests/spark/test_mark_partitions_done.py"
_BY_TIME = "tests/spark/test_expire_partitions.py"
_LONG = "ours: times stay far from the last year of the calendar"
_DAILY = {"timeInterval": "1d", "idleTime": "1h"}


def _marks(type_: str = "STRING", **block: Any) -> Manifest:
    """The keyed table, whose partition key is `dt`."""
    return keyed_table(spec__schema__columns__1__type=type_, spec__markPartitionsDone={**_DAILY, **block})


MARKS = [
    TableRule("marks-need-keys", "Only tables with partition keys have partitions that are done.", f"{_DONE}: test_a_table_without_partitions_or_with_partitions_in_a_metastore_is_refused", _marks(),
        WrongManifest("marks of a table without partitions", append_table(spec__markPartitionsDone=_DAILY), _FIELD, "without partitionKeys")),
    TableRule("marks-interval", "The time of a partition has 24000 days at most.", _LONG, _marks(timeInterval="24000d"),
        WrongManifest("partitions of more than 65 years", _marks(timeInterval="24001d"), f"{_FIELD}.timeInterval", "at most 24000d")),
    TableRule("marks-idle-time", "So has the time after it.", _LONG, _marks(idleTime="24000d"),
        WrongManifest("partitions that are done after more than 65 years", _marks(idleTime="24001d"), f"{_FIELD}.idleTime", "at most 24000d")),
    TableRule("marks-pattern", "A timestampPattern has a partition key.", "ours: all partitions would be done at once", _marks(timestampPattern="$dt 00:00:00"),
        WrongManifest("an end without a partition key", _marks(timestampPattern="$day 00:00:00"), f"{_FIELD}.timestampPattern", "must contain a partition key")),
    TableRule("marks-pattern-keys", "A $ in it begins the name of a partition key.", f"{_BY_TIME}: test_no_partition_is_mistaken_for_another", _marks(timestampPattern="$dtT00:00"),
        later("an end with a column that is no partition key", _marks(timestampPattern="$dt $state:00:00"), f"{_FIELD}.timestampPattern", "Use $dt", "InvalidSpec")),
    TableRule("marks-formatter", "A formatter reads year, month and day.", "PartitionTimeExtractor: it parses a LocalDate", _marks(timestampFormatter="uuuu'-W'DDD"),
        WrongManifest("a formatter for ends of months", _marks(timestampFormatter="yyyyMM"), f"{_FIELD}.timestampFormatter", "year, month and day")),
    TableRule("marks-numbers", "A number is a time only with a formatter.", f"{_BY_TIME}: test_partition_keys_of_each_type", _marks("INT", timestampFormatter="yyyyMMdd"),
        later("numbers as ends", _marks("INT"), f"{_FIELD}.timestampFormatter", "Set timestampFormatter", "InvalidSpec")),
    TableRule("marks-types", "The keys in the time are texts, whole numbers, dates or timestamps without time zone.", f"{_BY_TIME}: test_partition_keys_of_each_type", _marks("DATE"),
        later("booleans as ends", _marks("BOOLEAN"), _FIELD, "with the program that loads them", "InvalidSpec")),
]  # fmt: skip
