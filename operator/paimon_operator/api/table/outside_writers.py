"""What runs have found of writers other than the operator."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from paimon_operator.api.base import ApiModel, Int64
from paimon_operator.api.policies import ExternalWriters
from paimon_operator.api.run.status import CommitIdentity, OutsideCommit

CommitUser = Annotated[str, Field(max_length=128)]


class OutsideWriters(ApiModel):
    """Foreign commits that the runs have found."""

    stated: ExternalWriters
    """spec.externalWriters at the time of the check. Another value there starts the check afresh."""
    seen_snapshot: Int64 | None = None
    """Last snapshot inspected for foreign commits. Absent until a run has reported a snapshot."""
    seen_commit: CommitIdentity | None = None
    """Identity of that snapshot. A rollback by hand gives its number to another commit."""
    user_runs: Annotated[tuple[CommitUser, ...], Field(max_length=16)] = ()
    """Commit users of the last runs that users have created: `<run>-<UID>`. Their commits are not foreign."""
    commit: OutsideCommit | None = None
    """First foreign commit that the manifest does not declare."""
