"""Reports: which one is compared, which are kept, and that only a whole one is read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from spark_apps.metadata.base import UnreadableError
from spark_apps.orphans import finder, reports
from spark_apps.orphans.files import ListedFile
from spark_apps.orphans.finder import Orphan, Survey, survey
from spark_apps.orphans.kinds import Kind, Layout
from spark_apps.orphans.reports import Header, Reports, header_of, unneeded
from spark_apps.orphans.times import Moment
from spark_apps.orphans.volume import VolumeStorage
from tests.support.whole_table import UUID

HOUR = 3_600_000
START = 1_700_000_000_000
LAYOUT = Layout(0, frozenset({""}), frozenset({"data-"}))


def listed(number: int, modified_ms: int = 0, directory: str = "bucket-0") -> ListedFile:
    return ListedFile(f"{directory}/data-{UUID.format(number)}-0.orc", 5, modified_ms)


def orphans(count: int) -> list[Orphan]:
    return [Orphan(listed(number), Kind.DATA) for number in range(count)]


def header(at: Moment, found: list[Orphan]) -> Header:
    return header_of(Survey(files=len(found)), found, at, run="r", table="shop.orders", older_than_seconds=86400)


def hours(storage: float, driver: float | None = None) -> Moment:
    """A moment so many hours after the start, by the storage and by the driver's clock."""
    later = storage if driver is None else driver
    return Moment(START + round(storage * HOUR), START + round(later * HOUR))


@pytest.fixture
def kept(tmp_path: Path) -> Reports:
    return Reports(VolumeStorage(), f"file://{tmp_path}")


def write(kept: Reports, *at: Moment, found: int = 2) -> None:
    for each in at:
        kept.write(header(each, orphans(found)), f"u{each.storage_ms}", orphans(found), [])


