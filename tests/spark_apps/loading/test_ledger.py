"""The ledger compacts itself. A kill at any step loses no file and keeps none open."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from paimon_contract.parameters.write import WriteParameters
from spark_apps.loading import ledger as ledger_module
from spark_apps.loading.input_files import InputFile
from spark_apps.loading.ledger import Entry, Ledger
from tests.spark_apps.jobs import job

DIRECTORY, TABLE = "s3://lake/.paimon-operator/shop.orders/import", 7


class KilledError(Exception):
    """The process ended here."""


class Storage:
    """Files in memory, which stand in for a session. The process is killed after `steps` changes."""

    def __init__(self) -> None:
        self.files: dict[str, str] = {}
        self.steps = 10**6

    def path(self, uri: str) -> str:
        return uri

    def file_io(self, _: str) -> Storage:
        return self

    def listStatus(self, directory: str) -> list[Any]:  # noqa: N802  (Java's name)
        names = [file.removeprefix(f"{directory}/") for file in self.files]
        return [SimpleNamespace(getPath=lambda n=name: SimpleNamespace(getName=lambda: n)) for name in names]

    def readFileUtf8(self, path: str) -> str:  # noqa: N802
        return self.files[path]

    def tryToWriteAtomic(self, path: str, text: str) -> bool:  # noqa: N802
        self._step()
        return path not in self.files and self.files.setdefault(path, text) is text

    def delete(self, path: str, _: bool) -> None:
        self._step()
        self.files.pop(path, None)

    def _step(self) -> None:
        if self.steps == 0:
            raise KilledError
        self.steps -= 1

    def ledger(self) -> Ledger:
        return Ledger(self, DIRECTORY, TABLE)  # type: ignore[arg-type]


def load(storage: Storage, number: int) -> Entry:
    """Loads one file, in a run of its own."""
    write = WriteParameters(
        name="import", hash=f"h{number}", mode="Append", format="csv", location="", select="New", once=True, ledger=""
    )
    seen = storage.ledger()
    run = SimpleNamespace(name=f"run-{number}", uid="u")
    entry = seen.begin(job(run=run, parameters=write), 0, [file(number)])
    seen.mark_committed(entry, [])
    return entry


def file(number: int) -> InputFile:
    return InputFile(f"s3://landing/{number}.csv", number, f"v{number}", place=f"landing:{number}.csv")


def filled(monkeypatch: pytest.MonkeyPatch) -> tuple[Storage, Entry]:
    """A ledger with a folded file and enough entries to fold again."""
    monkeypatch.setattr(ledger_module, "FOLD_AFTER", 3)
    storage = Storage()
    for number in range(1, 5):
        last = load(storage, number)
    storage.ledger().fold(keep=last)
    for number in range(5, 9):
        last = load(storage, number)
    return storage, last


def test_after_a_fold_one_file_lists_what_the_entries_did(monkeypatch: pytest.MonkeyPatch) -> None:
    storage, last = filled(monkeypatch)
    storage.ledger().fold(keep=last)
    assert sorted(name.rpartition("/")[2] for name in storage.files) == [
        "folded-2.json",
        "run-8-u-1.committed",
        "run-8-u-1.json",
    ]
    loaded = storage.ledger().loaded()
    assert loaded == {file(number) for number in range(1, 9)}
    assert {each.place for each in loaded} == {f"landing:{number}.csv" for number in range(1, 9)}


@pytest.mark.parametrize("steps", range(14))
def test_a_kill_at_any_step_of_a_fold_loses_nothing(monkeypatch: pytest.MonkeyPatch, steps: int) -> None:
    storage, last = filled(monkeypatch)
    storage.steps = steps
    try:
        storage.ledger().fold(keep=last)
    except KilledError:
        storage.steps = 10**6
    after = storage.ledger()
    assert after.loaded() == {file(number) for number in range(1, 9)}
    assert after.loaded_hashes() == {f"h{number}" for number in range(1, 9)}
    assert after.open_entries == []
    storage.steps = 10**6
    after.fold(keep=load(storage, 9))
    assert storage.ledger().loaded() == {file(number) for number in range(1, 10)}


def test_an_entry_of_release_0_1_is_read() -> None:
    storage = Storage()
    entry = load(storage, 1)
    path = f"{DIRECTORY}/{entry.name}.json"
    storage.files[path] = storage.files[path].replace(',"landing:1.csv"', "")
    assert [(each, each.place) for each in storage.ledger().loaded()] == [(file(1), "")]
