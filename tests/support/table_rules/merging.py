"""Rules about merging rows of the same key, and about deletes."""

# ruff: noqa: E501  (a table: one rule in few lines)

from __future__ import annotations

from tests.support.manifests import Manifest, append_table, keyed_table
from tests.support.table_rules.rule import TableRule
from tests.support.wrong_manifest import WrongManifest, later

_GROUP = {"sequenceFields": ["updated_at"], "columns": ["state", "amount"]}
_GROUPS = "spec.mergeEngine.partialUpdate.sequenceGroups"
_SEQUENCE = "SchemaValidation.validateSequenceField"
_PARTIAL = "PartialUpdateMergeFunction.Factory"
_MERGED = "SchemaValidation.validateMergeFunction"
_DELETES = "tests/spark/test_row_kinds.py"


def partial_update(*groups: dict[str, list[str]], **edits: object) -> Manifest:
    """A table with PartialUpdate and sequence groups."""
    engine = {"type": "PartialUpdate", "partialUpdate": {"sequenceGroups": list(groups)}}
    return keyed_table(spec__mergeEngine=engine, **edits)


def aggregation(column: int, **aggregate: object) -> Manifest:
    """A table with Aggregation and one aggregate."""
    return keyed_table(
        spec__mergeEngine={"type": "Aggregation"}, **{f"spec__schema__columns__{column}__aggregate": aggregate}
    )


_ITEMS = "ARRAY<ROW<sku STRING, n INT>>"
_NESTED = {"spec__schema__columns__4__type": _ITEMS}


def _nested(**aggregate: object) -> Manifest:
    return keyed_table(
        spec__mergeEngine={"type": "Aggregation"}, spec__schema__columns__4__aggregate=aggregate, **_NESTED
    )


