"""One file per table operation: when it is due, what job it is, what its result means."""

from __future__ import annotations

from typing import Final

from paimon_operator.api.run.status import RunType
from paimon_operator.core.operations.base import Operation
from paimon_operator.core.operations.data.write import Writes
from paimon_operator.core.operations.maintenance.compact import Compact
from paimon_operator.core.operations.maintenance.expire_snapshots import ExpireSnapshots
from paimon_operator.core.operations.schema.provision import Provision

PROVISION: Final = Provision()
SCHEDULED: Final[tuple[Operation, ...]] = (Writes(), Compact(), ExpireSnapshots())
"""Work on a table that exists. Of work that is due since the same moment the first goes first: writes, so that their
files are compacted too; then compaction; then expiry, of what compaction leaves behind as well."""
OPERATIONS: Final[dict[RunType, Operation]] = {each.type_: each for each in (PROVISION, *SCHEDULED)}
"""All but Drop, which only a deletion starts and after which there is no status to keep."""
