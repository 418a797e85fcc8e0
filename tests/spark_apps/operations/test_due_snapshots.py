"""A driver of ExpireSnapshots ends without a JVM where certainly nothing is due, and nowhere else."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from paimon_contract.job import JobCatalog
from paimon_contract.parameters.expire_snapshots import ExpireSnapshotsParameters
from paimon_contract.result import Outcome
from paimon_engines.loader import load_engine
from paimon_schema.table_schema import schema_file_of
from spark_apps.catalog.due_tags import MAX_TAGS
from spark_apps.metadata.base import UnreadableError
from spark_apps.metadata.volume import VolumeFiles
from spark_apps.operations import expire_snapshots
from tests.spark_apps.jobs import job
from tests.support.fabricated_avro import DataFile
from tests.support.fabricated_table import START_MS, FabricatedTable, schema_of

OWNED = {"bucket": "4", "paimon-operator.owner": "o"}
HOUR_MS = 3_600_000
FIRST_MS = START_MS + 60_000
"""The time of snapshot 1: 2023-11-14T22:14:20Z."""
NOW_MS = FIRST_MS + 99 * HOUR_MS
Change = Callable[[FabricatedTable], object]


def table(root: Path, snapshots: int = 3, **options: str) -> FabricatedTable:
    """A table of the job's owner with so many snapshots, one each minute."""
    made = FabricatedTable(root / "shop.db" / "orders")
    for number in range(snapshots):
        made.commit([DataFile(name=f"f{number}")])
    (made.root / "schema").mkdir(parents=True)
    (made.root / "schema" / "schema-0").write_text(schema_file_of(schema_of(options=OWNED | options)))
    return made


def ended(root: Path, at_ms: int = NOW_MS, **expire: Any) -> Outcome | None:
    """What the driver reports at this time; None: it needs a JVM."""
    asked = ExpireSnapshotsParameters(**expire)
    of = job(operation="ExpireSnapshots", catalog=JobCatalog(root.as_uri(), "filesystem"), parameters=asked)
    with patch.object(expire_snapshots, "now", return_value=at_ms):
        return expire_snapshots.without_jvm(of, load_engine("paimon-1.4"), VolumeFiles())


@pytest.mark.parametrize(
    ("sentence", "snapshots", "options", "expire", "age_ms", "ends"),
    [
        ("as many as Paimon's smallest number", 10, {}, {}, 99 * HOUR_MS, True),
        ("one more, and older than an hour", 11, {}, {}, HOUR_MS + 1, False),
        ("one more, exactly an hour old", 11, {}, {}, HOUR_MS, True),
        ("younger than the job's time", 11, {}, {"time_retained": "3 h"}, 3 * HOUR_MS, True),
        ("older than the job's time", 11, {}, {"time_retained": "3 h"}, 3 * HOUR_MS + 1, False),
        ("younger than the table's time", 11, {"snapshot.time-retained": "3 h"}, {}, 3 * HOUR_MS, True),
        ("the job comes before the table", 11, {"snapshot.time-retained": "3 h"}, {"time_retained": "2 h"},
         3 * HOUR_MS, False),
        ("the job's smallest number", 2, {}, {"num_retained_min": 2}, 99 * HOUR_MS, True),
        ("more than it", 3, {}, {"num_retained_min": 2}, 99 * HOUR_MS, False),
        ("the table's smallest number", 3, {"snapshot.num-retained.min": "3"}, {}, 99 * HOUR_MS, True),
        ("as many as the largest number", 3, {}, {"num_retained_min": 1, "num_retained_max": 3}, 0, True),
        ("more than it, however young", 4, {}, {"num_retained_min": 1, "num_retained_max": 3}, 0, False),
        ("a largest number brings its smallest with it", 3, {}, {"num_retained_max": 2}, 0, False),
        ("the table's largest number", 4, {"snapshot.num-retained.min": "1", "snapshot.num-retained.max": "3"}, {}, 0,
         False),
        ("a smallest number that Java refuses", 3, {}, {"num_retained_min": 0}, 0, False),
        ("a smallest number beyond the largest", 3, {}, {"num_retained_min": 5, "num_retained_max": 2}, 0, False),
        ("a time that Java refuses", 3, {}, {"time_retained": "a while"}, 0, False),
        ("a number that Java refuses", 3, {"snapshot.num-retained.min": "few"}, {}, 0, False),
        ("no snapshot", 0, {}, {}, 0, True),
    ],
)  # fmt: skip
def test_number_and_age_of_the_snapshots(
    tmp_path: Path,
    sentence: str,
    *,
    snapshots: int,
    options: dict[str, str],
    expire: dict[str, Any],
    age_ms: int,
    ends: bool,
) -> None:
    table(tmp_path, snapshots, **options)
    outcome = ended(tmp_path, FIRST_MS + age_ms, **expire)
    assert (outcome is not None) is ends, sentence
    if outcome is not None:
        assert outcome.expired == 0
        assert outcome.before == outcome.after is not None


