"""Attacks on the ownership of a table in a warehouse that two namespaces share."""

from __future__ import annotations

from typing import Final

from paimon_contract.owner_mark import digest_of, owner_mark
from tests.apiserver.attacks.attack import MAKE_TABLES, Actor, Attack, Outcome, each
from tests.apiserver.attacks.attacker import Answer, Attacker
from tests.apiserver.attacks.bed import VICTIM, Bed, VictimHarmedError
from tests.apiserver.namespace_client import CATALOGS, RUNS, TABLES

_ADMINISTRATOR: Final = (Actor.ADMINISTRATOR,)
_CLAIMS: Final = "tests/core/commits/test_table_claims.py"
_OWNER: Final = "`paimon-table-owner` in another namespace, with a catalog that names the same warehouse"
_ADMIN: Final = "`paimon-administrator` in another namespace"


def _same_table(bed: Bed, me: Attacker) -> Answer:
    name = bed.fresh("same")
    got = me.create(bed.rivals(name))
    if not got.refused:
        bed.require_claimed(name)
    return got


def _adopt(bed: Bed, me: Attacker) -> Answer:
    name = bed.fresh("adopts")
    got = me.create(bed.rivals(name, spec__adoptionPolicy="Adopt"))
    if not got.refused:
        bed.require_claimed(name)
    return got


def _drop(bed: Bed, me: Attacker) -> Answer:
    name = bed.fresh("drops")
    got = me.create(bed.rivals(name, spec__adoptionPolicy="Adopt", spec__deletionPolicy="Delete"))
    if got.refused:
        return got
    bed.require_claimed(name)
    deleted = me.remove(TABLES, name)
    bed.rival.wait(lambda: bed.rival.find(TABLES, name) is None, "the object released without a drop")
    if any(each["spec"]["tableRef"]["name"] == name for each in bed.rival.all(RUNS)):
        raise VictimHarmedError("a run on the victim's table was created")
    return deleted


def _older_object(bed: Bed, me: Attacker) -> Answer:
    """Claims the table that the victim creates next, through a catalog that does not allow its database."""
    name, table = bed.fresh("older"), bed.fresh("next").replace("-", "_")
    got = me.create(bed.rivals(name, spec__table=table, spec__catalogRef__name="closed"))
    if not got.refused:
        bed.rival.wait_for_condition(TABLES, name, "Stalled", "True", "DatabaseNotAllowed")
        bed.require_table(table)
    return got


def _invalid_catalog(bed: Bed, me: Attacker) -> Answer:
    name, table = bed.fresh("invalid"), bed.fresh("next").replace("-", "_")
    got = me.create(bed.rival_catalog(name, spec__engine="paimon-0.1"))
    if not got.refused:
        got = me.create(bed.rivals(name, spec__table=table, spec__catalogRef__name=name))
        bed.rival.wait_for_condition(TABLES, name, "Stalled", "True", "CatalogInvalid")
        bed.require_table(table)
    return got


def _run_that_never_starts(bed: Bed, me: Attacker) -> Answer:
    """The API server refuses every Pod of the rival's run: its service account does not exist."""
    name, table = bed.fresh("refused"), bed.fresh("next").replace("-", "_")
    got = me.create(bed.rival_catalog(name, spec__spark={"serviceAccountName": "nobody"}))
    if not got.refused:
        got = me.create(bed.rivals(name, spec__table=table, spec__catalogRef__name=name))
        bed.rival.wait(lambda: not _has_active_run(bed, name), "the end of the run")
        bed.require_table(table)
    return got


def _has_active_run(bed: Bed, name: str) -> bool:
    status = bed.rival.get(TABLES, name).get("status") or {}
    return "activeRun" in status or "provision" not in status


def _alias(bed: Bed, me: Attacker) -> Answer:
    """With Adopt. The rival's driver finds the victim's mark, as a real one does, and its job forbids to take that."""
    name = bed.fresh("alias")
    got = me.create(bed.rival_catalog(name, spec__storage__s3__endpoint="http://alias.example:7070"))
    if got.refused:
        return got
    got = me.create(bed.rivals(name, spec__catalogRef__name=name, spec__adoptionPolicy="Adopt"))
    pod = bed.rival.wait_for_pod(of=name)
    job = bed.job_of(bed.rival, pod)
    cluster = job["owner"].split("/")[0]
    victim = digest_of(owner_mark(cluster, bed.shop.namespace, VICTIM))
    if victim not in job["provision"].get("ownersHere", ()):
        raise VictimHarmedError("the job may take over the victim's table")
    error = {"class": "Spec", "reason": "Conflict", "field": "spec.adoptionPolicy", "message": "it has another owner"}
    bed.rival.end_with_error(pod, exit_code=20, error=error | {"remedy": "Delete one of the two."})
    bed.rival.wait_for_condition(TABLES, name, "Stalled", "True", "Conflict")
    return got


def _nested_warehouse(bed: Bed, me: Attacker) -> Answer:
    name = bed.fresh("nested")
    nested = bed.rival_catalog(name, spec__warehouse="s3://lake/warehouse/shop.db")
    got = me.create(nested)
    if not got.refused:
        stalled = bed.rival.wait_for_condition(CATALOGS, name, "Stalled", "True", "WarehouseOverlaps")
        assert "a PaimonCatalog of another namespace" in stalled["message"]
    return got


