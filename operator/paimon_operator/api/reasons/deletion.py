"""Deletion of a table or of a catalog."""

from __future__ import annotations

from typing import Final

from paimon_operator.api.reasons.explanation import Explanation

EXPLANATIONS: Final = {
    "Deleting": Explanation(
        "The object is being deleted.",
        "Wait until the deletion is complete.",
    ),
    "WaitingForPod": Explanation(
        "Deletion waits until the driver Pod is gone.",
        "Wait until the Pod has ended.",
    ),
    "Dropping": Explanation(
        "A run is dropping the table.",
        "Wait for the run to finish.",
    ),
    "DropFailing": Explanation(
        "The table cannot be dropped yet. The operator retries until it succeeds.",
        "Fix what the message names. To delete the object and keep the table, set deletionPolicy to Retain or "
        "annotate it with paimon-operator.dev/skip-drop=true.",
    ),
    "TableKept": Explanation(
        "The table was kept despite deletionPolicy Delete: it existed before its PaimonTable took it over.",
        "If the data shall go too, drop the table by hand. To have the operator drop such a table, set adoptionPolicy "
        "to Adopt before you delete the PaimonTable.",
    ),
    "CatalogInUse": Explanation(
        "PaimonTables still refer to the catalog that is being deleted.",
        "Delete these PaimonTables.",
    ),
}
"""Reason -> what it means and what to do."""
