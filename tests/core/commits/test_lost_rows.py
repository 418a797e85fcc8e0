"""Tables of which Paimon loses rows beside other writers: where no storage makes commits safe, no run starts."""

from __future__ import annotations

from typing import Any, Final

import pytest

from paimon_operator.api.conditions import ConditionType, find
from paimon_operator.api.reasons import Reason
from paimon_operator.api.table.status import TableStatus
from paimon_operator.core.commits.commit_safety import may_commit, protection_in
from paimon_operator.core.operations.maintenance import compact
from paimon_operator.errors import SpecError
from tests.support import builders
from tests.support.table_world import TableWorld

ON_HDFS: Final[dict[str, Any]] = {"warehouse": "hdfs://nn:8020/lake", "storage": {"hdfs": {}}, "locations": []}
COMMIT: Final = {"snapshotId": 813, "commitUser": "flink", "kind": "APPEND", "time": "2026-11-21T08:00:00Z"}
FOUND: Final = TableStatus.model_validate({"outsideWriters": {"stated": "None", "seenSnapshot": 814, "commit": COMMIT}})
FIXED: Final[dict[str, Any]] = {"bucket": {"type": "Fixed", "fixed": {"count": 2}}}
VECTORS: Final = {"deletionVectors": {"enabled": True}}
EVENTS: Final = {"schema": builders.EVENTS, "bucket": None} | VECTORS
IN_BUCKETS: Final = EVENTS | {"bucket": {"type": "Fixed", "fixed": {"count": 2, "keys": ["what"]}}}
LOOKUP: Final = {"changelogProducer": {"type": "Lookup"}}
FIRST_ROW: Final = {"mergeEngine": {"type": "FirstRow"}}
INLINE, DEDICATED, EXTERNAL = ({"compaction": {"mode": mode}} for mode in ("Inline", "Dedicated", "External"))
NEW, OLD = "paimon-1.4", "paimon-0.9"

SAFE: Final = "HDFS accepts one of two commits, and the other writer notices and commits again"
TWICE: Final = (
    "writers that compact replace each other's deletion vectors, so that a changed row can be there twice: set "
    "compaction.mode to Dedicated"
)
LOOKUPS: Final = (
    "writers that compact with lookups do not see what another one adds meanwhile, so that its rows are lost, older "
    "than they should be, or there twice: set compaction.mode to Dedicated"
)
BACK: Final = (
    "a compaction brings back the rows that another writer deletes meanwhile, as Paimon {} does not compare their "
    "deletion vectors"
)
BACK_OLD, BACK_NEW = BACK.format("0.9.0"), f"{BACK.format('1.4.2')} in Fixed buckets"
INSTEAD: Final = ": set compaction.mode to External, and compact while nobody deletes"

# engine, manifest, sentence of the condition
KEPT: Final[list[tuple[str, dict[str, Any], str]]] = [
    (NEW, FIXED | INLINE, SAFE),
    (NEW, FIXED | INLINE | VECTORS, TWICE),
    (OLD, FIXED | VECTORS, TWICE),  # Inline is the default
    (NEW, FIXED | INLINE | {"deletionVectors": {"enabled": False}}, SAFE),
    (NEW, FIXED | DEDICATED | VECTORS, SAFE),
    (NEW, FIXED | EXTERNAL | VECTORS, SAFE),
    (NEW, FIXED | INLINE | LOOKUP, LOOKUPS),
    (OLD, FIXED | LOOKUP, LOOKUPS),
    (NEW, FIXED | INLINE | FIRST_ROW, LOOKUPS),
    (NEW, FIXED | INLINE | {"options": {"force-lookup": "true"}}, LOOKUPS),
    (NEW, FIXED | INLINE | {"options": {"force-lookup": "false"}}, SAFE),
    (NEW, FIXED | INLINE | {"changelogProducer": {"type": "FullCompaction"}}, SAFE),
    (NEW, FIXED | INLINE | LOOKUP | VECTORS, TWICE),
    (NEW, FIXED | DEDICATED | LOOKUP, SAFE),
    (NEW, FIXED | EXTERNAL | FIRST_ROW, SAFE),
    (NEW, EVENTS | DEDICATED, SAFE),
    (OLD, EVENTS | DEDICATED, BACK_OLD + INSTEAD),
    (OLD, EVENTS | EXTERNAL, SAFE),
    (NEW, IN_BUCKETS | DEDICATED, BACK_NEW + INSTEAD),
    (NEW, IN_BUCKETS | INLINE, BACK_NEW + INSTEAD),
    (OLD, IN_BUCKETS | DEDICATED, BACK_OLD + INSTEAD),
    (NEW, IN_BUCKETS | EXTERNAL, SAFE),
]


@pytest.mark.parametrize(("engine", "spec", "sentence"), KEPT)
def test_no_run_commits_beside_others_where_paimon_loses_rows(engine: str, spec: dict[str, Any], sentence: str) -> None:
    catalog = builders.catalog(**ON_HDFS, engine=engine)
    declared = builders.context(builders.table(**spec | {"externalWriters": "Active"}), catalog)
    assert protection_in(declared).sentence == sentence
    assert may_commit(declared, TableStatus()) == (sentence == SAFE)
    found = builders.context(builders.table(**spec), catalog)
    assert may_commit(found, FOUND) == (sentence == SAFE)
    assert may_commit(found, TableStatus()), "nobody else commits"


@pytest.mark.parametrize(
    ("engine", "spec", "sentence"),
    [
        (OLD, EVENTS | EXTERNAL, BACK_OLD),
        (NEW, IN_BUCKETS | EXTERNAL, BACK_NEW),
        (NEW, EVENTS | EXTERNAL, None),
        (NEW, FIXED | EXTERNAL | VECTORS, None),
    ],
)
def test_a_users_compaction_is_refused_while_others_may_delete(
    engine: str, spec: dict[str, Any], sentence: str | None
) -> None:
    catalog, table = builders.catalog(**ON_HDFS, engine=engine), builders.table(**spec)
    run, alone = builders.run("mine", table=table, compact={"strategy": "Full"}), builders.context(table, catalog)
    others = builders.context(builders.table(**spec | {"externalWriters": "Active"}), catalog)
    wanted = compact.job(alone, run)
    if sentence is None:
        assert compact.job(others, run) == wanted
        return
    with pytest.raises(SpecError) as refused:
        compact.job(others, run)
    assert (refused.value.field, refused.value.problem) == ("spec.externalWriters", sentence)
    assert refused.value.reason == Reason.OUTSIDE_COMMIT


def test_the_table_is_stalled_beside_others_and_says_what_to_edit() -> None:
    seen = TableWorld(builders.table(**FIXED | VECTORS), builders.catalog(**ON_HDFS)).ready()
    seen.edit(externalWriters="Active")
    seen.settle()
    assert seen.says("CommitSafe") == ("False", Reason.COMMIT_UNSAFE)
    assert seen.says("Stalled") == ("True", Reason.COMMIT_UNSAFE)
    stalled = find(seen.table.status.conditions, ConditionType.STALLED)
    assert stalled is not None
    assert stalled.message.startswith(f"Other writers commit to the table, and {TWICE}.")
    seen.edit(compaction={"mode": "Dedicated"})
    seen.run_due()
    assert seen.says("CommitSafe") == ("True", "AtomicRename")
    assert seen.says("Ready")[0] == "True"
