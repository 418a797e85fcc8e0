"""The environment that a kubelet gives to the container of a Pod."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

CoreApi = Any
"""A CoreV1Api of the client."""


def container_environment(core: CoreApi, pod: Any, fields: Mapping[str, str]) -> dict[str, str]:
    """The variables of the Pod's one container. `fields` are the values of its fieldRefs, by path.

    Raises NotFoundException for a Secret that does not exist. A kubelet would not start the container either.
    """
    (container,) = pod.spec.containers
    found = {}
    for each in container.env:
        source = each.value_from
        if source is None:
            found[each.name] = each.value or ""
        elif source.field_ref is not None:
            found[each.name] = fields[source.field_ref.field_path]
        else:
            secret = core.read_namespaced_secret(source.secret_key_ref.name, pod.metadata.namespace)
            if (value := secret.data.get(source.secret_key_ref.key)) is not None:
                found[each.name] = base64.b64decode(value).decode()
    return found
