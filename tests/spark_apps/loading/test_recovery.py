"""Which tables have ledgers at all."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock, patch

import pytest

from paimon_contract.job import JobCatalog
from paimon_engines.loader import load_engine
from spark_apps.loading.recovery import all_ledgers
from spark_apps.metadata.base import UnreadableError
from spark_apps.metadata.volume import VolumeFiles
from tests.spark_apps.jobs import job


class AskedError(Exception):
    """Java was asked for the ledgers."""


def session_in(root: Path) -> Any:
    """A session of the table shop.orders in this warehouse."""
    of, asked = job(catalog=JobCatalog(root.as_uri(), "filesystem")), Mock(side_effect=AskedError)
    return SimpleNamespace(job=of, engine=load_engine("paimon-1.4"), path=str, file_io=asked, only_java_reads=False)


def ledgers_in(root: Path) -> list[Any]:
    session = session_in(root)
    return list(all_ledgers(session.job, session, table=None))


def test_java_is_not_asked_for_the_ledgers_of_a_table_that_has_none(tmp_path: Path) -> None:
    assert ledgers_in(tmp_path) == []


def test_java_is_asked_for_those_of_a_table_that_was_written_to(tmp_path: Path) -> None:
    (tmp_path / ".paimon-operator" / "shop.orders" / "w").mkdir(parents=True)
    with pytest.raises(AskedError):
        ledgers_in(tmp_path)


def test_java_is_asked_where_only_java_can_list_them_and_python_tries_once(tmp_path: Path) -> None:
    session = session_in(tmp_path)
    with patch.object(VolumeFiles, "names", side_effect=UnreadableError("the storage fails")) as tried:
        for _ in range(2):
            with pytest.raises(AskedError):
                list(all_ledgers(session.job, session, table=None))
    assert tried.call_count == 1