def tag(**members: Any) -> Change:
    """A tag that is kept for so long, beside one without a time."""

    def add(made: FabricatedTable) -> None:
        made.tag("kept", 1).tag("t", 1)
        path = made.root / "tag" / "tag-t"
        path.write_text(json.dumps(json.loads(path.read_text()) | members))

    return add


def many_tags(made: FabricatedTable) -> None:
    for number in range(MAX_TAGS + 1):
        made.tag(f"t{number}", 1)


def changelogs(first: int, last: int) -> Change:
    """Changelogs that have outlived their snapshots. Each is a minute older than the next one."""

    def add(made: FabricatedTable) -> None:
        (made.root / "changelog").mkdir()
        for id_ in range(first, last + 1):
            kept = {"id": id_, "timeMillis": START_MS + 60_000 * id_}
            (made.root / "changelog" / f"changelog-{id_}").write_text(json.dumps(kept))

    return add


def consumer(age_ms: int) -> Change:
    """A consumer whose last progress is so long ago."""

    def add(made: FabricatedTable) -> None:
        made.consumer("c", 1)
        at_ns = (NOW_MS - age_ms) * 1_000_000
        os.utime(made.root / "consumer" / "consumer-c", ns=(at_ns, at_ns))

    return add


def tagged(*names: str, snapshot: int = 1) -> Change:
    """Automatic tags, of one snapshot after the other."""

    def add(made: FabricatedTable) -> None:
        for number, name in enumerate(names):
            made.tag(name, snapshot + number)

    return add


def success_files(made: FabricatedTable) -> None:
    made.tag("t", 1)
    (made.root / "tag" / "tag-success-file").mkdir()


CREATED = {"tagCreateTime": [2023, 11, 14, 22, 14, 20, 5_000_000]}
"""At the time of snapshot 1."""
CONSUMERS = {"consumer.expiration-time": "7 d"}
CHANGELOGS = {"changelog.num-retained.min": "1", "changelog.num-retained.max": "3", "changelog.time-retained": "100 h"}
DAY_MS = 24 * HOUR_MS
AUTOMATIC = {"tag.automatic-creation": "process-time"}
HOURLY = {**AUTOMATIC, "tag.creation-period": "hourly"}
TWO_HOURS = {**AUTOMATIC, "tag.creation-period": "two-hours"}


