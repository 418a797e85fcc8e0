"""The options of Paimon that a manifest may set: none that names a location, code or another table."""

from __future__ import annotations

import re
from typing import Any

import pytest

from paimon_operator.api.table.options import ALLOWED_IN_WRITES, ALLOWED_OPTIONS, ALLOWED_PREFIXES, OPTION_FIELDS
from paimon_operator.core.validation.table import broken_rules
from tests.support import builders

DANGEROUS = re.compile(r"path|extern|callback|url|uri|class|prefix|branch|catalog|custom|directory|metastore|http|user")
ENGINES = tuple(builders.engines())


def refused(engine: str, **spec: Any) -> list[str]:
    context = builders.context(builders.table(**spec), builders.catalog(engine=engine))
    return [error.field for error in broken_rules(context)]


def dangerous(engine: str) -> list[str]:
    return [key for key in builders.engines()[engine].options if DANGEROUS.search(key)]


@pytest.mark.parametrize("engine", ENGINES)
def test_every_option_with_a_location_code_or_another_table_is_refused_in_tables_and_in_writes(engine: str) -> None:
    keys = dangerous(engine)
    assert len(keys) > 8, "the search has gone blind"

    for key in keys:
        default = builders.engines()[engine].options[key].default or "x"
        assert refused(engine, options={key: default}) == [f"spec.options[{key}]"], key
        write = builders.write() | {"options": {key: default}}
        assert f"spec.writes[0].options[{key}]" in refused(engine, writes=[write]), key


def test_an_option_of_the_whole_table_is_refused_in_a_write() -> None:
    write = builders.write() | {"options": {"file.format": "orc"}}
    assert refused("paimon-1.4", writes=[write]) == ["spec.writes[0].options[file.format]"]
    write = builders.write() | {"options": {"write-buffer-size": "64 mb"}}
    assert refused("paimon-1.4", writes=[write]) == []


def test_the_lists_of_allowed_options_name_only_options_of_an_engine() -> None:
    known = {key for engine in builders.engines().values() for key in engine.options}
    assert sorted(ALLOWED_OPTIONS - known) == []
    for prefix in {*ALLOWED_PREFIXES, *ALLOWED_IN_WRITES} - {"orc."}:  # the format's own options have no fixed names
        assert any(key.startswith(prefix) for key in known), prefix
    assert [key for key in ALLOWED_OPTIONS if key in OPTION_FIELDS] == []