@pytest.mark.parametrize(
    ("sentence", "at", "now", "expected"),
    [
        ("the only one is a millisecond too young", [hours(0)], Moment(START + 24 * HOUR - 1, START + 99 * HOUR), None),
        ("the only one is just old enough", [hours(0)], hours(24), 0),
        ("the newest of those that are old enough", [hours(0), hours(2), hours(30)], hours(40), 2),
        ("the driver's clock says less", [hours(0, 10)], hours(24, 24), None),
        ("the storage's clock says less", [hours(10, 0)], hours(24, 24), None),
        ("the clock of the driver was wrong once", [hours(0, 0), hours(1, 20)], hours(25, 25), 0),
        ("there is none", [], hours(24), None),
    ],
)
def test_the_earlier_report_is_the_newest_that_is_old_enough_by_both_clocks(
    kept: Reports, sentence: str, at: list[Moment], now: Moment, expected: int | None
) -> None:
    write(kept, *at)
    found = kept.earlier(now, 24 * HOUR)
    assert (None if found is None else (int(found[:13]) - START) // HOUR) == expected, sentence


def test_a_report_is_read_as_it_was_written(kept: Reports) -> None:
    write(kept, hours(0), found=3)
    (name,) = kept.names()
    assert list(kept.listed(name)) == [each.file for each in orphans(3)]
    assert kept.header(name).moment == hours(0)


def test_a_report_lists_the_first_orphans_and_counts_all(kept: Reports, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reports, "MAX_LISTED", 2)
    write(kept, hours(0), found=5)
    (name,) = kept.names()
    assert kept.header(name).orphans == 5
    assert list(kept.listed(name)) == [each.file for each in orphans(2)]


def _cut(text: str) -> str:
    return text.rpartition("{")[0]


def _newer(text: str) -> str:
    return text.replace('"version": 1', '"version": 2')


@pytest.mark.parametrize("damage", [_cut, _newer, lambda _: "", lambda text: text[:20]])
def test_a_damaged_report_is_not_compared(kept: Reports, damage: Any) -> None:
    write(kept, hours(0), hours(9))
    before, name = kept.names()
    file = Path(kept.directory.removeprefix("file://")) / name
    file.write_text(damage(file.read_text()))
    with pytest.raises(UnreadableError, match="is no whole report of version 1"):
        list(kept.listed(name))
    assert kept.earlier(hours(99), 24 * HOUR) == before


def test_other_files_beside_reports_are_left_alone(kept: Reports) -> None:
    directory = Path(kept.directory.removeprefix("file://"))
    (directory / "notes.txt").write_text("mine")
    write(kept, hours(0), hours(90))
    kept.thin(hours(200), 24 * HOUR)
    assert sorted(each.name for each in directory.iterdir())[-1] == "notes.txt"
    assert len(kept.names()) == 1


def name_at(hour: float) -> str:
    return f"{START + round(hour * HOUR):013d}-r-u.jsonl"


@pytest.mark.parametrize(
    ("sentence", "hours_", "now", "left"),
    [
        ("the newest that is old enough, and all younger ones", [0, 10, 24, 40], 49, [24, 40]),
        ("all while none is old enough", [0, 10, 20], 23, [0, 10, 20]),
        ("one for each quarter of the age, and the newest", [0, 2, 4, 6, 8, 10, 12, 13], 14, [0, 4, 8, 13]),
        ("none", [], 14, []),
    ],
)
def test_reports_are_kept_that_a_later_run_can_need(
    sentence: str, hours_: list[int], now: int, left: list[int]
) -> None:
    names = [name_at(each) for each in hours_]
    gone = unneeded(names, START + now * HOUR, 24 * HOUR)
    assert [each for each in names if each not in gone] == [name_at(each) for each in left], sentence


def test_hourly_runs_keep_few_reports_and_always_have_one_to_compare_with() -> None:
    names: list[str] = []
    for hour in range(400):
        now = START + hour * HOUR
        names.append(name_at(hour))
        gone = set(unneeded(names, now, 72 * HOUR))
        names = [each for each in names if each not in gone]
        assert len(names) <= 12
        oldest = (now - int(names[0][:13])) / HOUR
        assert oldest >= min(hour, 72), "the first one is old enough as soon as one can be"
        assert oldest <= 72 + 2 * 18 + 2, "and not much older than it has to be"


@pytest.mark.parametrize(("modified", "is_old"), [(99, True), (100, False), (101, False)])
def test_only_a_file_that_was_modified_before_the_limit_is_old(modified: int, *, is_old: bool) -> None:
    found = survey([listed(1, modified)], LAYOUT, 100)
    assert (found.files, len(list(found.orphans(set())))) == (1, int(is_old))


def test_a_referenced_name_protects_every_file_of_that_name() -> None:
    found = survey([listed(1), listed(1, directory="bucket-1"), listed(2)], LAYOUT, 100)
    assert [each.file for each in found.orphans({listed(1).name})] == [listed(2)]


def test_of_many_unknown_files_the_first_are_listed_and_all_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finder, "MAX_UNKNOWN", 3)
    found = survey([ListedFile(f"mine/{number:02d}", 2, 0) for number in reversed(range(20))], LAYOUT, 100)
    assert (found.unknown_count, found.unknown_bytes) == (20, 40)
    assert [each.path for each in found.unknown] == ["mine/00", "mine/01", "mine/02"]


@pytest.mark.parametrize(("count", "is_refused"), [(3, False), (4, True)])
def test_more_old_files_than_fit_into_memory_end_the_run(
    monkeypatch: pytest.MonkeyPatch, count: int, *, is_refused: bool
) -> None:
    monkeypatch.setattr(finder, "MAX_FILES", 3)
    files = [listed(number) for number in range(count)]
    if not is_refused:
        assert len(survey(files, LAYOUT, 100).old) == 3
        return
    with pytest.raises(UnreadableError, match="more than 3 old files"):
        survey(files, LAYOUT, 100)


@pytest.mark.parametrize(
    ("storage", "driver", "earliest"), [(5, 9, 5), (9, 5, 5)], ids=["a slow storage", "a slow driver"]
)
def test_a_wrong_clock_only_makes_files_look_younger(storage: int, driver: int, earliest: int) -> None:
    assert Moment(storage, driver).earliest_ms == earliest