@pytest.mark.parametrize(
    ("sentence", "options", "change", "ends"),
    [
        ("no automatic tag yet", AUTOMATIC, None, False),
        ("tags that are not automatic", {"tag.automatic-creation": "none"}, None, True),
        ("tags that writes create", {"tag.automatic-creation": "batch"}, None, True),
        ("tags by watermarks", {"tag.automatic-creation": "watermark"}, tagged("2023-11-13"), False),
        ("the day before the last commit has its tag", AUTOMATIC, tagged("2023-11-13"), True),
        ("it has none, but the day before it", AUTOMATIC, tagged("2023-11-12"), False),
        ("tags of two days", AUTOMATIC, tagged("2023-11-12", "2023-11-13"), True),
        ("a later snapshot has the tag of an earlier day", AUTOMATIC, tagged("2023-11-13", "2023-11-12"), False),
        ("a tag of a user beside it", AUTOMATIC, tagged("2023-11-13", "before-the-sale"), True),
        ("a tag with an impossible day", AUTOMATIC, tagged("2023-11-13", "2023-11-31"), True),
        ("a user's tag, as Paimon reads it", AUTOMATIC, tagged("2023-11-12", "2023-11-13 22"), True),
        ("the hour before the last commit has its tag", HOURLY, tagged("2023-11-14 21"), True),
        ("it has none", HOURLY, tagged("2023-11-14 20"), False),
        ("a tag of a day is none of an hour", HOURLY, tagged("2023-11-14"), False),
        ("it has none, but the delay is not over", {**HOURLY, "tag.creation-delay": "17 min"},
         tagged("2023-11-14 20"), True),
        ("the delay is over", {**HOURLY, "tag.creation-delay": "16 min"}, tagged("2023-11-14 20"), False),
        ("the two hours before the last commit", TWO_HOURS, tagged("2023-11-14 20"), True),
        ("those before them", TWO_HOURS, tagged("2023-11-14 18"), False),
        ("a delay as long as the period, which Java refuses", {**AUTOMATIC, "tag.creation-delay": "1 d"},
         tagged("2023-11-13"), False),
        ("a number of tags that Java refuses", {**AUTOMATIC, "tag.num-retained-max": "few"},
         tagged("2023-11-13"), False),
        ("a time of tags that Java refuses", {**AUTOMATIC, "tag.default-time-retained": "a while"},
         tagged("2023-11-13"), False),
        ("another period", {**AUTOMATIC, "tag.creation-period": "weekly"}, tagged("2023-11-13"), False),
        ("another option of tags", {**AUTOMATIC, "tag.period-formatter": "without_dashes"}, tagged("2023-11-13"),
         False),
        ("another time zone", {**AUTOMATIC, "sink.process-time-zone": "Asia/Tokyo"}, tagged("2023-11-13"), False),
        ("a tag without a time", {}, tag(), True),
        ("a tag whose time is not over", {}, tag(**CREATED, tagTimeRetained=99.1 * 3600), True),
        ("a tag whose time is over", {}, tag(**CREATED, tagTimeRetained=99 * 3600), False),
        ("a tag of that minute, without seconds", {}, tag(tagCreateTime=[2023, 11, 14, 22, 14],
         tagTimeRetained=86400.0), False),
        ("more tags than are read", {}, many_tags, False),
        ("the directory of success files", {}, success_files, True),
        ("a consumer without progress for longer", CONSUMERS, consumer(7 * DAY_MS + 1), False),
        ("a consumer without progress for exactly so long", CONSUMERS, consumer(7 * DAY_MS), True),
        ("a time of consumers that Java refuses", {"consumer.expiration-time": "a week"}, consumer(0), False),
        ("a consumer that stays for ever", {}, consumer(99 * DAY_MS), True),
        ("no consumer", CONSUMERS, None, True),
        ("changelogs that have not outlived their snapshots", CHANGELOGS, None, True),
        ("as many as the smallest number", {**CHANGELOGS, "changelog.num-retained.min": "3",
         "changelog.time-retained": "1 h"}, changelogs(1, 2), True),
        ("more, as old as they may be", {**CHANGELOGS, "changelog.time-retained": "99 h"}, changelogs(1, 2), True),
        ("more, and older", {**CHANGELOGS, "changelog.time-retained": "5939 min"}, changelogs(1, 2), False),
        ("as many as the largest number", CHANGELOGS, changelogs(1, 2), True),
        ("one more, however young", {**CHANGELOGS, "changelog.num-retained.max": "2"}, changelogs(1, 2), False),
        ("with the limits of their snapshots", {"snapshot.num-retained.min": "1", "snapshot.time-retained": "99 h"},
         changelogs(1, 2), True),
        ("the last one, however old", {**CHANGELOGS, "changelog.time-retained": "1 h"}, changelogs(1, 1), True),
        ("a number of changelogs that Java refuses", {"changelog.num-retained.min": "few"}, None, False),
    ],
)  # fmt: skip
def test_what_else_the_run_does(
    tmp_path: Path, sentence: str, options: dict[str, str], change: Change | None, *, ends: bool
) -> None:
    made = table(tmp_path, 3, **options)
    if change is not None:
        change(made)
    assert (ended(tmp_path) is not None) is ends, sentence


@pytest.mark.parametrize(
    ("sentence", "options", "reads", "ends"),
    [
        ("a consumer has not read the earliest snapshot", {}, (1, 3), True),
        ("it has", {}, (2, 3), False),
        ("no consumer", {}, (), False),
        ("consumers keep changelogs alone", {"consumer.changelog-only": "true"}, (1,), False),
        ("more than are read", {}, (1,) * 51, False),
    ],
)
def test_a_consumer_keeps_snapshots_that_would_expire(
    tmp_path: Path, sentence: str, options: dict[str, str], reads: tuple[int, ...], *, ends: bool
) -> None:
    made = table(tmp_path, 12, **options)
    for number, next_ in enumerate(reads):
        made.consumer(f"c{number}", next_)
    assert (ended(tmp_path) is not None) is ends, sentence


def test_a_consumer_without_a_snapshot_is_left_to_java(tmp_path: Path) -> None:
    made = table(tmp_path, 12)
    (made.root / "consumer").mkdir()
    (made.root / "consumer" / "consumer-c").write_text("{}")
    with pytest.raises(UnreadableError, match="consumer-c: KeyError"):
        ended(tmp_path)


@pytest.mark.parametrize(
    "time", [{"tagTimeRetained": "PT24H"}, {"tagCreateTime": "2023-11-14T22:14:20"}, {"tagCreateTime": [2023]}]
)
def test_a_time_of_a_tag_in_another_form_is_left_to_java(tmp_path: Path, time: dict[str, Any]) -> None:
    tag(**CREATED | {"tagTimeRetained": 99.9 * 3600} | time)(table(tmp_path))
    with pytest.raises(Exception, match="tag-t: "):
        ended(tmp_path)


def test_a_table_of_another_owner_or_none_is_left_to_java(tmp_path: Path) -> None:
    assert ended(tmp_path) is None
    table(tmp_path, 3, **{"paimon-operator.owner": "other"})
    assert ended(tmp_path) is None