MERGING = [
    TableRule("engine-needs-keys", "A merge engine needs a primary key.", _MERGED, keyed_table(spec__mergeEngine={"type": "Deduplicate"}),
        WrongManifest("a merge engine without keys", append_table(spec__mergeEngine={"type": "Deduplicate"}), "spec.mergeEngine", "without primaryKeys")),
    TableRule("sequence-needs-keys", "A sequence needs a primary key.", "ours: nothing merges", keyed_table(spec__sequence={"fields": ["updated_at"]}),
        WrongManifest("a sequence without keys", append_table(spec__sequence={"fields": ["at"]}), "spec.sequence", "without primaryKeys")),
    TableRule("aggregate-needs-engine", "An aggregate needs Aggregation or PartialUpdate.", "ours: Paimon ignores it", aggregation(3, function="sum"),
        WrongManifest("an aggregate that Paimon would ignore", keyed_table(spec__schema__columns__3__aggregate={"function": "sum"}), "spec.schema.columns", "ignores it silently")),
    TableRule("aggregate-not-key", "A primary key has no aggregate.", "ours: it is the same in all rows that merge", aggregation(3, function="max"),
        WrongManifest("an aggregate on a key", aggregation(0, function="max"), "spec.schema.columns", "primary key")),
    TableRule("aggregate-function", "An aggregate function is one of Paimon's.", "SchemaValidation.validateMergeFunctionFactory", aggregation(3, function="last_value"),
        WrongManifest("an unknown aggregate function", aggregation(3, function="average"), "spec.schema.columns[3].aggregate.function", "Unsupported value")),
    TableRule("aggregate-delimiter", "Only listagg has a delimiter.", "FieldListaggAgg", aggregation(2, function="listagg", delimiter=";"),
        WrongManifest("a delimiter between numbers", aggregation(3, function="sum", delimiter=";"), "spec.schema.columns[3].aggregate.delimiter", "listagg")),
    TableRule("aggregate-distinct", "Only listagg and collect have distinct.", "FieldCollectAgg", aggregation(4, function="collect", distinct=True),
        WrongManifest("distinct sums", aggregation(3, function="sum", distinct=True), "spec.schema.columns[3].aggregate.distinct", "listagg or collect")),
    TableRule("aggregate-nested-key", "nested_partial_update has a nested key.", "FieldNestedPartialUpdateAgg", _nested(function="nested_partial_update", nestedKey=["sku"]),
        WrongManifest("nested rows without a key", aggregation(4, function="nested_partial_update"), "spec.schema.columns[4].aggregate.nestedKey", "must be set")),
    TableRule("aggregate-other-nested-key", "Only nested_update and nested_partial_update have a nested key.", "FieldNestedUpdateAgg", _nested(function="nested_update", nestedKey=["sku"]),
        WrongManifest("sums with a nested key", aggregation(3, function="sum", nestedKey=["sku"]), "spec.schema.columns[3].aggregate.nestedKey", "nested_update")),
    TableRule("aggregate-count-limit", "Only nested_update has a count limit.", "FieldNestedUpdateAgg", _nested(function="nested_update", countLimit=3),
        WrongManifest("a limit of numbers", aggregation(3, function="sum", countLimit=3), "spec.schema.columns[3].aggregate.countLimit", "nested_update")),
    TableRule("aggregate-type", "An aggregate function merges the type of its column.", "engine data: the types that each function merged", aggregation(3, function="sum"),
        later("sum on STRING", aggregation(2, function="sum"), "spec.schema.columns[2].aggregate.function", "STRING")),
    TableRule("listagg-type", "listagg merges texts.", "engine data: the types that each function merged", aggregation(2, function="listagg"),
        later("listagg on a number", aggregation(3, function="listagg"), "spec.schema.columns[3].aggregate.function", "DECIMAL")),
    TableRule("aggregate-in-group", "PartialUpdate aggregates columns of a sequence group.", _PARTIAL, partial_update(_GROUP, spec__schema__columns__3__aggregate={"function": "sum"}),
        later("an aggregate outside the sequence groups", partial_update(_GROUP, spec__schema__columns__4__aggregate={"function": "collect"}), "spec.schema.columns[4].aggregate", "sequence group")),
    TableRule("sequence-not-first-row", "FirstRow has no sequence.", _SEQUENCE, keyed_table(spec__mergeEngine={"type": "FirstRow"}),
        WrongManifest("a sequence under FirstRow", keyed_table(spec__mergeEngine={"type": "FirstRow"}, spec__sequence={"fields": ["updated_at"]}), "spec.sequence", "FirstRow")),
    TableRule("sequence-column", "A sequence field is a column.", _SEQUENCE, keyed_table(spec__sequence={"fields": ["updated_at", "amount"]}),
        WrongManifest("a sequence field that is no column", keyed_table(spec__sequence={"fields": ["version"]}), "spec.sequence.fields", "one of the columns")),
    TableRule("sequence-not-aggregated", "A sequence field has no aggregate.", _SEQUENCE, keyed_table(spec__mergeEngine={"type": "Aggregation"}, spec__sequence={"fields": ["updated_at"]}),
        WrongManifest("a sequence that is merged itself", keyed_table(spec__mergeEngine={"type": "Aggregation"}, spec__sequence={"fields": ["updated_at"]}, spec__schema__columns__5__aggregate={"function": "max"}), "spec.sequence.fields", "must not have an aggregate")),
    TableRule("sequence-not-groups", "Sequence groups exclude a sequence of the table.", _PARTIAL, partial_update(_GROUP),
        WrongManifest("two kinds of sequence", partial_update(_GROUP, spec__sequence={"fields": ["updated_at"]}), "spec.sequence", "sequenceFields of their own")),
    TableRule("group-column", "A column of a sequence group is a column of the table.", _PARTIAL, partial_update(_GROUP),
        WrongManifest("a sequence group of no column", partial_update({"sequenceFields": ["updated_at"], "columns": ["nope"]}), _GROUPS, "every column of a sequence group must be one of the columns")),
    TableRule("group-sequence-column", "A sequence field of a group is a column of the table.", _PARTIAL, partial_update(_GROUP),
        WrongManifest("a sequence group ordered by no column", partial_update({"sequenceFields": ["nope"], "columns": ["state"]}), _GROUPS, "every sequence field of a sequence group must be one of the columns")),
    TableRule("group-not-key", "A primary key is in no sequence group.", _PARTIAL, partial_update(_GROUP),
        WrongManifest("a primary key in a sequence group", partial_update({"sequenceFields": ["updated_at"], "columns": ["order_id"]}), _GROUPS, "primary key")),
    TableRule("group-once", "A column is in one sequence group.", _PARTIAL, partial_update(_GROUP, {"sequenceFields": ["tags_at"], "columns": ["tags"]}, spec__schema__columns__6={"name": "tags_at", "type": "INT"}),
        later("a column in two sequence groups", partial_update(_GROUP, {"sequenceFields": ["dt"], "columns": ["state"]}), _GROUPS, "state")),
    TableRule("partial-update-member", "Only PartialUpdate has its settings.", "ours: Paimon ignores them", partial_update(_GROUP),
        WrongManifest("partial update settings under Aggregation", keyed_table(spec__mergeEngine={"type": "Aggregation", "partialUpdate": {"sequenceGroups": [_GROUP]}}), "spec.mergeEngine.partialUpdate", "must not be set")),
    TableRule("aggregation-member", "Only Aggregation has its settings.", "ours: Paimon ignores them", keyed_table(spec__mergeEngine={"type": "Aggregation", "aggregation": {"removeRecordOnDelete": True}}),
        WrongManifest("aggregation settings under Deduplicate", keyed_table(spec__mergeEngine={"type": "Deduplicate", "aggregation": {"removeRecordOnDelete": True}}), "spec.mergeEngine.aggregation", "must not be set")),
]  # fmt: skip


