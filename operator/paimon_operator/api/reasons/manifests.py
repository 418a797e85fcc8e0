"""Manifests that need an edit."""

from __future__ import annotations

from typing import Final

from paimon_operator.api.reasons.explanation import Explanation

EXPLANATIONS: Final = {
    "InvalidSpec": Explanation(
        "A field of the manifest is wrong. The message names the field.",
        "Edit the field that the message names.",
    ),
    "SpecTooLarge": Explanation(
        "The spec has more than 256 KiB as JSON. The message names its size and its largest part.",
        "Shorten what the message names, or use two tables or runs. Quotes and control characters count as JSON "
        "writes them.",
    ),
    "UnknownOption": Explanation(
        "The engine has no option of this name.",
        "Use the name that the message proposes, or remove the option.",
    ),
    "UnsupportedByEngine": Explanation(
        "The catalog's engine does not support what the field requests.",
        "Remove the field that the message names, or use a catalog with a newer engine.",
    ),
    "UnknownEngine": Explanation(
        "The operator has no engine of this name, or no Spark image for it.",
        "Use one of the engines that the message lists, or have the image added to the chart values.",
    ),
    "EngineDowngrade": Explanation(
        "The catalog's engine is older than the engine that last verified the table. The older engine may not read "
        "what the newer one wrote.",
        "Set the catalog's engine to the newer engine again, or allow the change with the catalog's allowDowngrade.",
    ),
    "StorageNotAllowed": Explanation(
        "The operator's settings do not allow this kind of storage.",
        "Use another kind of storage, or ask the operator's administrator to allow this one.",
    ),
    "CatalogNotFound": Explanation(
        "The namespace has no PaimonCatalog of this name, or it has one that cannot be read and is Stalled.",
        "Create the PaimonCatalog, or create the PaimonTable again with the right spec.catalogRef.",
    ),
    "CatalogInvalid": Explanation(
        "The PaimonCatalog of the table is Stalled.",
        "Fix what the catalog's conditions name.",
    ),
    "LimitExceeded": Explanation(
        "The manifest requests larger Spark Pods, or another mode, than the limits of its catalog allow.",
        "Request at most what the message names, or have spec.limits.spark of the PaimonCatalog changed.",
    ),
    "DatabaseNotAllowed": Explanation(
        "The catalog does not allow this database.",
        "Use an allowed database, or have this one added to the catalog's allowedDatabases.",
    ),
    "LocationNotFound": Explanation(
        "The catalog has no location of this name.",
        "Use one of the catalog's locations, or have this one added.",
    ),
    "WarehouseOverlaps": Explanation(
        "The catalog's warehouse lies inside the warehouse of another catalog, or contains it. The one whose storage a "
        "run has reached first keeps working.",
        "Give one of the two catalogs another warehouse.",
    ),
    "TableMissing": Explanation(
        "The table has existed, and its place holds none any more. The operator never recreates it by itself.",
        "Put the data back: the operator finds it by itself. Or annotate the PaimonTable with "
        "paimon-operator.dev/recreate=<its metadata.generation>: the table is created empty and its writes load again. "
        "Remove an annotation of the same value first: it counts once.",
    ),
    "TableClaimed": Explanation(
        "Another PaimonTable manages the same physical table: it has a run there, or has owned it for longer.",
        "Delete one of the two PaimonTables, or choose another table.",
    ),
    "Conflict": Explanation(
        "The table belongs to another PaimonTable, which may be in another cluster.",
        "Delete that PaimonTable, choose another table, or set adoptionPolicy to Adopt if it is gone. The operator "
        "checks it once an hour.",
    ),
    "TableExists": Explanation(
        "The table exists and adoptionPolicy is Fail, or its files exist but the metastore does not list it.",
        "Set adoptionPolicy to AdoptIfIdentical, or choose another table. The operator retries without an edit.",
    ),
    "TableDiffers": Explanation(
        "The existing table differs from the manifest in what cannot be altered. The operator changed none of it.",
        "Edit what the message names, so that it describes the existing table, or create another table.",
    ),
    "AwaitingApproval": Explanation(
        "The edit loses data, and evolutionPolicy is Approve. status.plan shows its steps.",
        "Annotate the PaimonTable with paimon-operator.dev/approve=<status.plan.hash>, or undo the edit.",
    ),
    "TableRefused": Explanation(
        "Paimon rejects this table. The message is Paimon's own.",
        "Edit the field that the message names.",
    ),
    "RescaleRefused": Explanation(
        "The table cannot be rescaled to another number of buckets. Nothing was changed.",
        "Undo the edit of the number, or fix what the message names.",
    ),
    "RescaleFailed": Explanation(
        "A rescale has stopped: the rewritten table differs from the one before, or somebody else wrote to it. The tag "
        "that the message names has the data before the rescale.",
        "Follow the message and docs/buckets.md. Any edit of the manifest continues the rescale.",
    ),
    "TableNotFound": Explanation(
        "The table no longer exists in the warehouse, or the PaimonTable of a run does not exist.",
        "Find out who dropped the table: the operator looks for it, and recreates nothing. For a run, create the "
        "PaimonTable.",
    ),
    "WriteNotFound": Explanation(
        "The table has no write of this name.",
        "Use the name of one of the table's writes.",
    ),
    "ResultUnknown": Explanation(
        "It is unknown whether the write committed, so it is not retried automatically.",
        "Inspect the snapshots that the message names, or put the file where the message says. If you correct rows by"
        " hand, set externalWriters to Paused afterwards (to None if it is Paused). Then delete the PaimonRun to "
        "continue: the write is retried and first reads its ledger of loaded files.",
    ),
}
"""Reason -> what it means and what to do."""
