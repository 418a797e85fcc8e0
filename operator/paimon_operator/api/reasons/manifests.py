"""Manifests that need an edit."""

from __future__ import annotations

from typing import Final

from paimon_operator.api.reasons.explanation import Explanation

EXPLANATIONS: Final = {
    "InvalidSpec": Explanation(
        "A field of the manifest is wrong. The message names the field.",
        "Edit the field that the message names.",
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
        "The namespace has no PaimonCatalog of this name.",
        "Create the PaimonCatalog, or create the PaimonTable again with the right spec.catalogRef.",
    ),
    "CatalogInvalid": Explanation(
        "The PaimonCatalog of the table is Stalled.",
        "Fix what the catalog's conditions name.",
    ),
    "DatabaseNotAllowed": Explanation(
        "The catalog does not allow this database.",
        "Use an allowed database, or have this one added to the catalog's allowedDatabases.",
    ),
    "LocationNotFound": Explanation(
        "The catalog has no location of this name.",
        "Use one of the catalog's locations, or have this one added.",
    ),
    "TableClaimed": Explanation(
        "An older PaimonTable manages the same physical table.",
        "Delete one of the two PaimonTables.",
    ),
    "Conflict": Explanation(
        "The table belongs to another PaimonTable, which may be in another cluster.",
        "Delete that PaimonTable, or choose another table. The operator retries without an edit.",
    ),
    "TableExists": Explanation(
        "The table exists and adoptionPolicy is Fail, or its files exist but the metastore does not list it.",
        "Set adoptionPolicy to AdoptIfIdentical, or choose another table. The operator retries without an edit.",
    ),
    "TableDiffers": Explanation(
        "The existing table differs from the manifest. The operator did not change it.",
        "Edit the manifest so that it describes the existing table. The message lists the differences.",
    ),
    "TableRefused": Explanation(
        "Paimon rejects this table. The message is Paimon's own.",
        "Edit the field that the message names.",
    ),
    "TableNotFound": Explanation(
        "The table no longer exists in the warehouse, or the PaimonTable of a run does not exist.",
        "Find out who dropped the table: the operator recreates it without its rows. For a run, create the "
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