def _kinds(
    field: str = "state", type_: str = "Deduplicate", *, edits: dict[str, object] | None = None, **engine: object
) -> Manifest:
    return keyed_table(spec__mergeEngine={"type": type_, "rowKindField": field, **engine}, **(edits or {}))


_ROW_KIND = "spec.mergeEngine.rowKindField"
_REMOVING = "spec.mergeEngine.partialUpdate"


def _removing(**settings: object) -> Manifest:
    return keyed_table(spec__mergeEngine={"type": "PartialUpdate", "partialUpdate": settings})


ROW_KINDS = [
    TableRule("row-kind-column", "rowKindField is a column.", "SchemaValidation.validateTableSchema", _kinds(),
        WrongManifest("row kinds of no column", _kinds("kind"), _ROW_KIND, "one of the columns")),
    TableRule("row-kind-not-key", "rowKindField is no primary key.", f"{_DELETES}: test_a_delete_does_not_find_its_row_if_its_kind_is_part_of_the_key", _kinds(),
        WrongManifest("row kinds in the key", _kinds("dt"), _ROW_KIND, "must not be a primary key")),
    TableRule("row-kind-plain", "The column of rowKindField has no aggregate.", "ours: it would no longer say what the row is", _kinds(type_="Aggregation"),
        WrongManifest("row kinds that are merged", _kinds(type_="Aggregation", edits={"spec__schema__columns__2__aggregate": {"function": "last_value"}}), _ROW_KIND, "no aggregate and no defaultValue")),
    TableRule("row-kind-no-default", "The column of rowKindField has no default value.", "0.9 fails at NULL, and 1.4.2 takes NULL for an upsert", _kinds(edits={"spec__schema__columns__5__defaultValue": "2026-01-31 12:00:00"}),
        WrongManifest("row kinds by default", _kinds(edits={"spec__schema__columns__2__defaultValue": "+I"}), _ROW_KIND, "no aggregate and no defaultValue")),
    TableRule("row-kind-text", "rowKindField is a text.", "RowKindGenerator", _kinds(),
        later("row kinds that are numbers", _kinds("amount"), _ROW_KIND, "DECIMAL(12,2)")),
    TableRule("first-row-ignores-deletes", "With rowKindField FirstRow needs ignoreDelete.", f"{_DELETES}: test_a_merge_engine_fails_at_a_delete", _kinds(type_="FirstRow", ignoreDelete=True),
        WrongManifest("deletes under FirstRow", _kinds(type_="FirstRow"), _ROW_KIND, "FirstRow needs ignoreDelete")),
    TableRule("partial-update-deletes", "With rowKindField PartialUpdate needs ignoreDelete, removeRecordOnDelete or sequence groups.", f"{_DELETES}: test_a_merge_engine_fails_at_a_delete", _kinds(type_="PartialUpdate", partialUpdate={"removeRecordOnDelete": True}),
        WrongManifest("deletes under PartialUpdate", _kinds(type_="PartialUpdate"), _ROW_KIND, "PartialUpdate needs ignoreDelete")),
    TableRule("aggregate-deletes", "With rowKindField each aggregate function retracts, or ignores it, unless deletes are ignored or remove the row.", f"{_DELETES}: test_a_merge_engine_fails_at_a_delete", _kinds(type_="Aggregation", edits={"spec__schema__columns__3__aggregate": {"function": "max", "ignoreRetract": True}}),
        WrongManifest("deletes of a maximum", _kinds(type_="Aggregation", edits={"spec__schema__columns__3__aggregate": {"function": "max"}}), "spec.schema.columns", "cannot retract")),
    TableRule("remove-or-ignore", "Deletes are ignored or remove the row.", _PARTIAL, _removing(removeRecordOnDelete=True),
        WrongManifest("deletes that are ignored and remove the row", keyed_table(spec__mergeEngine={"type": "PartialUpdate", "ignoreDelete": True, "partialUpdate": {"removeRecordOnDelete": True}}), "spec.mergeEngine.ignoreDelete", "must not be true")),
    TableRule("remove-without-groups", "removeRecordOnDelete excludes sequence groups.", _PARTIAL, _removing(removeRecordOnSequenceGroup=["updated_at"], sequenceGroups=[_GROUP]),
        WrongManifest("deletes that remove rows of sequence groups", _removing(removeRecordOnDelete=True, sequenceGroups=[_GROUP]), f"{_REMOVING}.removeRecordOnDelete", "must not be true with sequence groups")),
    TableRule("remove-by-sequence-field", "removeRecordOnSequenceGroup names sequence fields of groups.", "SchemaValidation, PartialUpdateMergeFunction", _removing(removeRecordOnSequenceGroup=["updated_at"], sequenceGroups=[_GROUP]),
        WrongManifest("deletes by a field that orders nothing", _removing(removeRecordOnSequenceGroup=["dt"], sequenceGroups=[_GROUP]), f"{_REMOVING}.removeRecordOnSequenceGroup", "must name sequence fields")),
    TableRule("remove-without-ignore-retract", "removeRecordOnDelete of Aggregation excludes ignoreRetract.", f"{_DELETES}: test_aggregates_that_ignore_retracts_exclude_the_removal_of_rows", keyed_table(spec__mergeEngine={"type": "Aggregation", "aggregation": {"removeRecordOnDelete": True}}, spec__schema__columns__3__aggregate={"function": "max"}),
        WrongManifest("deletes that remove and ignore", keyed_table(spec__mergeEngine={"type": "Aggregation", "aggregation": {"removeRecordOnDelete": True}}, spec__schema__columns__3__aggregate={"function": "max", "ignoreRetract": True}), "spec.mergeEngine.aggregation.removeRecordOnDelete", "ignoreRetract")),
    TableRule("remove-engine", "The engine must have the setting.", "options of the engine", keyed_table(spec__mergeEngine={"type": "Aggregation", "aggregation": {"removeRecordOnDelete": True}}),
        later("aggregates whose rows are removed on an engine without that", keyed_table(spec__mergeEngine={"type": "Aggregation", "aggregation": {"removeRecordOnDelete": True}}), "spec.mergeEngine.aggregation.removeRecordOnDelete", "paimon-0.9", "UnsupportedByEngine", engine="paimon-0.9")),
    TableRule("update-before-engine", "The engine must have ignoreUpdateBefore.", "options of the engine", keyed_table(spec__mergeEngine={"type": "Deduplicate", "ignoreUpdateBefore": True}),
        later("ignored update-befores on an engine without that", keyed_table(spec__mergeEngine={"type": "Deduplicate", "ignoreUpdateBefore": True}), "spec.mergeEngine.ignoreUpdateBefore", "paimon-0.9", "UnsupportedByEngine", engine="paimon-0.9")),
]  # fmt: skip
