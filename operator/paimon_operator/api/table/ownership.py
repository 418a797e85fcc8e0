"""Who owns the physical table."""

from __future__ import annotations

from paimon_operator.api.base import ApiModel, Int64, Place, RunName, Time


class Ownership(ApiModel):
    """Proof that this PaimonTable owns the physical table."""

    place: Place
    """Warehouse on its server, database and table at which a run has read the owner mark."""
    since: Time
    """Time of the first such run at this place. Of several PaimonTables, the earliest proof counts."""
    lost_at: Time | None = None
    """Time at which a run found the mark of another owner in the table. Since then there is no proof."""
    recreated: Int64 | None = None
    """Generation for which the annotation paimon-operator.dev/recreate was answered. Removed with the annotation."""
    recreating: RunName | None = None
    """First run that was started to recreate the missing table, until the result of one of them is known."""
