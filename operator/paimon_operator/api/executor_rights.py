"""The kind PaimonExecutorRights: what the executors of one run may use. The chart's admission policy reads it.

It is a kind of its own because a policy must not take its parameters from ConfigMaps. An API server stops watching a
built-in kind for good once no policy names it any more, for example after `helm uninstall`: a policy that is installed
later never sees a new ConfigMap (kubernetes/kubernetes issue 130887). It watches a kind of a CRD again.
"""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import Field

from paimon_operator.api.base import ApiModel, Json

DESCRIPTION: Final = (
    "What the executors of one run may use. The operator creates it before the driver; nobody changes it."
)
IMMUTABLE: Final[Json] = {
    "rule": "self.spec == oldSelf.spec",
    "message": "spec: the rights of a run's executors never change",
}


class PaimonExecutorRightsSpec(ApiModel):
    """The rights."""

    may_use: Annotated[tuple[Annotated[str, Field(min_length=1, max_length=1024)], ...], Field(max_length=256)]
    """What an executor's Pod may be and read: its `serviceaccount/<name>`, `image/<name>`, `deadline/<seconds>`,
    `runtimeclass/<name>`, `priorityclass/<name>`, each `label/<key>=<value>`, `annotation/<key>`, `secret/<name>`,
    `secretkey/<name>/<key>`, `configmap/<name>` and `persistentvolumeclaim/<name>`."""