def _owner_mark(bed: Bed, me: Attacker) -> Answer:
    name = bed.fresh("mark")
    return me.create(bed.rivals(name, spec__options={"paimon-operator.owner": f"c/shop/{VICTIM}"}))


CLAIMS: Final = (
    Attack(
        id="same-table",
        title="Manage a table of another namespace",
        findings=("S1",),
        who=_OWNER,
        how="A PaimonTable names the same physical table.",
        why="The object with proof has the table claim. Every other object is Stalled (`TableClaimed`) without a run.",
        tests=(
            f"{_CLAIMS}::test_who_waits_for_whom",
            f"{_CLAIMS}::test_after_any_history_each_table_with_proof_has_exactly_one_holder",
        ),
        expected=each(MAKE_TABLES, Outcome.WITHOUT_EFFECT),
        attempt=_same_table,
    ),
    Attack(
        id="adopt",
        title="Adopt a table of another namespace",
        findings=("S9",),
        who=_OWNER,
        how="The PaimonTable also says `adoptionPolicy: Adopt`.",
        why="`Adopt` passes by no table claim of a PaimonTable of this cluster.",
        tests=(f"{_CLAIMS}::test_who_waits_for_whom",),
        expected=each(MAKE_TABLES, Outcome.WITHOUT_EFFECT),
        attempt=_adopt,
    ),
    Attack(
        id="drop",
        title="Drop a table of another namespace",
        findings=("S9",),
        who=_OWNER,
        how="The PaimonTable also says `deletionPolicy: Delete`, and is deleted.",
        why="An object that was never Ready is released without a drop. A drop needs the object's own owner mark.",
        tests=("tests/core/table/test_plan_deletion.py::test_a_table_that_another_object_claims_is_not_dropped",),
        expected=each(MAKE_TABLES, Outcome.WITHOUT_EFFECT),
        attempt=_drop,
    ),
    Attack(
        id="older-object",
        title="Lock a table before its owner creates it",
        findings=("S1",),
        who=_OWNER,
        how="An older PaimonTable names it through a catalog that does not allow its database.",
        why="Without proof, an object counts only if its database is allowed and a run has reached its storage.",
        tests=(f"{_CLAIMS}::test_an_object_without_proof_counts_only_while_it_could_run",),
        expected=each(MAKE_TABLES, Outcome.WITHOUT_EFFECT),
        attempt=_older_object,
    ),
    Attack(
        id="invalid-catalog",
        title="Lock a table by a catalog that cannot work",
        findings=("S1",),
        who=_ADMIN,
        how="An older PaimonTable names it through a catalog with the same warehouse and an unknown engine.",
        why="Without proof, an object counts only while its catalog is valid.",
        tests=(f"{_CLAIMS}::test_an_object_without_proof_counts_only_while_it_could_run",),
        expected=each(_ADMINISTRATOR, Outcome.WITHOUT_EFFECT),
        attempt=_invalid_catalog,
    ),
    Attack(
        id="run-that-never-starts",
        title="Lock a table by a run that never starts",
        findings=("S1",),
        who=_ADMIN,
        how="An older PaimonTable has an active run, whose Pod the API server refuses for ever.",
        why="A run whose Pod is refused for 10 minutes ends, and with it its table claim.",
        tests=(
            "tests/runtime/test_one_run_per_table.py"
            "::test_a_run_that_can_have_no_pod_keeps_the_claim_from_another_namespace_for_minutes_only",
        ),
        expected=each(_ADMINISTRATOR, Outcome.WITHOUT_EFFECT),
        attempt=_run_that_never_starts,
    ),
    Attack(
        id="alias-of-the-server",
        title="Take over a table by another address of its server",
        findings=("S1",),
        who=_ADMIN,
        how="A catalog names the same bucket by another endpoint, and a PaimonTable says `adoptionPolicy: Adopt`.",
        why="The driver finds the owner mark in the table. `Adopt` takes it only if that owner has no proof any more.",
        tests=(
            "tests/spark/test_two_clusters.py::test_adopt_takes_nothing_from_an_owner_that_this_cluster_still_has",
            "tests/runtime/test_adopt_beside_an_owner.py"
            "::test_the_owner_is_listed_by_a_digest_that_shows_no_name_of_its_namespace",
            "tests/spark/test_ownership.py::test_a_table_with_a_new_owner_is_neither_written_nor_compacted_nor_expired",
        ),
        expected=each(_ADMINISTRATOR, Outcome.WITHOUT_EFFECT),
        attempt=_alias,
    ),
    Attack(
        id="nested-warehouse",
        title="Stop a catalog by a warehouse inside its own",
        who=_ADMIN,
        how="A catalog's warehouse lies in or around that of another namespace.",
        why="The catalog whose storage a run reached first goes on. The other one is Stalled (`WarehouseOverlaps`).",
        tests=("tests/core/commits/test_warehouses.py::test_the_catalog_that_was_reached_later_is_stopped",),
        expected=each(_ADMINISTRATOR, Outcome.WITHOUT_EFFECT),
        attempt=_nested_warehouse,
    ),
    Attack(
        id="owner-mark",
        title="Forge the owner mark",
        who=_OWNER,
        how="`spec.options` sets `paimon-operator.owner`.",
        why="The option is the operator's own: a rule of the CRD refuses it.",
        tests=("tests/core/validation/test_wrong_manifests.py",),
        expected=each(MAKE_TABLES, Outcome.RULE),
        attempt=_owner_mark,
    ),
)
